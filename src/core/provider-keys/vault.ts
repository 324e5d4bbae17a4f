import { sha256 } from "../../base/hash.ts";
import type { Random } from "../../base/random.ts";
import { NONCE_BYTES, openSealed, sealBytes } from "../../base/seal.ts";
import type { ProviderKeyRecord, SealedSecret } from "./records.ts";

/** A key that seals secrets. */
export interface MasterKey {
  /** Says which one it is, and nothing of it. */
  readonly id: string;
  readonly bytes: Buffer;
}

const KEY_BYTES = 32;

/** Reads 32 bytes in base64 or hex; null for anything else. */
export function readMasterKey(text: string): MasterKey | null {
  const trimmed = text.trim();
  const isHex = /^[0-9a-f]{64}$/i.test(trimmed);
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return null;
  const bytes = Buffer.from(trimmed, isHex ? "hex" : "base64");
  if (bytes.length !== KEY_BYTES) return null;
  const id = sha256(Buffer.concat([Buffer.from("master key"), bytes]), "hex").slice(0, 16);
  return { id, bytes };
}

/** The text of a new master key. */
export function createMasterKey(random: Random): string {
  return Buffer.from(random.bytes(KEY_BYTES)).toString("base64");
}

/** Where master keys come from. Another process may add some. */
export interface MasterKeySource {
  /** The newest first; none where there are none yet. */
  list(): readonly MasterKey[];
  /** Looks again. */
  reload(): void;
  /** The one that seals from now on, looked for anew; made where there is none. */
  newest(): MasterKey;
}

/** What a secret belongs to: in another place it does not open. */
export type SecretPlace = Pick<ProviderKeyRecord, "id" | "accountId">;

/** Seals secrets and opens them again. */
export interface Vault {
  seal(secret: string, place: SecretPlace): SealedSecret;
  /** Null where its master key is not known, or it is not what was sealed for this place. */
  open(sealed: SealedSecret, place: SecretPlace): string | null;
}

/** A vault over the master keys that there are. */
export function createVault(masters: MasterKeySource, random: Random): Vault {
  const find = (id: string): MasterKey | undefined => masters.list().find((master) => master.id === id);
  return {
    seal(secret, place) {
      const { id, bytes } = masters.newest();
      const nonce = Buffer.from(random.bytes(NONCE_BYTES));
      const box = sealBytes(bytes, nonce, Buffer.from(secret), describePlace(place));
      return { masterKeyId: id, box: box.toString("base64") };
    },
    open({ masterKeyId, box }, place) {
      let master = find(masterKeyId);
      if (master === undefined) {
        // Sealed by a process that has a newer one.
        masters.reload();
        master = find(masterKeyId);
      }
      if (master === undefined) return null;
      try {
        return openSealed(master.bytes, Buffer.from(box, "base64"), describePlace(place)).toString("utf8");
      } catch {
        return null;
      }
    },
  };
}

function describePlace({ id, accountId }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify(["provider key", id, accountId]));
}
