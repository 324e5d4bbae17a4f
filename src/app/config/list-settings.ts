import type { ProviderRecord } from "../../core/catalog/records/records.ts";
import type { Setting } from "../../core/settings/setting.ts";
import { type ConfigOrigins, originsOf } from "./config-origins.ts";
import type { Config } from "./config-schema.ts";
import { needsRestart } from "./diff-configs.ts";
import { formatReference, mayBeSecret, type Reference } from "./expand-references.ts";
import type { LiveConfig } from "./live-config.ts";
import { isSecretSetting, MASK, maskAddress, maskConfig } from "./print-config.ts";
import { type Environment, readFirst } from "./read-provider-keys.ts";
import { type ConfigSchema, readSchema } from "./schema-paths.ts";

/** The sources of the list of settings. */
interface SettingSources {
  readonly live: Pick<LiveConfig, "current" | "awaitingRestart">;
  readonly environment: Environment;
  /** The providers whose variables are looked up. */
  readonly providers: readonly ProviderRecord[];
}

/**
 * Lists the settings in force in the order of the schema, with their origins. Secrets are masked. For providers, lists only the fields that
 * the configuration or a variable of the provider sets.
 */
export function listSettings(sources: SettingSources): readonly Setting[] {
  const awaiting = new Set(sources.live.awaitingRestart);
  return listAll(sources).map((setting) => ({
    ...setting,
    needsRestart: needsRestart(setting.name.split(".")),
    awaitsRestart: awaiting.has(setting.name),
  }));
}

/** A setting without the facts about changing it. */
type Listed = Omit<Setting, "needsRestart" | "awaitsRestart">;

function listAll({ live, environment, providers }: SettingSources): readonly Listed[] {
  const config = live.current();
  const masked = maskConfig(config);
  const origins = originsOf(config);
  const { properties = {} } = readSchema();
  const { providers: ofProviders, ...others } = properties;
  const field = providerSchema(ofProviders);
  return [
    ...Object.entries(others).flatMap(([name, schema]) =>
      listMembers({ path: [name], schema, value: masked[name] }, origins),
    ),
    ...Object.entries(masked["providers"] as Record<string, Record<string, unknown>>).flatMap(
      ([slug, values]) =>
        Object.entries(values).flatMap(([name, value]) => {
          const schema = field.properties?.[name] ?? {};
          return listMembers({ path: ["providers", slug, name], schema, value }, origins);
        }),
    ),
    ...providers.flatMap((record) => listVariables(record, { config, environment, field })),
  ];
}

function providerSchema(schema: ConfigSchema | undefined): ConfigSchema {
  const { additionalProperties } = schema ?? {};
  return typeof additionalProperties === "object" ? additionalProperties : {};
}

interface Member {
  readonly path: readonly string[];
  readonly schema: ConfigSchema;
  readonly value: unknown;
}

/** Lists a setting, or the settings of a section. */
function listMembers({ path, schema, value }: Member, origins: ConfigOrigins | null): readonly Listed[] {
  const { properties } = schema;
  if (properties === undefined) return [describe({ path, schema, value }, origins)];
  const values = (value ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(properties).flatMap(([name, member]) =>
    listMembers({ path: [...path, name], schema: member, value: values[name] }, origins),
  );
}

function describe({ path, schema, value }: Member, origins: ConfigOrigins | null): Listed {
  const name = path.join(".");
  const origin = findOrigin(path, origins);
  const hasSecret = origins !== null && mayBeSecret(findReferences(path, origins));
  return {
    name,
    value: value ?? null,
    ...origin,
    isSecret: isSecretSetting(name) || (origin.source !== "environment" && hasSecret),
    description: schema.description ?? "",
  };
}

type Origin = Pick<Setting, "source" | "file" | "line" | "variable" | "references">;

const DEFAULT: Origin = { source: "default", file: null, line: null, variable: null, references: [] };

function findOrigin(path: readonly string[], origins: ConfigOrigins | null): Origin {
  if (origins === null) return DEFAULT;
  const variable = origins.variableAt.get(path.join("."));
  if (variable !== undefined) return { ...DEFAULT, source: "environment", variable };
  const references = findReferences(path, origins).map(formatReference);
  if (isWritten(origins.source.written, path))
    return {
      ...DEFAULT,
      source: "file",
      file: origins.source.file,
      line: origins.source.placeOf(path).line,
      references,
    };
  return isStored(path, origins) ? { ...DEFAULT, source: "database", references } : DEFAULT;
}

/** Returns the references in the value at a path, and in its members. */
function findReferences(path: readonly string[], { referring }: ConfigOrigins): readonly Reference[] {
  return referring
    .filter((value) => path.every((part, at) => String(value.path[at]) === part))
    .flatMap(({ references }) => references);
}

function isStored(path: readonly string[], { stored }: ConfigOrigins): boolean {
  return stored?.settings.some((setting) => path.every((part, at) => setting.path[at] === part)) === true;
}

function isWritten(value: unknown, path: readonly string[]): boolean {
  let at = value;
  for (const part of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return false;
    at = (at as Readonly<Record<string, unknown>>)[part];
  }
  return at !== undefined;
}

/** Lists the settings of a provider that its environment variables set, because the configuration does not. */
function listVariables(
  { slug, env, parts = {} }: ProviderRecord,
  {
    config,
    environment,
    field,
  }: Pick<SettingSources, "environment"> & { readonly config: Config; readonly field: ConfigSchema },
): readonly Listed[] {
  const { api_keys, base_url, parts: configured } = config.providers[slug] ?? {};
  const find = (names: readonly string[]) => names.find((name) => readFirst(environment, [name]) !== null);
  const setting = (path: string, variable: string | undefined): readonly Listed[] => {
    if (variable === undefined) return [];
    const name = `providers.${slug}.${path}`;
    const value = isSecretSetting(name) ? [MASK] : maskAddress(readFirst(environment, [variable]) ?? "");
    const description = field.properties?.[path.split(".")[0] as string]?.description ?? "";
    const origin = { ...DEFAULT, source: "environment", variable } as const;
    return [{ name, value, ...origin, isSecret: isSecretSetting(name), description }];
  };
  const urls = [env.baseUrl, ...(env.baseUrlAliases ?? [])];
  return [
    ...(api_keys === undefined ? setting("api_keys", find(env.apiKey)) : []),
    ...(base_url === undefined ? setting("base_url", find(urls)) : []),
    ...Object.entries(parts).flatMap(([part, { env: names }]) =>
      configured?.[part] === undefined ? setting(`parts.${part}`, find(names)) : [],
    ),
  ];
}
