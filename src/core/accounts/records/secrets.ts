import { crc32, sha256 } from "../../../base/secrets/hash.ts";
import type { Random } from "../../../base/secrets/random.ts";

/**
 * The secret of an API key is `gw_`, 43 random characters and a checksum of 6 (docs/api/keys.md, "API keys"). With
 * the checksum a mistyped or invented key is rejected without a lookup, and secret scanners can verify a match.
 */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const RANDOM_CHARS = 43;
const CHECK_CHARS = 6;
const FORM = /^gw_[A-Za-z0-9]{49}$/;

/** Returns a new secret. It is shown once and never stored. */
export function createSecret(random: Random): string {
  let body = "gw_";
  while (body.length < 3 + RANDOM_CHARS) {
    for (const byte of random.bytes(RANDOM_CHARS)) {
      // 248 is the largest multiple of 62 in a byte. Larger values would favor the first characters of the alphabet.
      if (byte < 248 && body.length < 3 + RANDOM_CHARS) body += ALPHABET[byte % 62];
    }
  }
  return body + checksum(body);
}

/** Returns whether a text has the form and the checksum of a secret. */
export function isWellFormedSecret(text: string): boolean {
  return FORM.test(text) && text.endsWith(checksum(text.slice(0, -CHECK_CHARS)));
}

function checksum(body: string): string {
  let rest = crc32(body);
  let chars = "";
  for (let i = 0; i < CHECK_CHARS; i++) {
    chars = ALPHABET[rest % 62] + chars;
    rest = Math.floor(rest / 62);
  }
  return chars;
}

/** Returns the stored hash of a secret. Plain SHA-256 suffices for 256 random bits. */
export function hashSecret(secret: string): string {
  return sha256(secret, "hex");
}

/** Returns the first and last characters of a secret, to tell keys apart. */
export function hintOf(secret: string): string {
  return `${secret.slice(0, 7)}…${secret.slice(-4)}`;
}
