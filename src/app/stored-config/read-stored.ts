import type { SecretOwner, Vault } from "../../core/provider-keys/vault.ts";
import type { ConfigDocument, ConfigSecret, ConfigStore } from "../../core/stored-config/config-store.ts";
import type { ConfigProblem } from "../config/config-error.ts";
import type { StoredConfig } from "../config/config-sources.ts";
import { expandSecrets, type ReferringValue } from "../config/expand-references.ts";
import { listSettingEntries, type SettingEntry } from "../config/setting-paths.ts";

/** Returns a secret by its id, or the problem with it. */
export type FindSecret = (id: string) => { readonly text: string } | string;

/** Returns the owner of a secret of the configuration, to which its ciphertext is bound. */
export function ownerOfSecret(id: string): SecretOwner {
  return { id, accountId: null };
}

/** Returns a function that decrypts secrets of the configuration. */
export function openSecrets(secrets: readonly ConfigSecret[], vault: Pick<Vault, "open">): FindSecret {
  const byId = new Map(secrets.map((secret) => [secret.id, secret]));
  return (id) => {
    const secret = byId.get(id);
    if (secret === undefined) return `there is no secret ${id}; \`gateway secrets set ${id}\` stores it`;
    const text = vault.open(secret.sealed, ownerOfSecret(id));
    return text === null
      ? `the secret ${id} cannot be decrypted: its master key ${secret.sealed.masterKeyId} is not in secrets.keys`
      : { text };
  };
}

/** A revision to expand; the number of one that is not stored yet is that of the next. */
interface Revised {
  readonly revision: number;
  readonly document: ConfigDocument;
}

/** Returns a stored configuration with its references to secrets expanded. */
export function expandStored({ revision, document }: Revised, findSecret: FindSecret): StoredConfig {
  const settings: SettingEntry[] = [];
  const referring: ReferringValue[] = [];
  const problems: ConfigProblem[] = [];
  for (const { path, value } of listSettingEntries(document)) {
    const expanded = expandSecrets({ value }, findSecret);
    settings.push({ path, value: expanded.value["value"] as SettingEntry["value"] });
    // The paths of an expansion begin with the name of its member.
    const absolute = (within: readonly PropertyKey[]) => [...path, ...within.slice(1)];
    for (const found of expanded.referring) referring.push({ ...found, path: absolute(found.path) });
    for (const problem of expanded.problems) problems.push({ ...problem, path: absolute(problem.path) });
  }
  return { revision, document, settings, referring, problems };
}

/** Reads the latest stored configuration; null if nothing was ever stored. Rejects with a `StoreError`. */
export async function readStored(
  store: Pick<ConfigStore, "findLatestConfig" | "listConfigSecrets">,
  vault: Pick<Vault, "open">,
): Promise<StoredConfig | null> {
  const latest = await store.findLatestConfig();
  return latest === null ? null : expandStored(latest, openSecrets(await store.listConfigSecrets(), vault));
}
