import type { Part, ReasoningPart, Signature } from "../../canonical/parts.ts";
import { wrapReasoning } from "../../canonical/reasoning-envelope.ts";

/*
 * A signature of a text, an image or a call has no field in this format. It travels as a reasoning item next to its part, which
 * clients send back unchanged; the envelope's id names the part.
 */

const CALL = "proof:call:";
const TEXT_BEHIND = "proof:text-behind";
const TEXT_BEFORE = "proof:text-before";
const IMAGE_BEHIND = "proof:image-behind";

/**
 * On which side of its text a signature is: calls have ids, texts only neighbours. Images come whole, so theirs comes before
 * them.
 */
export type SignatureSide = "ahead" | "behind";

/** Encodes the reasoning item that carries a part's signature, without its id. */
export function encodeSignature(
  part: Part,
  signature: Signature,
  side: SignatureSide,
): Record<string, unknown> {
  const textMark = side === "ahead" ? TEXT_BEHIND : TEXT_BEFORE;
  const mark = part.kind === "image" ? IMAGE_BEHIND : textMark;
  const id = part.kind === "tool-call" ? CALL + part.id : mark;
  const { value, origin } = signature;
  const encrypted = wrapReasoning({ signature: value, encrypted: null, id, origin, isSummary: false });
  return { type: "reasoning", summary: [], encrypted_content: encrypted };
}

/** Attaches signatures to the parts of a turn that they belong to. A signature without its part is dropped. */
export function attachSignatures(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(isCarrier)) return parts;
  const kept: Kept = { parts: [], indexes: new Map() };
  const waiting = new Map<string, Signature>();
  for (const part of parts) {
    if (isCarrier(part)) placeSignature(part, kept, waiting);
    else keep(kept, takeSignature(part, waiting));
  }
  return kept.parts;
}

/** The parts so far, and the indexes of the last text and of the last call of each id, by the ids of their signatures. */
interface Kept {
  readonly parts: Part[];
  readonly indexes: Map<string, number>;
}

function keep({ parts, indexes }: Kept, part: Part): void {
  if (part.kind === "text") indexes.set(TEXT_BEFORE, parts.length);
  else if (part.kind === "tool-call") indexes.set(CALL + part.id, parts.length);
  parts.push(part);
}

type SignatureCarrier = ReasoningPart & {
  readonly id: string;
  readonly origin: string;
  readonly signature: string;
};

function isCarrier(part: Part): part is SignatureCarrier {
  return part.kind === "reasoning" && part.id?.startsWith("proof:") === true && part.signature !== null;
}

function placeSignature(
  part: SignatureCarrier,
  { parts, indexes }: Kept,
  waiting: Map<string, Signature>,
): void {
  const signature = { value: part.signature, origin: part.origin };
  const at = indexes.get(part.id) ?? -1;
  const found = parts[at];
  if (found?.kind === "text" || found?.kind === "tool-call") parts[at] = { ...found, signature };
  else waiting.set(part.id, signature);
}

function takeSignature(part: Part, waiting: Map<string, Signature>): Part {
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
