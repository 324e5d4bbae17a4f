const BACKSLASH = 92;
const LETTER_U = 117;
/** Bytes of `\\u0000` beyond the first. */
const SURPLUS_ESCAPE_BYTES = 5;

/**
 * Returns a lower bound of a prompt's characters: `promptBytes` less the surplus bytes of `\\u0000` escapes and of UTF-8
 * characters.
 */
export function countChars(body: Buffer, promptBytes: number): number {
  let surplus = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] as number;
    if (byte === BACKSLASH) {
      if (body[++at] === LETTER_U) surplus += SURPLUS_ESCAPE_BYTES;
    } else if (byte >= 0x80 && byte < 0xc0) surplus++;
  }
  return promptBytes - surplus;
}
