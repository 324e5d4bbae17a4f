import { embedArguments } from "../../canonical/fit/embed-arguments.ts";
import type { ClientCodec } from "../../canonical/model/format.ts";
import type { ScannedRequest } from "../../conversation/scanned-request.ts";
import { parseFields } from "../../json/check-fields.ts";
import { replaceLongStrings } from "../../json/placeholders.ts";
import { decodeUtf8, type JsonNode } from "../../json/scan.ts";
import type { Decoded } from "./hub-request.ts";

/** How a request is decoded with placeholders. */
interface Shortening {
  readonly codec: ClientCodec;
  /** Texts of the request, in its order. Codecs may only test whether they are blank and embed them. */
  readonly texts: readonly JsonNode[];
  /** The arguments of calls are known to be objects, so that they need not be parsed. */
  readonly hasObjectArguments: boolean;
}

/** Decodes a request with placeholders for the long ones among its texts. Returns null if none is long. */
export function decodeShortened(
  scanned: ScannedRequest,
  { codec, texts, hasObjectArguments }: Shortening,
): Decoded | null {
  const short = replaceLongStrings(scanned, texts);
  if (short === null) return null;
  const sent = parseFields(decodeUtf8(short.text), scanned.text);
  const request = codec.decodeRequest(sent);
  if (hasObjectArguments) embedArguments(request, short.embed);
  return { request, sent, print: short.print };
}
