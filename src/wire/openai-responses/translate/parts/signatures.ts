import type { Part, ReasoningPart, Signature } from "../../../canonical/model/parts.ts";
import { wrapReasoning } from "../../../canonical/model/reasoning-envelope.ts";

/*
 * A signature of a text, an image or a call has no field in this format. It travels as a reasoning item next to its part, which
 * clients send back unchanged; the envelope's id names the part.
 */

const CALL = "proof:call:";
const NEXT_TEXT = "proof:text-behind";
const PREVIOUS_TEXT = "proof:text-before";
const NEXT_IMAGE = "proof:image-behind";

/**
 * Whether a signature precedes or follows its text: calls have ids, texts only neighbours. Images come whole, so their signature
 * precedes them.
 */
export type SignatureSide = "before" | "after";

/** Encodes the reasoning item that carries a part's signature, without its id. */
export function encodeSignature(
  part: Part,
  signature: Signature,
  side: SignatureSide,
): Record<string, unknown> {
  const textMark = side === "before" ? NEXT_TEXT : PREVIOUS_TEXT;
  const mark = part.kind === "image" ? NEXT_IMAGE : textMark;
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
  if (part.kind === "text") indexes.set(PREVIOUS_TEXT, parts.length);
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
  if (part.kind === "text") return NEXT_TEXT;
  if (part.kind === "image") return NEXT_IMAGE;
  return part.kind === "tool-call" ? CALL + part.id : null;
}
