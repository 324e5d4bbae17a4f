import { createHmac } from "node:crypto";

/**
 * What a vendor may know of a name that a client gave: the same for the same name of the same account, and nothing that
 * leads back to it. `scope` is whose name it is, see `scopeOf`.
 */
export type IdentityHash = (kind: "user" | "session", scope: string, name: string) => string;

const PREFIXES = { user: "u_", session: "s_" } as const;
const CHARS = 32;

/** Hashes under a secret of this installation, so that nobody can look for a name by hashing guesses. */
export function createIdentityHash(secret: string): IdentityHash {
  return (kind, scope, name) => {
    const hash = createHmac("sha256", secret).update(`${kind}\0${scope}\0${name}`).digest("base64url");
    return PREFIXES[kind] + hash.slice(0, CHARS);
  };
}
