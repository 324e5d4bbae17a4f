import type { Random } from "../../base/random.ts";

/**
 * API keys: `gw_`, 43 random characters, 6 of checksum (docs/contract.md, "Keys, money, limits"). The checksum lets a
 * mistyped or invented key be refused without asking the store, and secret scanners be sure of a find.
 */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const RANDOM_CHARS = 43;
const CHECK_CHARS = 6;
const FORM = /^gw_[A-Za-z0-9]{49}$/;

/** A new secret. Shown once, never stored. */
export function createSecret(random: Random): string {
  let body = "gw_";
  while (body.length < 3 + RANDOM_CHARS) {
    for (const byte of random.bytes(RANDOM_CHARS)) {
      // 248 is the largest multiple of 62 in a byte; above it the alphabet would be uneven.
      if (byte < 248 && body.length < 3 + RANDOM_CHARS) body += ALPHABET[byte % 62];
    }
  }
  return body + checksum(body);
}

/** Whether a text has a secret's form and checksum. */
export function isWellFormedSecret(text: string): boolean {
  return FORM.test(text) && text.endsWith(checksum(text.slice(0, -CHECK_CHARS)));
}

function checksum(body: string): string {
  let rest = Bun.hash.crc32(body);
  let chars = "";
  for (let i = 0; i < CHECK_CHARS; i++) {
    chars = ALPHABET[rest % 62] + chars;
    rest = Math.floor(rest / 62);
  }
  return chars;
}

/** What is stored of a secret. Plain SHA-256 is enough for 256 random bits. */
export function hashSecret(secret: string): string {
  return Bun.SHA256.hash(secret, "hex");
}

/** Enough of a secret to tell it apart, too little to use. */
export function hintOf(secret: string): string {
  return `${secret.slice(0, 7)}…${secret.slice(-4)}`;
}
