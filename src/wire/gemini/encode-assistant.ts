import { asFields, type Fields } from "../../base/json/fields.ts";
import { parseArguments } from "../../base/json/parse-json.ts";
import type { Part, ToolCallPart } from "../canonical/model/parts.ts";
import { encodeMedia } from "./encode-media.ts";
import { type GeminiEncoding, type GeminiPart, hasLevels, warn } from "./encoding.ts";
import { encodeFunctionName } from "./function-name.ts";
import { assignSignatures } from "./thought-signatures.ts";

/**
 * The signature that Google documents for calls without one, as in the histories of other models (Gemini API, "Thought
 * signatures"). Of the two documented values Vertex AI documents only this one.
 */
const NO_SIGNATURE = "skip_thought_signature_validator";

/** Encodes a turn of the model and adds its calls to `encoding.calls`. `path` names the message in warnings. */
export function encodeAssistant(
  parts: readonly Part[],
  path: string,
  encoding: GeminiEncoding,
): GeminiPart[] {
  const signatures = assignSignatures(parts);
  const encoded: GeminiPart[] = [];
  for (const [index, part] of parts.entries()) {
    const thoughtSignature = signatures.get(index);
    if (isOmitted(part, thoughtSignature !== undefined)) continue;
    const made = encodePart(part, `${path}.content[${index}]`, encoding);
    const canSign = thoughtSignature !== undefined && part.kind !== "native";
    if (made !== null) encoded.push(canSign ? { ...made, thoughtSignature } : made);
  }
  return demandsSignature(encoding) ? signFirstCall(encoded) : encoded;
}

/** Empty texts carry nothing but a signature; reasoning is sent back only with one. */
function isOmitted(part: Part, isSigned: boolean): boolean {
  if (part.kind === "reasoning") return part.text === "" || !isSigned;
  return (part.kind === "text" || part.kind === "refusal") && part.text === "" && !isSigned;
}

function encodePart(part: Part, field: string, encoding: GeminiEncoding): GeminiPart | null {
  switch (part.kind) {
    case "text":
    case "refusal":
      return { text: part.text };
    case "reasoning":
      return { text: part.text, thought: true };
    case "tool-call":
      return { functionCall: encodeCall(part, field, encoding) };
    case "native":
      if (part.format === "gemini") return part.value;
      warn(encoding, field, `The provider does not know ${part.type}; it is left out.`);
      return null;
    case "tool-result":
      return null;
    default:
      return encodeMedia(part, field);
  }
}

function encodeCall(part: ToolCallPart, field: string, encoding: GeminiEncoding): Fields {
  const name = encodeFunctionName(part, field);
  encoding.calls.add(part.id, name);
  const args = readArguments(part);
  return hasLevels(encoding) ? { id: part.id, name, args } : { name, args };
}

/**
 * Returns the arguments as the object that Gemini demands. Free text, and arguments that are not a JSON object, are wrapped in
 * one.
 */
function readArguments(part: ToolCallPart): unknown {
  if (part.tool === "custom") return { input: part.arguments };
  if (part.arguments.trim() === "" || part.arguments.trim() === "null") return {};
  return asFields(parseArguments(part)) ?? { arguments: part.arguments };
}

/** Gemini 3 rejects calls without a signature and older models ignore it. An unknown model may be a newer one. */
function demandsSignature({ target }: GeminiEncoding): boolean {
  return (
    target.reasoning === null ||
    target.reasoning.budgetTokens === undefined ||
    target.reasoning.efforts !== undefined
  );
}

/** Parallel calls carry one signature, on the first of them. */
function signFirstCall(parts: GeminiPart[]): GeminiPart[] {
  const at = parts.findIndex((part) => "functionCall" in part);
  const first = parts[at];
  if (first === undefined || "thoughtSignature" in first) return parts;
  return parts.with(at, { ...first, thoughtSignature: NO_SIGNATURE });
}
