import { type Part, REASONING_ORIGINS, type ReasoningPart, type Signature } from "../../canonical/parts.ts";
import { type CarriedReasoning, unwrapReasoning, wrapReasoning } from "../../canonical/reasoning-envelope.ts";
import type { Fields } from "../../json/fields.ts";
import { isOwn, keptFields, makeExtras } from "./extras.ts";
import type { FieldTaker } from "./take-fields.ts";

/** Reads a `thinking` block, the vendor's own or one in which another vendor's proof travels. */
export function decodeThinking(take: FieldTaker): ReasoningPart | null {
  const text = take.text("thinking");
  if (text === null) return null;
  const signature = take.text("signature");
  const carried = signature === null ? null : unwrapReasoning(signature);
  return { kind: "reasoning", text, ...(carried ?? { ...OWN, signature }), ...makeExtras(take.rest()) };
}

/** Reads a `redacted_thinking` block. */
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

/** Whether Anthropic signed or encrypted it: then it goes in its own fields, else wrapped. */
export function isAnthropics(part: ReasoningPart): boolean {
  return part.origin === REASONING_ORIGINS.anthropic;
}

/** Reasoning for an upstream: what it made itself. All else it would refuse, so it is left out: null. */
export function encodeOwnReasoning(part: ReasoningPart): Fields | null {
  if (!isAnthropics(part)) return null;
  if (part.encrypted !== null) return encodeRedacted(part, part.encrypted);
  if (part.signature === null && !isOwn(part)) return null;
  return encodeThinking(part, part.signature);
}

/** Reasoning for a client, who is to send it back; null where there is nothing in it. */
export function encodeReasoning(part: ReasoningPart): Fields | null {
  if (isAnthropics(part)) {
    if (part.encrypted !== null) return encodeRedacted(part, part.encrypted);
    return encodeThinking(part, part.signature ?? (isOwn(part) ? null : ""));
  }
  if (part.text !== "") return encodeThinking(part, wrapReasoning(part));
  return hasProof(part) ? encodeRedacted(part, wrapReasoning(part)) : null;
}

/** Whether its vendor will want something of it back. */
export function hasProof(part: ReasoningPart): boolean {
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
 * A proof on a text, image or tool call, which has no field for it here, travels in a `redacted_thinking` block beside it.
 * The id in the envelope says whose it is: a call's id, or the next text or image.
 */
export function encodeProof(target: ProofTarget, signature: Signature): Fields {
  const id = target.kind === "call" ? `${CALL}${target.id}` : NEXT[target.kind];
  const { value, origin } = signature;
  return {
    type: "redacted_thinking",
    data: wrapReasoning({ signature: value, encrypted: null, id, origin, isSummary: false }),
  };
}

export type ProofTarget =
  | { readonly kind: "call"; readonly id: string }
  | { readonly kind: "text" | "image" };

const CALL = "proof:call:";
/** What a proof belongs to that stands before it: the next part of that kind. */
const NEXT = { text: "proof:next-text", image: "proof:next-image" } as const;

/** A message's parts with the proofs that travelled beside them put back where they belong. A proof without its part is dropped. */
export function foldProofs(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(isProof)) return parts;
  const folded: (Part | null)[] = [...parts];
  const calls = indexCalls(parts);
  const proven = new Set<number>();
  /** By the id of a proof that stands before its part. */
  const next = new Map<string, number>();
  // From the end, so that the text or image next to a proof is the last one met. Of several proofs of one part the last
  // counts.
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at] as Part;
    if (part.kind === "text" || part.kind === "image") next.set(NEXT[part.kind], at);
    if (!isProof(part)) continue;
    folded[at] = null;
    const target = next.get(part.id) ?? calls.get(part.id) ?? -1;
    const found = proven.has(target) ? undefined : folded[target];
    proven.add(target);
    if (found?.kind === "text" || found?.kind === "tool-call" || found?.kind === "image") {
      folded[target] = { ...found, signature: { value: part.signature, origin: part.origin } };
    }
  }
  return folded.filter((part) => part !== null);
}

type Proof = ReasoningPart & { readonly id: string; readonly signature: string; readonly origin: string };

function isProof(part: Part): part is Proof {
  return (
    part.kind === "reasoning" &&
    part.signature !== null &&
    part.origin !== null &&
    part.id?.startsWith("proof:") === true
  );
}

/** The first call of each id, by the id of its proof. */
function indexCalls(parts: readonly Part[]): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  for (const [at, part] of parts.entries()) {
    if (part.kind === "tool-call" && !calls.has(CALL + part.id)) calls.set(CALL + part.id, at);
  }
  return calls;
}
