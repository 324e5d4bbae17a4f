import { createHmac } from "node:crypto";

/** Derives the key for one use, such as the contents of turns, from the secret that all gateways have and Redis does not. */
export function deriveKey(secret: string, use: string): Buffer {
  return createHmac("sha256", secret).update(use).digest();
}
