import type { ProviderKeyStore } from "./provider-key-store.ts";
import type { ProviderKeyRecord } from "./records.ts";
import type { MasterKey, Vault } from "./vault.ts";

/** Keys that are read at once. */
const PAGE = 100;

/** What sealing everything anew has come to. */
export interface Rotation {
  readonly resealed: number;
  /** Keys that could not be opened: no master key of theirs is known. They stay as they are. */
  readonly unreadable: readonly ProviderKeyRecord[];
}

/**
 * Seals under `newest` whatever another master key has sealed. Each secret is replaced by itself, so that it can be
 * broken off and begun again, and other processes may use and change keys meanwhile.
 */
export async function rotateSecrets(
  store: ProviderKeyStore,
  vault: Vault,
  newest: MasterKey,
): Promise<Rotation> {
  const unreadable: ProviderKeyRecord[] = [];
  let resealed = 0;
  let afterId: string | null = null;
  for (;;) {
    const page: readonly ProviderKeyRecord[] = await store.listSealedByOthers(newest.id, afterId, PAGE);
    for (const key of page) {
      const secret = vault.open(key.sealed, key);
      if (secret === null) unreadable.push(key);
      else if (await store.reseal(key.id, key.sealed, vault.seal(secret, key))) resealed += 1;
    }
    afterId = page.at(-1)?.id ?? null;
    if (page.length < PAGE) return { resealed, unreadable };
  }
}
