// Replaces decoding a request whole (`decodeWhole` of hub/hub-request.ts), and gives the same but for placeholders.

import { parseFields } from "../../../base/json/check-fields.ts";
import { decodeUtf8, type JsonNode } from "../../../base/json/scan.ts";
import type { ClientCodec } from "../../canonical/model/format.ts";
import type { ScannedRequest } from "../../conversation/scanned-request.ts";
import { replaceLongStrings } from "../../fast/placeholders.ts";
import type { Decoded } from "../hub/hub-request.ts";

/** How a request is decoded with placeholders. */
interface Shortening {
  readonly codec: ClientCodec;
  /** Texts of the request, in its order. Codecs may only test whether they are blank and embed them. */
  readonly texts: readonly JsonNode[];
}

/** Decodes a request with placeholders for the long ones among its texts. Returns null if none is long. */
export function decodeShortened(scanned: ScannedRequest, { codec, texts }: Shortening): Decoded | null {
  const short = replaceLongStrings(scanned, texts);
  if (short === null) return null;
  const sent = parseFields(decodeUtf8(short.text), scanned.text);
  return { request: codec.decodeRequest(sent), sent, print: short.print };
}
