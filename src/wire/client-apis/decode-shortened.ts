import type { ConversationRequest } from "../canonical/request.ts";
import type { ScannedRequest } from "../conversation/scanned-request.ts";
import { parseFields } from "../json/check-fields.ts";
import type { Fields } from "../json/fields.ts";
import { replaceLongStrings, type ShortenedJson } from "../json/placeholders.ts";
import { decodeUtf8, type JsonNode } from "../json/scan.ts";

/** A request that was decoded with placeholders for its long texts, and the body that they belong to. */
interface Shortened {
  readonly request: ConversationRequest;
  readonly short: ShortenedJson;
}

/**
 * Decodes a request with placeholders for the long ones among these texts of it, which are in its order. Codecs may only test whether they
 * are blank and embed them. Returns null if none is long.
 */
export function decodeShortened(
  scanned: ScannedRequest,
  texts: readonly JsonNode[],
  decode: (body: Fields) => ConversationRequest,
): Shortened | null {
  const short = replaceLongStrings(scanned, texts);
  return short === null
    ? null
    : { request: decode(parseFields(decodeUtf8(short.text), scanned.text)), short };
}
