import { asFields, asText, type Fields } from "../../../../base/json/fields.ts";
import {
  type Part,
  REASONING_ORIGINS,
  type ReasoningPart,
  type Signature,
} from "../../../canonical/model/parts.ts";

/*
 * Gemini's thought signatures of calls, texts and images. Clients of this format know two spellings: an encrypted entry of
 * `reasoning_details`, and Google's own `extra_content`.
 */

/** A part that may have a thought signature: a tool call, a text or an image. */
export interface SignedPart {
  readonly kind: Part["kind"];
  readonly id?: string;
  readonly signature?: Signature;
}

/** Returns whether a detail is the thought signature of this tool call. */
export function signsCall(part: ReasoningPart, callId: string): boolean {
  return (
    part.encrypted !== null &&
    part.origin === REASONING_ORIGINS.gemini &&
    part.id !== null &&
    part.id === callId
  );
}

/** Encodes a part's thought signature as a detail, with the id of a call; null if it has none that belongs there. */
export function encodeSignatureDetail({ kind, id, signature }: SignedPart, index: number): Fields | null {
  if (signature?.origin !== REASONING_ORIGINS.gemini) return null;
  const named = kind === "tool-call" ? { id } : {};
  return { type: "reasoning.encrypted", data: signature.value, ...named, format: signature.origin, index };
}

/** Returns the thought signature in `extra_content`; null if there is none. */
export function readExtraContent(extraContent: unknown): string | null {
  return asText(asFields(asFields(extraContent)?.["google"])?.["thought_signature"]);
}

/** Encodes a part's thought signature as `extra_content`; null if it has none that belongs there. */
export function encodeExtraContent({ signature }: SignedPart): Fields | null {
  if (signature?.origin !== REASONING_ORIGINS.gemini) return null;
  return { google: { thought_signature: signature.value } };
}

/** Encodes a part's thought signature as `extra_content`, a member to spread; no member where it has none. */
export function spreadExtraContent(part: SignedPart): Fields {
  const extra = encodeExtraContent(part);
  return extra === null ? {} : { extra_content: extra };
}

/** Decodes the thought signature in `extra_content` as the `signature` of a part, a member to spread. */
export function decodeExtraContent(extraContent: unknown): { readonly signature?: Signature } {
  const value = readExtraContent(extraContent);
  return value === null ? {} : { signature: { value, origin: REASONING_ORIGINS.gemini } };
}
