import type { StoredSecret } from "./rotate-secrets.ts";
import type { Vault } from "./vault.ts";

/** Secrets per page. */
const PAGE = 100;

/** A store of encrypted secrets. With `null`, it lists all of them. */
interface SecretList<Secret extends StoredSecret> {
  listSealedByOthers(masterKeyId: null, afterId: string | null, limit: number): Promise<readonly Secret[]>;
}

/** Returns the stored secrets, in use or not, that no known master key can decrypt, sorted by id. */
export async function findUnreadable<Secret extends StoredSecret>(
  store: SecretList<Secret>,
  vault: Pick<Vault, "open">,
): Promise<readonly Secret[]> {
  const unreadable: Secret[] = [];
  let afterId: string | null = null;
  for (;;) {
    const page: readonly Secret[] = await store.listSealedByOthers(null, afterId, PAGE);
    unreadable.push(...page.filter((key) => vault.open(key.sealed, key) === null));
    afterId = page.at(-1)?.id ?? null;
    if (page.length < PAGE) return unreadable;
  }
}
