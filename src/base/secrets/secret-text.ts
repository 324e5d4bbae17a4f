import type { Random } from "./random.ts";

const SECRET_BYTES = 32;

/** Returns 32 random bytes as text for cookies and links. */
export function createSecretText(random: Random): string {
  return Buffer.from(random.bytes(SECRET_BYTES)).toString("base64url");
}
