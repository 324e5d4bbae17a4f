import type { SealedSecret } from "./records.ts";
import type { MasterKey, SecretOwner, Vault } from "./vault.ts";

/** An encrypted secret of a store. */
export interface StoredSecret extends SecretOwner {
  readonly sealed: SealedSecret;
}

/** The part of a store of encrypted secrets that a rotation uses. */
interface SealedStore<Secret extends StoredSecret> {
  /** Returns secrets that are not encrypted with `masterKeyId`, sorted by id, after `afterId`. */
  listSealedByOthers(masterKeyId: string, afterId: string | null, limit: number): Promise<readonly Secret[]>;
  /** Replaces a ciphertext. Returns false if it is no longer `from`. */
  reseal(id: string, from: SealedSecret, to: SealedSecret): Promise<boolean>;
  /** Returns the ids of the master keys that encrypt at least one secret. */
  listMasterKeysInUse(): Promise<readonly string[]>;
}

/** Secrets per page. */
const PAGE = 100;

/** The dependencies of a rotation. */
interface RotationKeys {
  readonly vault: Vault;
  /** Encrypts all secrets in the end. */
  readonly newest: MasterKey;
  /** Called before each page of secrets is changed. If it throws, the rotation ends. */
  readonly confirm: () => Promise<void>;
}

/** The result of a rotation. */
export interface Rotation<Secret extends StoredSecret> {
  readonly resealed: number;
  /** Secrets that could not be decrypted, because their master key is unknown. They are not changed. */
  readonly unreadable: readonly Secret[];
}

/**
 * Re-encrypts with `newest` all secrets that are encrypted with another master key. Secrets are replaced one by one, so that a rotation can
 * be interrupted and repeated, and other processes can use and change keys at the same time.
 */
export async function rotateSecrets<Secret extends StoredSecret>(
  store: SealedStore<Secret>,
  { vault, newest, confirm }: RotationKeys,
): Promise<Rotation<Secret>> {
  const unreadable: Secret[] = [];
  let resealed = 0;
  let afterId: string | null = null;
  for (;;) {
    const page: readonly Secret[] = await store.listSealedByOthers(newest.id, afterId, PAGE);
    if (page.length > 0) await confirm();
    for (const key of page) {
      const secret = vault.open(key.sealed, key);
      if (secret === null) unreadable.push(key);
      else if (await store.reseal(key.id, key.sealed, vault.seal(secret, key))) resealed += 1;
    }
    afterId = page.at(-1)?.id ?? null;
    if (page.length < PAGE) return { resealed, unreadable };
  }
}
