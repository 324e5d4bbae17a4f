/** What the screens about providers show. Pure functions. */
import type { ConfigProvider, ConfigSecret, PinnedSetting, ProviderHealth } from "../../api/schema.ts";
import type { LoadedConfig } from "../../parts/config/config-types.ts";
import { findPinned, findSecret, inForceAt, listPinned, storedAt } from "../../parts/config/read-config.ts";
import { text } from "../../text/text.ts";

/** What the API says about all providers. */
export interface ProviderLists {
  readonly setups: readonly ConfigProvider[];
  readonly health: readonly ProviderHealth[];
  /** The API formats that a host can have, the default first. */
  readonly hostFormats: readonly string[];
}

/** A provider that is configured, or built in. */
export interface ProviderRow {
  readonly slug: string;
  readonly name: string;
  readonly isEnabled: boolean;
  /** Null if it is not called at all. */
  readonly health: ProviderHealth | null;
  readonly models: number;
  /** Where it is set: `gateway.yaml:12`, variables, or this console. */
  readonly sources: readonly string[];
}

/** Returns the path of a provider's settings, or of a part of them. */
export function pathOf(slug: string, ...rest: readonly string[]): readonly string[] {
  return ["providers", slug, ...rest];
}

/** Lists the providers that are configured or have a key, by name. */
export function listProviderRows(config: LoadedConfig, lists: ProviderLists): readonly ProviderRow[] {
  const stored = Object.keys((storedAt(config, ["providers"]) as object | undefined) ?? {});
  const pinned = listPinned(config, ["providers"]).flatMap(({ path }) => path[1] ?? []);
  const called = lists.health.filter(({ keys }) => keys.length > 0).map(({ provider }) => provider);
  return [...new Set([...called, ...stored, ...pinned])]
    .map((slug) => toRow(slug, config, lists))
    .toSorted((a, b) => a.name.localeCompare(b.name, "en"));
}

/** Returns one provider as a row. */
export function toRow(slug: string, config: LoadedConfig, { setups, health }: ProviderLists): ProviderRow {
  const setup = setups.find((one) => one.slug === slug);
  const storedName = storedAt(config, pathOf(slug, "name"));
  return {
    slug,
    name: setup?.name ?? (typeof storedName === "string" ? storedName : slug),
    isEnabled: inForceAt(config, pathOf(slug, "enabled")) !== false,
    health: health.find(({ provider }) => provider === slug) ?? null,
    models: setup?.models ?? 0,
    sources: listSources(slug, config),
  };
}

function listSources(slug: string, { settings, stored }: LoadedConfig): readonly string[] {
  const own = settings.filter(
    ({ name, source }) => name.startsWith(`providers.${slug}.`) && source !== "default",
  );
  const places = own.flatMap(({ source, file, line, variable }) => {
    if (source === "database") return text.providers.stored;
    return variable ?? (file === null ? [] : printPlace(file, line));
  });
  // A provider that is disabled has no settings in force.
  const isStored = Object.hasOwn((stored.document["providers"] as object | undefined) ?? {}, slug);
  return [...new Set(isStored ? [text.providers.stored, ...places] : places)];
}

/** Returns file and line without the folder: `gateway.yaml:12`. */
export function printPlace(file: string, line: number | null): string {
  const name = file.split("/").at(-1) ?? file;
  return line === null ? name : `${name}:${line}`;
}

/** A platform key of a provider, as its page shows it. */
export interface KeyRow {
  /** Its id in the configuration, or its place in the list if it has none: `0`. */
  readonly id: string;
  /** The path of the key's setting; null if the whole list is one setting. */
  readonly path: readonly string[] | null;
  /** The stored secret; null if it is not stored here. */
  readonly secret: ConfigSecret | null;
  readonly weight: number;
  readonly isEnabled: boolean;
  readonly state: ProviderHealth["keys"][number]["state"] | "disabled";
  /** What sets it, if not this console. */
  readonly pinned: PinnedSetting | null;
  readonly variable: string | null;
}

/** A key with an id in the configuration. Its secret is masked or a reference. */
export interface NamedKey {
  readonly id: string;
  readonly key: string;
  readonly weight?: number;
  readonly enabled?: boolean;
}

/** Lists the keys of a provider: those of its settings, with their health. */
export function listKeyRows(
  slug: string,
  config: LoadedConfig,
  health: ProviderHealth | null,
): readonly KeyRow[] {
  const path = pathOf(slug, "api_keys");
  const setting = config.settings.find(({ name }) => name === path.join("."));
  const stored = (storedAt(config, path) as readonly (string | NamedKey)[] | undefined) ?? [];
  const inForce = (setting?.value as readonly (string | NamedKey)[] | null | undefined) ?? stored;
  return inForce.map((key, index) => {
    const id = typeof key === "string" ? String(index) : key.id;
    const own = stored.find((one, at) => (typeof one === "string" ? at === index : one.id === id));
    const isEnabled = typeof key === "string" || key.enabled !== false;
    return {
      id,
      path: typeof key === "string" ? null : [...path, id],
      secret: own === undefined ? null : findSecret(config, typeof own === "string" ? own : own.key),
      weight: typeof key === "string" ? 1 : (key.weight ?? 1),
      isEnabled,
      state: isEnabled ? stateOf(`${slug}#${id}`, health) : "disabled",
      pinned: findPinned(config, typeof key === "string" ? path : [...path, id]),
      variable: setting?.variable ?? null,
    };
  });
}

/** A key whose secret was replaced has a number after its name: `openai#main.2`. */
function stateOf(label: string, health: ProviderHealth | null): KeyRow["state"] {
  const found = health?.keys.find(({ id }) => id === label || id.startsWith(`${label}.`));
  return found?.state ?? "ok";
}

/** Filters the providers that can be added by the words of a text, by name or slug. */
export function findSetups(setups: readonly ConfigProvider[], typed: string): readonly ConfigProvider[] {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean);
  return setups.filter(({ name, slug, is_own_host }) => {
    const haystack = `${name} ${slug}`.toLowerCase();
    return !is_own_host && words.every((word) => haystack.includes(word));
  });
}

/** Returns the parts that a provider's address needs and that have no default. */
export function isPartNeeded(
  { base_url }: Pick<ConfigProvider, "base_url">,
  part: { name: string; default: string | null },
): boolean {
  return part.default === null && (base_url?.includes(`{${part.name}}`) ?? false);
}

/** Returns a slug for a name: `LM Studio` is `lm-studio`. */
export function toSlug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}
