import { type Part, REASONING_ORIGINS, type ReasoningPart, type Signature } from "../../canonical/parts.ts";
import { asFields, asText, type Fields } from "../../json/fields.ts";
import { keepExtras, keptSpelling } from "./extras.ts";

/** What `format` says where nobody knows whose reasoning it is. */
const NOBODY = "unknown";

/** Reads an entry of `reasoning_details`, of a message or a delta. `pieces` are the entries it was joined of. */
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

/** A part as entries of `reasoning_details`, the first of them at `index`: as it came, where it came in this format. */
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

/** Whether a detail proves the tool call of this id, as Gemini's thought signatures come in `reasoning_details`. */
export function provesCall(part: ReasoningPart, callId: string): boolean {
  return (
    part.encrypted !== null &&
    part.origin === REASONING_ORIGINS.gemini &&
    part.id !== null &&
    part.id === callId
  );
}

/** What may bear a proof: a tool call, a text, an image. */
interface Proven {
  readonly kind: Part["kind"];
  readonly id?: string;
  readonly signature?: Signature;
}

/** A part's proof as a detail, which names a call by its id; null where it has none that goes there. */
export function encodeProofDetail({ kind, id, signature }: Proven, index: number): Fields | null {
  if (signature?.origin !== REASONING_ORIGINS.gemini) return null;
  const named = kind === "tool-call" ? { id } : {};
  return { type: "reasoning.encrypted", data: signature.value, ...named, format: signature.origin, index };
}

/** The thought signature in Google's own spelling, `extra_content`; null where there is none. */
export function readThoughtSignature(extraContent: unknown): string | null {
  return asText(asFields(asFields(extraContent)?.["google"])?.["thought_signature"]);
}

/** A part's proof in Google's own spelling; null where it has none that goes there. */
export function encodeExtraContent({ signature }: Proven): Fields | null {
  if (signature?.origin !== REASONING_ORIGINS.gemini) return null;
  return { google: { thought_signature: signature.value } };
}

/** A part's proof as a member to spread: `extra_content`, or nothing. */
export function spreadExtraContent(part: Proven): Fields {
  const extra = encodeExtraContent(part);
  return extra === null ? {} : { extra_content: extra };
}

/** The thought signature in `extra_content` as a part's proof, as a member to spread. */
export function readProof(extraContent: unknown): { readonly signature?: Signature } {
  const value = readThoughtSignature(extraContent);
  return value === null ? {} : { signature: { value, origin: REASONING_ORIGINS.gemini } };
}
