import type { Fields } from "../../../../base/json/fields.ts";
import type { MediaSource } from "../../../canonical/model/parts.ts";

/** The source of a media part, and its spelling where that is unusual. */
interface ReadSource {
  readonly source: MediaSource;
  readonly spelling: Fields;
}

const BASE64 = ";base64";

/** Decodes a URL: a `data:` URL holds the media themselves, any other URL is kept. */
export function readSource(url: string): ReadSource {
  const comma = url.startsWith("data:") ? url.indexOf(",") : -1;
  const head = url.slice(0, Math.max(comma, 0));
  if (!head.endsWith(BASE64)) return { source: { kind: "url", url, mediaType: null }, spelling: {} };
  const mediaType = head.slice("data:".length, -BASE64.length) || "application/octet-stream";
  const source: MediaSource = { kind: "base64", mediaType, data: url.slice(comma + 1) };
  return { source, spelling: head === headOf(mediaType) ? {} : { head } };
}

/** Encodes a media source as a URL; null if it has none. */
export function writeSource(source: MediaSource, spelling: Fields): string | null {
  if (source.kind === "url") return source.url;
  if (source.kind !== "base64") return null;
  const head = typeof spelling["head"] === "string" ? spelling["head"] : headOf(source.mediaType);
  return `${head},${source.data}`;
}

function headOf(mediaType: string): string {
  return `data:${mediaType}${BASE64}`;
}
