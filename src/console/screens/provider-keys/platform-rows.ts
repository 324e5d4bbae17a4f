/** The rows of the platform's keys. Pure functions. */
import type { Provider, ProviderHealth, Setting } from "../../api/schema.ts";

/** A provider that can be called or for which keys can be stored. */
export type ProviderName = Pick<Provider, "slug" | "name" | "models" | "byokEnabled">;

/** A platform key: its name, its source, and its health. */
export interface PlatformKey {
  readonly id: string;
  readonly provider: string;
  readonly providerName: string;
  /** The place of the key among those of its provider, from 1. */
  readonly number: number;
  readonly state: ProviderHealth["keys"][number]["state"];
  readonly until: string | null;
  /** The setting that contains the key; null if there is none, as for the sandbox. */
  readonly setting: Setting | null;
  /** The number of models that the provider serves here; null if it is not known. */
  readonly models: number | null;
}

/** Lists the platform keys of all providers, in the order of the providers' health. */
export function listPlatformKeys(
  health: readonly Pick<ProviderHealth, "provider" | "name" | "keys">[],
  settings: readonly Setting[],
  providers: readonly ProviderName[],
): readonly PlatformKey[] {
  return health.flatMap(({ provider, name, keys }) => {
    const setting = findKeySetting(settings, provider);
    const models = providers.find(({ slug }) => slug === provider)?.models ?? null;
    return keys.map(({ id, state, until }, i) => ({
      id,
      provider,
      providerName: name,
      number: i + 1,
      state,
      until,
      setting,
      models,
    }));
  });
}

/** Returns the setting that has a provider's keys: its list of keys, or what stands for it. */
function findKeySetting(settings: readonly Setting[], provider: string): Setting | null {
  const prefix = `providers.${provider}.`;
  const own = settings.filter(({ name, source }) => name.startsWith(prefix) && source !== "default");
  return own.find(({ name }) => name === `${prefix}api_keys`) ?? own[0] ?? null;
}
