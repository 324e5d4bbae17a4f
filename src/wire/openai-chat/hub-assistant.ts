import type { Part, ReasoningPart, TextPart, ToolCallPart } from "../canonical/parts.ts";
import { plainReasoning } from "../canonical/parts.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { keepExtras, keptFields, keptSpelling } from "./extras.ts";
import { proveCall, spellProofDetail } from "./hub-calls.ts";
import { joinDetails } from "./join-details.ts";
import { asText, joinThoughts } from "./reasoning.ts";
import { decodeDetail, encodeDetails, encodeProofDetail, provesCall } from "./reasoning-details.ts";

/** The reasoning of a message, and its calls with the proofs that came among the reasoning. */
export interface ReadReasoning {
  readonly parts: readonly ReasoningPart[];
  readonly calls: readonly Part[];
  /** Fields of the message that are now in the parts. */
  readonly fields: readonly string[];
}

const TEXT_FIELDS = ["reasoning_content", "reasoning"] as const;

/** Reads reasoning in all spellings. The details say most; the text beside them is theirs unless they have none. */
export function readReasoning(message: Fields, calls: readonly Part[]): ReadReasoning {
  const raw = message["reasoning_details"];
  const isReadable = Array.isArray(raw) && raw.length > 0 && raw.every((detail) => asFields(detail) !== null);
  const text = asText(message["reasoning_content"]) || asText(message["reasoning"]) || "";
  if (text === "" && !isReadable) return { parts: [], calls, fields: [] };
  const { details, proven } = sortDetails(isReadable ? (raw as Fields[]) : [], calls);
  const used = isReadable ? ["reasoning_details"] : [];
  if (text === "" && details.length === 0) return { parts: [], calls: proven, fields: used };
  const said = Object.fromEntries(
    TEXT_FIELDS.filter((field) => field in message).map((field) => [field, message[field]]),
  );
  const hasText = details.some((detail) => detail.text !== "") || text === "";
  const parts = hasText ? details : [plainReasoning(text), ...details];
  const [first, ...others] = parts as [ReasoningPart, ...ReasoningPart[]];
  const spelled = { ...first, ...keepExtras(keptFields(first), { ...keptSpelling(first), said }) };
  return { parts: [spelled, ...others], calls: proven, fields: [...used, ...TEXT_FIELDS] };
}

/** Parts proofs of tool calls from details of the reasoning. */
function sortDetails(raw: readonly Fields[], calls: readonly Part[]) {
  const details: ReasoningPart[] = [];
  const proven = [...calls];
  for (const { detail: fields, pieces, place } of joinDetails(raw)) {
    const detail = decodeDetail(fields, pieces);
    const at = proven.findIndex((call) => call.kind === "tool-call" && mayProve(detail, call));
    if (at < 0) details.push(detail);
    else proven[at] = proveCall(proven[at] as ToolCallPart, fields, detail.encrypted as string, place);
  }
  return { details, proven };
}

/** Whether a detail is the call's proof, and no other than it has already. */
function mayProve(detail: ReasoningPart, call: ToolCallPart): boolean {
  if (!provesCall(detail, call.id) || spellProofDetail(call, 0) !== null) return false;
  return call.signature === undefined || call.signature.value === detail.encrypted;
}

/**
 * Reasoning for a vendor, and the proof on the `signed` text, in the fields they came in; from another format what has a proof in `reasoning_details`,
 * and what is only text in `reasoning_content`, which more hosts know.
 */
export function encodeSentReasoning(
  parts: readonly ReasoningPart[],
  calls: readonly ToolCallPart[],
  signed: TextPart | undefined,
): Fields {
  const proven = new Set(parts.filter(hasProof).map((part) => part.id));
  const said: Record<string, unknown> = {};
  const details: Fields[] = [];
  const plain: ReasoningPart[] = [];
  for (const part of parts) {
    const spelling = keptSpelling(part);
    Object.assign(said, asFields(spelling["said"]));
    const belongs = hasProof(part) || (part.id !== null && proven.has(part.id));
    if (spelling["detail"] !== undefined || belongs) details.push(...encodeDetails(part, details.length));
    else if (spelling["said"] === undefined) plain.push(part);
  }
  const text = joinThoughts(plain);
  const extraContent = signed === undefined ? undefined : keptSpelling(signed)["extraContent"];
  const proof =
    signed === undefined || extraContent !== undefined ? null : encodeProofDetail(signed, details.length);
  if (proof !== null) details.push(proof);
  const all = insertProofs(details, calls);
  return {
    ...(text === "" ? {} : { reasoning_content: text }),
    ...said,
    ...(all.length === 0 ? {} : { reasoning_details: all }),
    ...(extraContent === undefined ? {} : { extra_content: extraContent }),
  };
}

function hasProof({ signature, encrypted }: ReasoningPart): boolean {
  return signature !== null || encrypted !== null;
}

/** The details with the proofs of calls among them, where they stood if they came in this format. */
export function insertProofs(details: readonly Fields[], calls: readonly ToolCallPart[]): Fields[] {
  const all = [...details];
  const proofs = calls
    .map((call, place) => spellProofDetail(call, details.length + place))
    .filter((proof) => proof !== null)
    .toSorted((a, b) => (a.place ?? all.length) - (b.place ?? all.length));
  for (const { detail, place } of proofs) all.splice(place ?? all.length, 0, detail);
  return all;
}
