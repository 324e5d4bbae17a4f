const BACKSLASH = 92;
const LETTER_U = 117;
/** Bytes of `\\u0000` beyond the one of a character. */
const BYTES_BESIDE_ONE = 5;

/**
 * Returns a lower bound of a prompt's characters: `promptBytes` less the surplus bytes of `\\u0000` escapes and of UTF-8
 * characters.
 */
export function countChars(body: Buffer, promptBytes: number): number {
  let beside = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] as number;
    if (byte === BACKSLASH) {
      if (body[++at] === LETTER_U) beside += BYTES_BESIDE_ONE;
    } else if (byte >= 0x80 && byte < 0xc0) beside++;
  }
  return promptBytes - beside;
}
