import type { Fields } from "../../../../base/json/fields.ts";
import { REASONING_ORIGINS, type ReasoningPart } from "../../../canonical/model/parts.ts";
import {
  type CarriedReasoning,
  unwrapReasoning,
  wrapReasoning,
} from "../../../canonical/model/reasoning-envelope.ts";
import { isOwn, keptFields, makeExtras } from "./extras.ts";
import type { FieldTaker } from "./take-fields.ts";

/** Decodes a `thinking` block, the vendor's own or one that carries another vendor's signature. */
export function decodeThinking(take: FieldTaker): ReasoningPart | null {
  const text = take.text("thinking");
  if (text === null) return null;
  const signature = take.text("signature");
  const carried = signature === null ? null : unwrapReasoning(signature);
  return { kind: "reasoning", text, ...(carried ?? { ...OWN, signature }), ...makeExtras(take.rest()) };
}

/** Decodes a `redacted_thinking` block. */
export function decodeRedacted(take: FieldTaker): ReasoningPart | null {
  const data = take.text("data");
  if (data === null) return null;
  const carried = unwrapReasoning(data);
  return {
    kind: "reasoning",
    text: "",
    ...(carried ?? { ...OWN, encrypted: data }),
    ...makeExtras(take.rest()),
  };
}

const OWN: CarriedReasoning = {
  isSummary: false,
  signature: null,
  encrypted: null,
  id: null,
  origin: REASONING_ORIGINS.anthropic,
};

/** Returns whether Anthropic signed or encrypted a part. Such reasoning has fields of its own, any other an envelope. */
export function isFromAnthropic(part: ReasoningPart): boolean {
  return part.origin === REASONING_ORIGINS.anthropic;
}

/** Encodes reasoning for an upstream. Null for reasoning of other vendors, which it would reject. */
export function encodeOwnReasoning(part: ReasoningPart): Fields | null {
  if (!isFromAnthropic(part)) return null;
  if (part.encrypted !== null) return encodeRedacted(part, part.encrypted);
  if (part.signature === null && !isOwn(part)) return null;
  return encodeThinking(part, part.signature);
}

/** Encodes reasoning for a client, which sends it back later; null if it is empty. */
export function encodeReasoning(part: ReasoningPart): Fields | null {
  if (isFromAnthropic(part)) {
    if (part.encrypted !== null) return encodeRedacted(part, part.encrypted);
    return encodeThinking(part, part.signature ?? (isOwn(part) ? null : ""));
  }
  if (part.text !== "") return encodeThinking(part, wrapReasoning(part));
  return isSignedOrEncrypted(part) ? encodeRedacted(part, wrapReasoning(part)) : null;
}

/** Returns whether the vendor needs a part back unchanged. */
export function isSignedOrEncrypted(part: ReasoningPart): boolean {
  return part.signature !== null || part.encrypted !== null;
}

function encodeThinking(part: ReasoningPart, signature: string | null): Fields {
  return {
    type: "thinking",
    thinking: part.text,
    ...(signature === null ? {} : { signature }),
    ...keptFields(part),
  };
}

function encodeRedacted(part: ReasoningPart, data: string): Fields {
  return { type: "redacted_thinking", data, ...keptFields(part) };
}
