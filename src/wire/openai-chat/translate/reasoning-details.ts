import { type Part, REASONING_ORIGINS, type ReasoningPart, type Signature } from "../../canonical/parts.ts";
import { asFields, asText, type Fields } from "../../json/fields.ts";
import { keepExtras, keptSpelling } from "./extras.ts";

/** The `format` of reasoning whose origin is unknown. */
const NOBODY = "unknown";

/** Decodes an entry of `reasoning_details` of a message or delta. `pieces` are the entries it was joined from. */
export function decodeDetail(raw: Fields, pieces: readonly Fields[] = [raw]): ReasoningPart {
  const type = asText(raw["type"]);
  const format = asText(raw["format"]);
  return {
    kind: "reasoning",
    text: asText(raw["text"]) ?? asText(raw["summary"]) ?? "",
    isSummary: type === "reasoning.summary",
    signature: asText(raw["signature"]),
    encrypted: asText(raw["data"]),
    id: asText(raw["id"]),
    origin: format === NOBODY ? null : format,
    ...keepExtras({}, { detail: raw, ...(pieces.length > 1 ? { pieces } : {}) }),
  };
}

/**
 * Encodes a part as entries of `reasoning_details`, the first at `index`. A part that came in this format is returned as it came.
 */
export function encodeDetails(part: ReasoningPart, index: number): Fields[] {
  const { detail, pieces } = keptSpelling(part);
  const raw = asFields(detail);
  if (raw !== null && isSame(decodeDetail(raw), part)) return Array.isArray(pieces) ? pieces : [raw];
  const { text, signature, encrypted } = part;
  const details: Fields[] = [];
  if (text !== "" || signature !== null || encrypted === null) {
    details.push({ ...describeText(part), ...common(part, index) });
  }
  if (encrypted !== null) {
    details.push({ type: "reasoning.encrypted", data: encrypted, ...common(part, index + details.length) });
  }
  return details;
}

function describeText({ isSummary, text, signature }: ReasoningPart): Fields {
  const said = isSummary ? { type: "reasoning.summary", summary: text } : { type: "reasoning.text", text };
  return signature === null ? said : { ...said, signature };
}

function common({ id, origin }: ReasoningPart, index: number): Fields {
  return { ...(id === null ? {} : { id }), format: origin ?? NOBODY, index };
}

function isSame(a: ReasoningPart, b: ReasoningPart): boolean {
  return (
    a.text === b.text &&
    a.isSummary === b.isSummary &&
    a.signature === b.signature &&
    a.encrypted === b.encrypted &&
    a.id === b.id &&
    a.origin === b.origin
  );
}

/** Whether a detail holds the thought signature of this tool call, as Gemini's come in `reasoning_details`. */
export function provesCall(part: ReasoningPart, callId: string): boolean {
  return (
    part.encrypted !== null &&
    part.origin === REASONING_ORIGINS.gemini &&
    part.id !== null &&
    part.id === callId
  );
}

/** A part that may have a thought signature: a tool call, a text or an image. */
interface Proven {
  readonly kind: Part["kind"];
  readonly id?: string;
  readonly signature?: Signature;
}

/** Encodes a part's thought signature as a detail, with the id of a call; null where it has none that belongs there. */
export function encodeProofDetail({ kind, id, signature }: Proven, index: number): Fields | null {
  if (signature?.origin !== REASONING_ORIGINS.gemini) return null;
  const named = kind === "tool-call" ? { id } : {};
  return { type: "reasoning.encrypted", data: signature.value, ...named, format: signature.origin, index };
}

/** Returns the thought signature in `extra_content`, which is Google's own spelling; null where there is none. */
export function readThoughtSignature(extraContent: unknown): string | null {
  return asText(asFields(asFields(extraContent)?.["google"])?.["thought_signature"]);
}

/** Encodes a part's thought signature in Google's own spelling; null where it has none that belongs there. */
export function encodeExtraContent({ signature }: Proven): Fields | null {
  if (signature?.origin !== REASONING_ORIGINS.gemini) return null;
  return { google: { thought_signature: signature.value } };
}

/** Encodes a part's thought signature as `extra_content`, a member to spread; empty where it has none. */
export function spreadExtraContent(part: Proven): Fields {
  const extra = encodeExtraContent(part);
  return extra === null ? {} : { extra_content: extra };
}

/** Decodes the thought signature in `extra_content` as the `signature` of a part, a member to spread. */
export function readProof(extraContent: unknown): { readonly signature?: Signature } {
  const value = readThoughtSignature(extraContent);
  return value === null ? {} : { signature: { value, origin: REASONING_ORIGINS.gemini } };
}
