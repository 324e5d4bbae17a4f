import { sha256 } from "../../base/secrets/hash.ts";
import type { Random } from "../../base/secrets/random.ts";
import { NONCE_BYTES, openSealed, sealBytes } from "../../base/secrets/seal.ts";
import type { SealedSecret } from "./records.ts";

/** A key that encrypts secrets. */
export interface MasterKey {
  /** Identifies the key without revealing it. */
  readonly id: string;
  readonly bytes: Buffer;
}

const KEY_BYTES = 32;

/** Parses 32 bytes in base64 or hex. Returns null for other text. */
export function readMasterKey(text: string): MasterKey | null {
  const trimmed = text.trim();
  const isHex = /^[0-9a-f]{64}$/i.test(trimmed);
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return null;
  const bytes = Buffer.from(trimmed, isHex ? "hex" : "base64");
  if (bytes.length !== KEY_BYTES) return null;
  const id = sha256(Buffer.concat([Buffer.from("master key"), bytes]), "hex").slice(0, 16);
  return { id, bytes };
}

/** Returns the text of a new master key. */
export function createMasterKey(random: Random): string {
  return Buffer.from(random.bytes(KEY_BYTES)).toString("base64");
}

/** The source of master keys. Other processes may add some. */
export interface MasterKeySource {
  /** Returns the known keys, the newest first. */
  list(): readonly MasterKey[];
  /** Reads the keys again. */
  reload(): void;
  /** Reads the keys again and returns the newest one. Creates it if there is none. */
  newest(): MasterKey;
}

/** The record to which a secret is bound. It cannot be decrypted for another one. */
export interface SecretOwner {
  readonly id: string;
  /** The account that owns the secret; null for a secret of the gateway's configuration. */
  readonly accountId: string | null;
}

/** Encrypts and decrypts secrets. */
export interface Vault {
  seal(secret: string, owner: SecretOwner): SealedSecret;
  /** Returns a function that seals like `seal`, with the current newest master key, for several secrets of one moment. */
  createSealer(): Vault["seal"];
  /** Returns the secret; null if its master key is unknown, or it was not encrypted for this owner. */
  open(sealed: SealedSecret, owner: SecretOwner): string | null;
}

/** Creates a vault over a source of master keys. */
export function createVault(masters: MasterKeySource, random: Random): Vault {
  const find = (id: string): MasterKey | undefined => masters.list().find((master) => master.id === id);
  const createSealer = (): Vault["seal"] => {
    const { id, bytes } = masters.newest();
    return (secret, owner) => {
      const nonce = Buffer.from(random.bytes(NONCE_BYTES));
      const ciphertext = sealBytes(bytes, nonce, Buffer.from(secret), bindingOf(owner));
      return { masterKeyId: id, ciphertext: ciphertext.toString("base64") };
    };
  };
  return {
    seal: (secret, owner) => createSealer()(secret, owner),
    createSealer,
    open({ masterKeyId, ciphertext }, owner) {
      let master = find(masterKeyId);
      if (master === undefined) {
        // Another process may have added it.
        masters.reload();
        master = find(masterKeyId);
      }
      if (master === undefined) return null;
      try {
        return openSealed(master.bytes, Buffer.from(ciphertext, "base64"), bindingOf(owner)).toString("utf8");
      } catch {
        return null;
      }
    },
  };
}

/** Returns the associated data that binds a ciphertext to its owner. */
function bindingOf({ id, accountId }: SecretOwner): Buffer {
  const binding = accountId === null ? ["setting", id] : ["provider key", id, accountId];
  return Buffer.from(JSON.stringify(binding));
}
