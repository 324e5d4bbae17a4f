import { BOUNDS } from "../numbers/bounds.ts";
import { parseArgumentsExactly, parseWithCalls } from "./exact-numbers.ts";
import { findSyntaxError } from "./find-syntax-error.ts";
import { rejectExcess } from "./reject-excess.ts";
import { encodeLatin1, JsonBoundError, JsonSyntaxError, LEAF, scanCounting, scanJson } from "./scan.ts";

/** A shorter text cannot be nested too deep, because each level has two brackets. */
const MAY_BE_DEEP_CHARS = 2 * BOUNDS.jsonDepth;

/** Returns whether a text has enough opening brackets to be nested too deep. Searches for brackets, because usual texts have few. */
export function mayBeDeep(text: string): boolean {
  if (text.length <= MAY_BE_DEEP_CHARS) return false;
  let left = BOUNDS.jsonDepth;
  for (const bracket of OPENING)
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1))
      if (--left < 0) return true;
  return false;
}

const OPENING = ["{", "["] as const;

/**
 * Parses JSON that is nested at most `BOUNDS.jsonDepth` levels deep. A deeper value would overflow the stack of recursive
 * functions, including `JSON.stringify`. Numbers in the arguments of calls keep their digits, see `parseWithCalls`.
 * @throws SyntaxError, JsonSyntaxError, JsonBoundError.
 */
export function parseJson(text: string): unknown {
  rejectDepth(text);
  return parseWithCalls(text);
}

function rejectDepth(text: string): void {
  if (mayBeDeep(text)) scanJson(text, LEAF);
}

/**
 * Parses the arguments of a tool call, which are forwarded and not read. Returns undefined if they are not JSON, as models write now and
 * then.
 * @throws GatewayError `invalid_request` if they are nested too deep.
 */
export function parseArguments({
  id,
  arguments: text,
}: {
  readonly id: string;
  readonly arguments: string;
}): unknown {
  try {
    return parseInput(text);
  } catch (error) {
    if (error instanceof JsonBoundError) return rejectDeepArguments(id, error);
    return undefined;
  }
}

/**
 * Parses the input of a call, with the exact numbers of `parseArgumentsExactly`.
 * @throws as `parseJson`.
 */
export function parseInput(text: string): unknown {
  rejectDepth(text);
  return parseArgumentsExactly(text);
}

function rejectDeepArguments(id: string, { bound, position }: JsonBoundError): never {
  return rejectExcess({
    field: `tool call ${JSON.stringify(id.slice(0, SHOWN_ID_CHARS))}`,
    found: `arguments with more than ${bound} levels of nesting (at character ${position})`,
    bound,
    remedy: "Flatten or leave out the call.",
  });
}

const SHOWN_ID_CHARS = 100;

/**
 * Parses JSON of a request outside its body, such as a field of a form. The bounds of bodies apply, and no object may have a member twice.
 * @throws JsonSyntaxError, JsonBoundError.
 */
export function parseField(text: string): unknown {
  const latin1 = encodeLatin1(text);
  scanCounting(latin1, LEAF, BOUNDS.jsonValues);
  return parseBodyText(text, latin1);
}

/**
 * Parses the text of a body, or a text derived from it. Errors name the position in `latin1`, the body's bytes as Latin-1, because the
 * runtime's parser does not report positions. Numbers are parsed as by `parseJson`.
 * @throws JsonSyntaxError.
 */
export function parseBodyText(text: string, latin1: string): unknown {
  try {
    return parseWithCalls(text);
  } catch {
    throw findSyntaxError(latin1) ?? new JsonSyntaxError("a value that cannot be read", 0);
  }
}
