import { createCipheriv, createDecipheriv } from "node:crypto";

const CIPHER = "aes-256-gcm";
/** The length of a nonce, which must be used only once. Bytes. */
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NOTHING = Buffer.alloc(0);

/** Encrypts with AES-256-GCM. Returns nonce, tag and ciphertext. `about` is authenticated, not included, and needed to decrypt. */
export function sealBytes(
  key: Uint8Array,
  nonce: Uint8Array,
  text: Uint8Array,
  about: Uint8Array = NOTHING,
): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(about);
  const body = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/**
 * Decrypts the result of `sealBytes`.
 * @throws Error for another key, another `about`, or a changed byte.
 */
export function openSealed(key: Uint8Array, sealed: Uint8Array, about: Uint8Array = NOTHING): Buffer {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(about).setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
