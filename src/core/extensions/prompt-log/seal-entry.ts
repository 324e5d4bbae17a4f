import type { Random } from "../../../base/secrets/random.ts";
import { NONCE_BYTES, openSealed, sealBytes } from "../../../base/secrets/seal.ts";
import type { Vault } from "../../provider-keys/vault.ts";
import type { PromptLogEntry } from "./prompt-log-store.ts";

/** The bodies of one generation, in its client API's format. */
export interface LoggedBodies {
  readonly request: string;
  readonly requestTruncated: boolean;
  /** JSON, or server-sent events if the request asked for a stream; null if there was no successful answer. */
  readonly response: string | null;
  readonly responseTruncated: boolean;
}

/** The identity of an entry. Its ciphertext cannot be opened under another id or account. */
type PromptLogIdentity = Omit<PromptLogEntry, "sealed" | "ciphertext">;

const DATA_KEY_BYTES = 32;

/** An entry before it is encrypted. */
export interface PlainEntry {
  readonly identity: PromptLogIdentity;
  readonly bodies: LoggedBodies;
}

/**
 * Encrypts the bodies of entries, each under a data key of its own, which the vault seals under the newest master key. A rotation of
 * the master key therefore reseals only the data keys.
 */
export function sealEntries(
  { vault, random }: { readonly vault: Vault; readonly random: Random },
  entries: readonly PlainEntry[],
): readonly PromptLogEntry[] {
  const seal = vault.createSealer();
  return entries.map(({ identity, bodies }) => {
    const dataKey = Buffer.from(random.bytes(DATA_KEY_BYTES));
    const nonce = Buffer.from(random.bytes(NONCE_BYTES));
    return {
      ...identity,
      sealed: seal(dataKey.toString("base64"), identity),
      ciphertext: sealBytes(dataKey, nonce, Buffer.from(JSON.stringify(bodies)), bindTo(identity)),
    };
  });
}

/** Decrypts an entry; null if its master key is not known, or the entry was changed. */
export function openEntry(vault: Vault, entry: PromptLogEntry): LoggedBodies | null {
  const dataKey = vault.open(entry.sealed, entry);
  if (dataKey === null) return null;
  try {
    const text = openSealed(Buffer.from(dataKey, "base64"), entry.ciphertext, bindTo(entry));
    return JSON.parse(text.toString("utf8")) as LoggedBodies;
  } catch {
    return null;
  }
}

function bindTo({ id, accountId }: Pick<PromptLogEntry, "id" | "accountId">): Buffer {
  return Buffer.from(JSON.stringify(["prompt log", id, accountId]));
}
