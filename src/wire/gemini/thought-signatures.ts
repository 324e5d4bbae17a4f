import { type Part, REASONING_ORIGINS, type ReasoningPart } from "../canonical/model/parts.ts";

/**
 * Returns the thought signature of each part of a turn, by the part's index. A signature that came as reasoning without text
 * belongs to the call whose id it names, or else to the next part that can carry one.
 */
export function assignSignatures(parts: readonly Part[]): ReadonlyMap<number, string> {
  if (!parts.some(mayBeSigned)) return NONE;
  const signatures = new Map<number, string>();
  const callIds = new Set(parts.flatMap((part) => (part.kind === "tool-call" ? [part.id] : [])));
  let pending: ReasoningPart | null = null;
  for (const [index, part] of parts.entries()) {
    if (part.kind === "reasoning") {
      const value = readSignature(part);
      if (value !== null && part.text !== "") signatures.set(index, value);
      else if (value !== null) pending = part;
    } else if (part.kind === "text" || part.kind === "tool-call" || part.kind === "image") {
      const fits: boolean = pending !== null && isFor(pending, part, callIds);
      const value = readOwnSignature(part) ?? (pending !== null && fits ? readSignature(pending) : null);
      if (value !== null) signatures.set(index, value);
      if (fits) pending = null;
    }
  }
  return signatures;
}

const NONE: ReadonlyMap<number, string> = new Map();

function mayBeSigned(part: Part): boolean {
  return part.kind === "reasoning" || ("signature" in part && part.signature !== undefined);
}

function isFor(pending: ReasoningPart, part: Part, callIds: ReadonlySet<string>): boolean {
  const namesCall = pending.id !== null && callIds.has(pending.id);
  return !namesCall || (part.kind === "tool-call" && part.id === pending.id);
}

/** Gemini rejects the whole request if a signature is not base64. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Returns the signature of a reasoning part; null for none and for another vendor's. */
function readSignature({ origin, signature, encrypted }: ReasoningPart): string | null {
  return checkSignature(origin, signature ?? encrypted);
}

function readOwnSignature(
  part: Extract<Part, { kind: "text" | "tool-call" | "image" | "audio" | "video" | "file" }>,
) {
  return checkSignature(part.signature?.origin ?? null, part.signature?.value ?? null);
}

function checkSignature(origin: string | null, value: string | null): string | null {
  return origin === REASONING_ORIGINS.gemini && value !== null && BASE64.test(value) ? value : null;
}
