import { type JsonNode, tryStringOf } from "../../base/json/scan.ts";
import type { Splice } from "../../base/json/splice.ts";

/** Registered media types by unregistered names, which vendors reject (https://www.iana.org/assignments/media-types, 2026-11-28). */
const REGISTERED: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
};

/** The beginning of a `data:` URL in base64, whose slash may be escaped. */
const HEAD = /^\s*data:\s*([\w.+-]+)\\?\/([\w.+-]+)\s*(?:;[^,;]*)*?;\s*base64\s*,/i;
/** Maximum length of the beginning that is examined. Characters. */
const MAX_HEAD_CHARS = 200;

/** Returns a media type as vendors compare it: registered, in lower case, without parameters. */
function normalizeMediaType(type: string): string {
  const plain = (type.split(";", 1)[0] as string).trim().toLowerCase();
  return REGISTERED[plain] ?? plain;
}

/**
 * Adds the edit that normalizes the media type of a `data:` URL: "data:IMAGE/JPG;charset=utf-8;base64," becomes
 * "data:image/jpeg;base64,". Other URLs and values are left alone. `text` is the body, bytes as Latin-1.
 */
export function correctDataUrl(text: string, node: JsonNode | undefined, splices: Splice[]): void {
  if (node?.kind !== "string") return;
  const start = node.start + 1;
  const found = HEAD.exec(text.slice(start, Math.min(node.end - 1, start + MAX_HEAD_CHARS)));
  if (found === null) return;
  const [head, kind, name] = found;
  const insert = `data:${normalizeMediaType(`${kind}/${name}`)};base64,`;
  if (head.replace("\\/", "/") !== insert) splices.push({ start, end: start + head.length, insert });
}

/** Adds the edit that normalizes a media type which is a field of its own. */
export function correctMediaType(text: string, node: JsonNode | undefined, splices: Splice[]): void {
  if (node === undefined) return;
  const type = tryStringOf(text, node);
  if (type === undefined) return;
  const normal = normalizeMediaType(type);
  if (normal !== type) splices.push({ start: node.start, end: node.end, insert: JSON.stringify(normal) });
}
