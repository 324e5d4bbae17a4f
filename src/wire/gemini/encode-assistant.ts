import { type Part, REASONING_ORIGINS, type ReasoningPart, type ToolCallPart } from "../canonical/parts.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { parseArguments } from "../json/parse-json.ts";
import { encodeMedia } from "./encode-media.ts";
import type { KnownCalls } from "./encode-results.ts";
import { type Encoding, type GeminiPart, hasLevels, warn } from "./encoding.ts";
import { encodeFunctionName } from "./function-name.ts";

/**
 * What Google documents for a call without a signature, as in histories of other models (Gemini API, "Thought
 * signatures"; of the two values there it is the one that Vertex documents too).
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** A turn of the model. Its calls become known to the results that follow. */
export function encodeAssistant(
  parts: readonly Part[],
  path: string,
  calls: KnownCalls,
  encoding: Encoding,
): GeminiPart[] {
  const signatures = gatherSignatures(parts);
  const encoded: GeminiPart[] = [];
  for (const [at, part] of parts.entries()) {
    const made = encodePart(part, `${path}.content[${at}]`, signatures.get(at) ?? null, calls, encoding);
    if (made !== null) encoded.push(made);
  }
  return demandsSignature(encoding) ? signFirstCall(encoded) : encoded;
}

function encodePart(
  part: Part,
  field: string,
  thoughtSignature: string | null,
  calls: KnownCalls,
  encoding: Encoding,
): GeminiPart | null {
  const sign = (made: GeminiPart) => (thoughtSignature === null ? made : { ...made, thoughtSignature });
  switch (part.kind) {
    case "text":
    case "refusal":
      return part.text === "" && thoughtSignature === null ? null : sign({ text: part.text });
    case "reasoning":
      return part.text === "" || thoughtSignature === null ? null : sign({ text: part.text, thought: true });
    case "tool-call":
      return sign({ functionCall: encodeCall(part, field, calls, encoding) });
    case "native":
      if (part.format === "gemini") return part.value;
      warn(encoding, field, `The provider knows no ${part.type}; it is left out.`);
      return null;
    case "tool-result":
      return null;
    default:
      return sign(encodeMedia(part, field));
  }
}

function encodeCall(part: ToolCallPart, field: string, calls: KnownCalls, encoding: Encoding): Fields {
  const name = encodeFunctionName(part, field);
  calls.add(part.id, name);
  const args = readArguments(part);
  return hasLevels(encoding) ? { id: part.id, name, args } : { name, args };
}

/** Gemini takes an object. Free text, and what a model wrote that is none, travels in one. */
function readArguments(part: ToolCallPart): Fields {
  if (part.tool === "custom") return { input: part.arguments };
  if (part.arguments.trim() === "" || part.arguments.trim() === "null") return {};
  return asFields(parseArguments(part)) ?? { arguments: part.arguments };
}

/**
 * The signature of each part, by its place. One that came as a reasoning without text belongs to the part whose id
 * it names, or to the next that may have one.
 */
function gatherSignatures(parts: readonly Part[]): ReadonlyMap<number, string> {
  if (!parts.some(mayBeSigned)) return NONE;
  const signatures = new Map<number, string>();
  const callIds = new Set(parts.flatMap((part) => (part.kind === "tool-call" ? [part.id] : [])));
  let carried: ReasoningPart | null = null;
  for (const [at, part] of parts.entries()) {
    if (part.kind === "reasoning") {
      const value = readSignature(part);
      if (value !== null && part.text !== "") signatures.set(at, value);
      else if (value !== null) carried = part;
    } else if (part.kind === "text" || part.kind === "tool-call" || part.kind === "image") {
      const own = part.signature;
      const isOwn = own?.origin === REASONING_ORIGINS.gemini && BASE64.test(own.value);
      const fits: boolean = carried !== null && isMeant(carried, part, callIds);
      if (isOwn) signatures.set(at, own.value);
      else if (carried !== null && fits) signatures.set(at, readSignature(carried) as string);
      if (fits) carried = null;
    }
  }
  return signatures;
}

const NONE: ReadonlyMap<number, string> = new Map();

function mayBeSigned(part: Part): boolean {
  return part.kind === "reasoning" || ("signature" in part && part.signature !== undefined);
}

function isMeant(carried: ReasoningPart, part: Part, callIds: ReadonlySet<string>): boolean {
  const namesCall = carried.id !== null && callIds.has(carried.id);
  return !namesCall || (part.kind === "tool-call" && part.id === carried.id);
}

/** Gemini refuses a request over a signature that is not even base64. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Another vendor's means nothing here, and reasoning without a signature need not come back. */
function readSignature({ origin, signature, encrypted }: ReasoningPart): string | null {
  const value = signature ?? encrypted;
  return origin === REASONING_ORIGINS.gemini && value !== null && BASE64.test(value) ? value : null;
}

/** Gemini 3 refuses calls without a signature. Older models that are known do not look, unknown ones may be newer. */
function demandsSignature({ target }: Encoding): boolean {
  return (
    target.reasoning === null ||
    target.reasoning.budgetTokens === undefined ||
    target.reasoning.efforts !== undefined
  );
}

/** Of calls made together only the first is signed. */
function signFirstCall(parts: GeminiPart[]): GeminiPart[] {
  const at = parts.findIndex((part) => "functionCall" in part);
  const first = parts[at];
  if (first === undefined || "thoughtSignature" in first) return parts;
  return parts.with(at, { ...first, thoughtSignature: NO_SIGNATURE });
}
