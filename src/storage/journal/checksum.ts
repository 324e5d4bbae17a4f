/** Returns the CRC-32 of an entry as eight hexadecimal digits. */
export function checksum(entry: Uint8Array): string {
  return Bun.hash.crc32(entry).toString(16).padStart(8, "0");
}
