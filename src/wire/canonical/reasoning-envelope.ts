import { tryParseFields } from "../json/fields.ts";
import type { ReasoningPart } from "./parts.ts";

/** What of a reasoning part its vendor wants back, and a client must carry without understanding it. */
export type CarriedReasoning = Pick<ReasoningPart, "signature" | "encrypted" | "id" | "origin" | "isSummary">;

const MARK = "gw1.";

/** How an envelope begins as a JSON string. */
export const ENVELOPE_START = `"${MARK}`;

/**
 * One vendor's proof in a field that belongs to another: Messages clients send `signature` and `data` back as they
 * came, Responses clients `encrypted_content`, so what a further vendor wants back travels there. The mark tells it
 * from the field's own vendor's.
 */
export function wrapReasoning(part: CarriedReasoning): string {
  const { signature, encrypted, id, origin, isSummary } = part;
  const kept = { s: signature, e: encrypted, i: id, o: origin, m: isSummary };
  return MARK + Buffer.from(JSON.stringify(kept)).toString("base64url");
}

/** What `wrapReasoning` made; null for anything else, which is the field's own vendor's. */
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
