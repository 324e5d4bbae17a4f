/** The sandbox's tokens are this many bytes of UTF-8. */
const BYTES_PER_TOKEN = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The sandbox's token rule: a token for every four bytes of UTF-8, the last one begun counting whole. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, "utf8") / BYTES_PER_TOKEN);
}

/** The longest beginning of a text, of whole characters, that has at most `limit` tokens. */
export function cutToTokens(text: string, limit: number): string {
  if (countTokens(text) <= limit) return text;
  const bytes = encoder.encode(text);
  let end = limit * BYTES_PER_TOKEN;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end));
}
