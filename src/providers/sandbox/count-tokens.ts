/** Bytes of UTF-8 per token. */
const BYTES_PER_TOKEN = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Counts the sandbox's tokens: one for every four bytes of UTF-8, rounded up. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, "utf8") / BYTES_PER_TOKEN);
}

/** Returns the longest prefix of whole characters that has at most `limit` tokens. */
export function cutToTokens(text: string, limit: number): string {
  if (countTokens(text) <= limit) return text;
  const bytes = encoder.encode(text);
  let end = limit * BYTES_PER_TOKEN;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end));
}
