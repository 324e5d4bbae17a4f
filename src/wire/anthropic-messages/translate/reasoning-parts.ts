import { type Part, REASONING_ORIGINS, type ReasoningPart, type Signature } from "../../canonical/parts.ts";
import { type CarriedReasoning, unwrapReasoning, wrapReasoning } from "../../canonical/reasoning-envelope.ts";
import type { Fields } from "../../json/fields.ts";
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

/** Returns whether Anthropic signed or encrypted it. Such reasoning goes in its own fields, any other in an envelope. */
export function isAnthropics(part: ReasoningPart): boolean {
  return part.origin === REASONING_ORIGINS.anthropic;
}

/** Encodes reasoning for an upstream. Null for reasoning of other vendors, which it would reject. */
export function encodeOwnReasoning(part: ReasoningPart): Fields | null {
  if (!isAnthropics(part)) return null;
  if (part.encrypted !== null) return encodeRedacted(part, part.encrypted);
  if (part.signature === null && !isOwn(part)) return null;
  return encodeThinking(part, part.signature);
}

/** Encodes reasoning for a client, which sends it back later; null if it is empty. */
export function encodeReasoning(part: ReasoningPart): Fields | null {
  if (isAnthropics(part)) {
    if (part.encrypted !== null) return encodeRedacted(part, part.encrypted);
    return encodeThinking(part, part.signature ?? (isOwn(part) ? null : ""));
  }
  if (part.text !== "") return encodeThinking(part, wrapReasoning(part));
  return isSignedOrEncrypted(part) ? encodeRedacted(part, wrapReasoning(part)) : null;
}

/** Returns whether its vendor wants something of it back. */
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

/**
 * Encodes the signature of a text, image or tool call, which has no field for it here, as a `redacted_thinking` block next to it.
 * The id in the envelope names the part: the id of a call, or the next text or image.
 */
export function encodeSignature(target: SignatureTarget, signature: Signature): Fields {
  const id = target.kind === "call" ? `${CALL}${target.id}` : NEXT[target.kind];
  const { value, origin } = signature;
  return {
    type: "redacted_thinking",
    data: wrapReasoning({ signature: value, encrypted: null, id, origin, isSummary: false }),
  };
}

export type SignatureTarget =
  | { readonly kind: "call"; readonly id: string }
  | { readonly kind: "text" | "image" };

const CALL = "proof:call:";
/** The ids of signatures that stand before their part: the next part of that kind. */
const NEXT = { text: "proof:next-text", image: "proof:next-image" } as const;

/** Attaches the signatures that came next to a message's parts to those parts. A signature without its part is dropped. */
export function attachSignatures(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(isCarrier)) return parts;
  const attached: (Part | null)[] = [...parts];
  const calls = indexCalls(parts);
  const signed = new Set<number>();
  /** Part indexes by the id of a signature that stands before its part. */
  const next = new Map<string, number>();
  // Goes backwards, so that the text or image after a signature is the last one seen. The last of several signatures of a part
  // counts.
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at] as Part;
    if (part.kind === "text" || part.kind === "image") next.set(NEXT[part.kind], at);
    if (!isCarrier(part)) continue;
    attached[at] = null;
    const target = next.get(part.id) ?? calls.get(part.id) ?? -1;
    const found = signed.has(target) ? undefined : attached[target];
    signed.add(target);
    if (found?.kind === "text" || found?.kind === "tool-call" || found?.kind === "image") {
      attached[target] = { ...found, signature: { value: part.signature, origin: part.origin } };
    }
  }
  return attached.filter((part) => part !== null);
}

type SignatureCarrier = ReasoningPart & {
  readonly id: string;
  readonly signature: string;
  readonly origin: string;
};

function isCarrier(part: Part): part is SignatureCarrier {
  return (
    part.kind === "reasoning" &&
    part.signature !== null &&
    part.origin !== null &&
    part.id?.startsWith("proof:") === true
  );
}

/** Indexes the first call of each id by the id of its signature. */
function indexCalls(parts: readonly Part[]): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  for (const [at, part] of parts.entries()) {
    if (part.kind === "tool-call" && !calls.has(CALL + part.id)) calls.set(CALL + part.id, at);
  }
  return calls;
}
