/** The length of a checksum as text. */
export const CHECKSUM_BYTES = 8;

const DIGITS = Buffer.from("0123456789abcdef");
const BITS_OF_DIGIT = 4;

/** Returns the CRC-32 of an entry as eight hexadecimal digits. */
export function checksum(entry: Uint8Array): string {
  return Bun.hash.crc32(entry).toString(16).padStart(CHECKSUM_BYTES, "0");
}

/** Writes a CRC-32 into a buffer as `checksum` returns it, digit by digit: making and writing a text would cost more than the CRC. */
export function writeChecksum(crc: number, target: Uint8Array, at: number): void {
  let rest = crc;
  for (let digit = CHECKSUM_BYTES - 1; digit >= 0; digit--) {
    target[at + digit] = DIGITS[rest & 0xf] as number;
    rest >>>= BITS_OF_DIGIT;
  }
}
