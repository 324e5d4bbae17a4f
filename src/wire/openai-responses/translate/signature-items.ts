import type { Part, ReasoningPart, Signature } from "../../canonical/parts.ts";
import { wrapReasoning } from "../../canonical/reasoning-envelope.ts";

/*
 * A vendor's proof on a text, an image or a call has no field here. It travels as a reasoning item beside its part, which clients
 * send back unchanged: the envelope's id says which part it belongs to.
 */

const CALL = "proof:call:";
const TEXT_BEHIND = "proof:text-behind";
const TEXT_BEFORE = "proof:text-before";
const IMAGE_BEHIND = "proof:image-behind";

/** Where a text's proof stands: calls have ids, texts only neighbours. Images come whole, so theirs stands ahead. */
export type ProofPlace = "ahead" | "behind";

/** The reasoning item that carries a part's proof, but for its id. */
export function encodeProof(part: Part, proof: Signature, place: ProofPlace): Record<string, unknown> {
  const textMark = place === "ahead" ? TEXT_BEHIND : TEXT_BEFORE;
  const mark = part.kind === "image" ? IMAGE_BEHIND : textMark;
  const id = part.kind === "tool-call" ? CALL + part.id : mark;
  const { value, origin } = proof;
  const encrypted = wrapReasoning({ signature: value, encrypted: null, id, origin, isSummary: false });
  return { type: "reasoning", summary: [], encrypted_content: encrypted };
}

/** Gives proofs back to the parts of a turn that they belong to; one whose part is gone is dropped. */
export function attachProofs(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(isProof)) return parts;
  const kept: Kept = { parts: [], places: new Map() };
  const waiting = new Map<string, Signature>();
  for (const part of parts) {
    if (isProof(part)) placeProof(part, kept, waiting);
    else keep(kept, takeProof(part, waiting));
  }
  return kept.parts;
}

/** The parts so far, and where the last text and the last call of each id stand, by the proofs that would be theirs. */
interface Kept {
  readonly parts: Part[];
  readonly places: Map<string, number>;
}

function keep({ parts, places }: Kept, part: Part): void {
  if (part.kind === "text") places.set(TEXT_BEFORE, parts.length);
  else if (part.kind === "tool-call") places.set(CALL + part.id, parts.length);
  parts.push(part);
}

type Proof = ReasoningPart & { readonly id: string; readonly origin: string; readonly signature: string };

function isProof(part: Part): part is Proof {
  return part.kind === "reasoning" && part.id?.startsWith("proof:") === true && part.signature !== null;
}

function placeProof(part: Proof, { parts, places }: Kept, waiting: Map<string, Signature>): void {
  const proof = { value: part.signature, origin: part.origin };
  const at = places.get(part.id) ?? -1;
  const found = parts[at];
  if (found?.kind === "text" || found?.kind === "tool-call") parts[at] = { ...found, signature: proof };
  else waiting.set(part.id, proof);
}

function takeProof(part: Part, waiting: Map<string, Signature>): Part {
  const key = keyOf(part);
  if (key === null) return part;
  const signature = waiting.get(key);
  if (signature === undefined) return part;
  waiting.delete(key);
  return { ...part, signature } as Part;
}

function keyOf(part: Part): string | null {
  if (part.kind === "text") return TEXT_BEHIND;
  if (part.kind === "image") return IMAGE_BEHIND;
  return part.kind === "tool-call" ? CALL + part.id : null;
}
