import { tryParseFields } from "../../../base/json/fields.ts";
import type { ReasoningPart } from "./parts.ts";

/** The fields of a reasoning part that its vendor wants back and that clients carry without reading them. */
export type CarriedReasoning = Pick<ReasoningPart, "signature" | "encrypted" | "id" | "origin" | "isSummary">;

const MARK = "gw1.";

/** The beginning of an envelope as a JSON string. */
export const ENVELOPE_START = `"${MARK}`;

/**
 * Wraps reasoning of one vendor for a field of another vendor's format: Messages clients send `signature` and `data` back
 * unchanged, Responses clients `encrypted_content`. A mark distinguishes it from values of the field's own vendor.
 */
export function wrapReasoning(part: CarriedReasoning): string {
  const { signature, encrypted, id, origin, isSummary } = part;
  const kept = { s: signature, e: encrypted, i: id, o: origin, m: isSummary };
  return MARK + Buffer.from(JSON.stringify(kept)).toString("base64url");
}

/** Unwraps what `wrapReasoning` made; null for anything else, which belongs to the field's own vendor. */
export function unwrapReasoning(text: string): CarriedReasoning | null {
  if (!text.startsWith(MARK)) return null;
  const kept = tryParseFields(Buffer.from(text.slice(MARK.length), "base64url").toString("utf8"));
  if (kept === null) return null;
  return {
    signature: readText(kept["s"]),
    encrypted: readText(kept["e"]),
    id: readText(kept["i"]),
    origin: readText(kept["o"]),
    isSummary: kept["m"] === true,
  };
}

function readText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
