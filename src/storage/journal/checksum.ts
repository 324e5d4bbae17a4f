/** The checksum that stands before each entry: eight hexadecimal digits. */
export function checksum(entry: Uint8Array): string {
  return Bun.hash.crc32(entry).toString(16).padStart(8, "0");
}
