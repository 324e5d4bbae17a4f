import { BOUNDS } from "../../base/bounds.ts";
import { findSyntaxError } from "./find-syntax-error.ts";
import { rejectExcess } from "./reject-excess.ts";
import { JsonBoundError, JsonSyntaxError, LEAF, scanJson } from "./scan.ts";

/** A shorter text cannot be nested too deep: each level has a bracket at both ends. */
const MAY_BE_DEEP_CHARS = 2 * BOUNDS.jsonDepth;

/**
 * Parses JSON that is nested at most `BOUNDS.jsonDepth` levels deep. What is deeper overflows the stack of whatever walks
 * it, the runtime's own printer among them.
 * @throws SyntaxError, JsonSyntaxError, JsonBoundError.
 */
export function parseJson(text: string): unknown {
  if (text.length > MAY_BE_DEEP_CHARS) scanJson(text, LEAF);
  return JSON.parse(text);
}

/**
 * Parses the arguments of a tool call, which models write; undefined where they are not JSON.
 * @throws GatewayError `invalid_request` where they are nested too deep.
 */
export function parseArguments({
  id,
  arguments: text,
}: {
  readonly id: string;
  readonly arguments: string;
}): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonBoundError) return refuseDeepArguments(id, error);
    return undefined;
  }
}

function refuseDeepArguments(id: string, { bound, position }: JsonBoundError): never {
  return rejectExcess({
    field: `tool call ${JSON.stringify(id.slice(0, SHOWN_ID_CHARS))}`,
    found: `arguments with more than ${bound} levels of nesting (at character ${position})`,
    bound,
    remedy: "Flatten or leave out the call.",
  });
}

const SHOWN_ID_CHARS = 100;

/**
 * Parses a body's text, or one made of it. The runtime's parser says which token it did not expect, and not where; so an
 * error names the byte in `latin1`, the body's bytes read as Latin-1.
 * @throws JsonSyntaxError.
 */
export function parseBodyText(text: string, latin1: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw findSyntaxError(latin1) ?? new JsonSyntaxError("a value that cannot be read", 0);
  }
}
