import { createCipheriv, createDecipheriv } from "node:crypto";

const CIPHER = "aes-256-gcm";
/** Bytes of a nonce, which is used once. */
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NOTHING = Buffer.alloc(0);

/** Encrypts with AES-256-GCM: nonce, tag and text in one. What it is `about` is not in it and must be the same to open it. */
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
 * Opens what `sealBytes` made.
 * @throws Error for another key, another `about`, or a byte that was changed.
 */
export function openSealed(key: Uint8Array, sealed: Uint8Array, about: Uint8Array = NOTHING): Buffer {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(about).setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
