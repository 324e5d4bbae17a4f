import type { SealedSecret } from "./records.ts";
import type { MasterKey, SecretPlace, Vault } from "./vault.ts";

/** A secret of a store, sealed for its place. */
export interface StoredSecret extends SecretPlace {
  readonly sealed: SealedSecret;
}

/** A store of sealed secrets, as far as a rotation goes. */
export interface SealedStore<Secret extends StoredSecret> {
  /** Lists secrets that another master key has sealed, by id, from after `afterId` on. */
  listSealedByOthers(masterKeyId: string, afterId: string | null, limit: number): Promise<readonly Secret[]>;
  /** Replaces a sealed secret unless it was replaced in the meantime; true when it was. */
  reseal(id: string, from: SealedSecret, to: SealedSecret): Promise<boolean>;
  /** Lists the master keys by which something is sealed. */
  listMasterKeysInUse(): Promise<readonly string[]>;
}

/** Keys that are read at once. */
const PAGE = 100;

/** What sealing everything anew has come to. */
export interface Rotation<Secret extends StoredSecret> {
  readonly resealed: number;
  /** Keys that could not be opened: no master key of theirs is known. They stay as they are. */
  readonly unreadable: readonly Secret[];
}

/**
 * Seals under `newest` whatever another master key has sealed. Each secret is replaced by itself, so that it can be
 * broken off and begun again, and other processes may use and change keys meanwhile.
 */
export async function rotateSecrets<Secret extends StoredSecret>(
  store: SealedStore<Secret>,
  vault: Vault,
  newest: MasterKey,
): Promise<Rotation<Secret>> {
  const unreadable: Secret[] = [];
  let resealed = 0;
  let afterId: string | null = null;
  for (;;) {
    const page: readonly Secret[] = await store.listSealedByOthers(newest.id, afterId, PAGE);
    for (const key of page) {
      const secret = vault.open(key.sealed, key);
      if (secret === null) unreadable.push(key);
      else if (await store.reseal(key.id, key.sealed, vault.seal(secret, key))) resealed += 1;
    }
    afterId = page.at(-1)?.id ?? null;
    if (page.length < PAGE) return { resealed, unreadable };
  }
}
