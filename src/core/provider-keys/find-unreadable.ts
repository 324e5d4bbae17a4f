import type { ProviderKeyStore } from "./provider-key-store.ts";
import type { ProviderKeyRecord } from "./records.ts";
import type { Vault } from "./vault.ts";

/** Keys per page. */
const PAGE = 100;

/** Returns the stored keys, enabled or not, that no known master key can decrypt, sorted by id. */
export async function findUnreadableKeys(
  store: Pick<ProviderKeyStore, "listSealedByOthers">,
  vault: Pick<Vault, "open">,
): Promise<readonly ProviderKeyRecord[]> {
  const unreadable: ProviderKeyRecord[] = [];
  let afterId: string | null = null;
  for (;;) {
    const page: readonly ProviderKeyRecord[] = await store.listSealedByOthers(null, afterId, PAGE);
    unreadable.push(...page.filter((key) => vault.open(key.sealed, key) === null));
    afterId = page.at(-1)?.id ?? null;
    if (page.length < PAGE) return unreadable;
  }
}
