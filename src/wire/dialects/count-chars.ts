/**
 * Of a body read as Latin-1, how many characters its prompt has at least: `promptBytes` less the bytes beyond one a
 * character, of `\u0000` escapes and of UTF-8 characters their later bytes.
 */
export function countChars(latin1: string, promptBytes: number): number {
  const escapes = latin1.split("\\u").length - 1;
  const laterBytes = latin1.length - latin1.replace(/[\x80-\xbf]+/g, "").length;
  return promptBytes - 5 * escapes - laterBytes;
}
