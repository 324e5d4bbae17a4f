import type { ProviderRecord } from "../../core/catalog/records/records.ts";
import type { ExportedConfig } from "../../core/stored-config/config-manager.ts";
import type { ConfigDocument, ConfigValue } from "../../core/stored-config/config-store.ts";
import { originsOf } from "../config/config-origins.ts";
import type { Config } from "../config/config-schema.ts";
import { listSecretIds, mayBeSecret } from "../config/expand-references.ts";
import { type Environment, readFirst } from "../config/read-provider-keys.ts";
import {
  formatPath,
  isFileOnly,
  keyOf,
  listSettingEntries,
  putSettings,
  type SettingEntry,
  toConfigPath,
} from "../config/setting-paths.ts";
import { isSecretAt, nameSecret, replaceTexts } from "./seal-secrets.ts";

/** The sources of an export. */
interface ExportSources {
  /** The configuration in force. */
  readonly config: Config;
  /** The stored document. */
  readonly document: ConfigDocument;
  readonly environment: Environment;
  /** The providers whose variables are exported. */
  readonly providers: readonly ProviderRecord[];
}

/**
 * Returns the configuration of this gateway as one document: what is stored, what its file sets, and what its environment sets. Secrets are
 * references to stored secrets, with names for those that are not stored yet.
 */
export function exportConfig(sources: ExportSources): ExportedConfig {
  const byKey = new Map<string, SettingEntry>();
  const layers = [
    listSettingEntries(sources.document),
    listProviderVariables(sources),
    listFile(sources),
    listVariables(sources),
  ];
  for (const entry of layers.flat()) byKey.set(keyOf(entry.path), entry);
  const all = [...byKey.values()];
  const document = putSettings(
    {},
    all.filter(({ path }) => !isFileOnly(path)),
  );
  return {
    document,
    secrets: [...new Set(listSecretIds(document))].sort(),
    leftOut: all.flatMap(({ path }) => (isFileOnly(path) ? formatPath(path) : [])),
  };
}

/** Returns the settings of the file, without their secrets. */
function listFile({ config }: ExportSources): readonly SettingEntry[] {
  const origins = originsOf(config);
  if (origins === null) return [];
  const { raw, written, referring } = origins.source;
  const secretPaths = new Set(
    referring
      .filter(({ references }) => mayBeSecret(references))
      .map(({ path }) => JSON.stringify(path.map(String))),
  );
  const expanded = new Map(listSettingEntries(written).map(({ path, value }) => [keyOf(path), value]));
  return listSettingEntries(raw).map(({ path }) => {
    const start = toConfigPath(path, written);
    const value = replaceTexts(expanded.get(keyOf(path)) ?? null, start, (text, at) =>
      isSecretAt(at) || secretPaths.has(JSON.stringify(at.map(String)))
        ? referTo(nameSecret(at.map(String)))
        : escapeReferences(text),
    );
    return { path, value };
  });
}

/** Returns the settings that the gateway's own variables set. */
function listVariables({ config }: ExportSources): readonly SettingEntry[] {
  return [...(originsOf(config)?.variableAt ?? [])].flatMap(([name, variable]) => {
    const path = name.split(".");
    if (isFileOnly(path)) return { path, value: null };
    if (isSecretAt(path)) return { path, value: referTo(nameSecret([variable])) };
    let value: unknown = config;
    for (const part of path) value = (value as Readonly<Record<string, unknown>> | undefined)?.[part];
    return value === undefined ? [] : { path, value: value as ConfigValue };
  });
}

/** Returns the settings of providers that their own variables set. */
function listProviderVariables({ environment, providers }: ExportSources): readonly SettingEntry[] {
  return providers.flatMap(({ slug, env, parts = {} }) => {
    const key = env.apiKey.find((name) => readFirst(environment, [name]) !== null);
    const url = readFirst(environment, [env.baseUrl, ...(env.baseUrlAliases ?? [])]);
    const set = Object.entries(parts).flatMap(([part, { env: names }]) => {
      const value = readFirst(environment, names);
      return value === null ? [] : [[part, value] as const];
    });
    const put = (field: string, value: ConfigValue): SettingEntry => ({
      path: ["providers", slug, field],
      value,
    });
    return [
      ...(key === undefined ? [] : [put("api_keys", [referTo(nameSecret([key]))])]),
      ...(url === null ? [] : [put("base_url", url)]),
      ...(key === undefined || set.length === 0 ? [] : [put("parts", Object.fromEntries(set))]),
    ];
  });
}

function referTo(id: string): string {
  return `\${secret:${id}}`;
}

/** Writes a text so that it is read back as it is. */
function escapeReferences(text: string): string {
  return text.replaceAll("${", "$$${");
}
