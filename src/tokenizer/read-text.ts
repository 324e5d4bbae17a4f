import { readUtf8 } from "../base/text/decode-bytes.ts";

/**
 * Decodes a JSON string of a body, or a part of one, whose quotes and escapes at the ends may be incomplete. Text
 * that cannot be decoded is returned unchanged.
 */
export function readText(bytes: Uint8Array): string {
  const raw = readUtf8(bytes);
  const isWhole = raw.length > 1 && raw.startsWith('"') && raw.endsWith('"');
  const inner = isWhole ? raw.slice(1, -1) : raw.replace(/^"/, "");
  if (!inner.includes("\\")) return inner;
  return parse(inner) ?? parse(inner.replace(/\\(u[0-9a-f]{0,3})?"?$/i, "")) ?? inner;
}

function parse(inner: string): string | null {
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    return null;
  }
}
