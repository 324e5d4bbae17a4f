import { isUtf8 } from "node:buffer";

/** The number of bytes that one match checks. */
const BLOCK_BYTES = 65_536;

/** Matches one UTF-8 character or several ASCII characters, bytes as Latin-1. */
const CHARACTER =
  /[\x00-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}/y;

/** Returns the index of the first byte that is not valid UTF-8; the length if all bytes are valid. */
export function findBrokenUtf8(bytes: Buffer): number {
  let start = 0;
  for (;;) {
    const end = startOfCharacter(bytes, Math.min(start + BLOCK_BYTES, bytes.length));
    if (end <= start || !isUtf8(bytes.subarray(start, end))) break;
    start = end;
  }
  const block = bytes.toString("latin1", start, start + BLOCK_BYTES);
  for (let at = 0; ; at = CHARACTER.lastIndex) {
    CHARACTER.lastIndex = at;
    if (!CHARACTER.test(block)) return start + at;
  }
}

/** Returns the index of the first byte of the character that contains byte `at`. */
function startOfCharacter(bytes: Buffer, at: number): number {
  let start = at;
  while (start > at - 3 && start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}
