import { createHmac } from "node:crypto";

/**
 * Hashes a name that a client gave, for use at vendors: the same name of the same account has the same hash, and the hash does
 * not reveal the name. `scope` is the owner of the name, see `scopeOf`.
 */
export type IdentityHash = (kind: "user" | "session", scope: string, name: string) => string;

const PREFIXES = { user: "u_", session: "s_" } as const;
const CHARS = 32;

/** Creates a hash function keyed with a secret of this installation, so that names cannot be found by hashing guesses. */
export function createIdentityHash(secret: string): IdentityHash {
  return (kind, scope, name) => {
    const hash = createHmac("sha256", secret).update(`${kind}\0${scope}\0${name}`).digest("base64url");
    return PREFIXES[kind] + hash.slice(0, CHARS);
  };
}

/** Returns the hash by which records and budgets of an account name an end user. */
export function hashEndUser(hash: IdentityHash, accountId: string, name: string): string {
  return hash("user", accountId, name);
}
