import { ENTRIES, FILE_ONLY } from "../../core/settings/config-marks.ts";
import type { ConfigDocument, ConfigValue } from "../../core/stored-config/config-store.ts";
import type { ConfigPath } from "./config-error.ts";
import { type ConfigSchema, readSchema, schemasAt } from "./schema-paths.ts";

/**
 * A configuration as a list of settings. A setting is what one source sets as a whole: a value of the schema, an entry of a list whose
 * entries have ids, or an entry of a map. Of two sources, the one with precedence wins setting by setting.
 */

/** The path of a setting. Entries stand by their ids: `["providers", "openai", "models", "openai/gpt-5"]`. */
export type SettingPath = readonly string[];

/** A setting of a configuration. */
export interface SettingEntry {
  readonly path: SettingPath;
  readonly value: ConfigValue;
}

type Fields = { readonly [name: string]: ConfigValue };

/** Returns the settings of a configuration, in its order. A value that does not fit the schema is a setting as a whole. */
export function listSettingEntries(document: ConfigDocument): readonly SettingEntry[] {
  return list(document, readSchema(), []);
}

function list(value: ConfigValue, schema: ConfigSchema | undefined, path: SettingPath): SettingEntry[] {
  const parts = splitEntries(value, schema);
  if (parts === null) return [{ path, value }];
  if (parts.length === 0 && schema?.[ENTRIES] === undefined && path.length > 0) return [{ path, value }];
  return parts.flatMap(({ name, value: part, schema: ofPart, isSetting }) =>
    isSetting ? [{ path: [...path, name], value: part }] : list(part, ofPart, [...path, name]),
  );
}

interface Part {
  readonly name: string;
  readonly value: ConfigValue;
  readonly schema: ConfigSchema | undefined;
  /** Whether the part is a setting as a whole. */
  readonly isSetting: boolean;
}

/** Returns the parts of a section, a map or a list; null for a value that is set as a whole. */
function splitEntries(value: ConfigValue, schema: ConfigSchema | undefined): readonly Part[] | null {
  const by = schema?.[ENTRIES];
  if (Array.isArray(value)) {
    if (by === undefined) return null;
    const ids = value.map((item) => idOf(item, by));
    if (ids.includes(null) || new Set(ids).size !== ids.length) return null;
    return value.map((item, index) => part(ids[index] as string, item as ConfigValue, undefined, true));
  }
  if (typeof value !== "object" || value === null) return null;
  const { properties, additionalProperties } = schema ?? {};
  const entries = Object.entries(value as Fields);
  if (by === "key") return entries.map(([name, member]) => part(name, member, undefined, true));
  if (by === "section") {
    const member = typeof additionalProperties === "object" ? additionalProperties : undefined;
    return entries.map(([name, one]) => part(name, one, member, false));
  }
  if (properties === undefined) return null;
  return entries.map(([name, member]) => part(name, member, properties[name], false));
}

function part(name: string, value: ConfigValue, schema: ConfigSchema | undefined, isSetting: boolean): Part {
  return { name, value, schema, isSetting };
}

function idOf(item: unknown, by: string): string | null {
  if (typeof item !== "object" || item === null || !Object.hasOwn(item, by)) return null;
  const id = (item as Readonly<Record<string, unknown>>)[by];
  return typeof id === "string" ? id : null;
}

/**
 * Returns a configuration with settings added or replaced. Everything else stays as it is, also where it does not fit the schema: a setting
 * whose section has another type there is left out.
 */
export function putSettings(document: ConfigDocument, settings: readonly SettingEntry[]): ConfigDocument {
  const result = structuredClone(document);
  const positions: Positions = new Map();
  for (const { path, value } of settings) put(result, { path, value: structuredClone(value) }, positions);
  return result;
}

/** Returns a configuration without some settings, and without the sections that are empty then. */
export function removeSettings(document: ConfigDocument, paths: readonly SettingPath[]): ConfigDocument {
  const removed = new Set(paths.map(keyOf));
  return putSettings(
    {},
    listSettingEntries(document).filter(({ path }) => !removed.has(keyOf(path))),
  );
}

/** Returns a text that identifies a path. */
export function keyOf(path: SettingPath): string {
  return JSON.stringify(path);
}

/** Returns a path as messages name it: `providers.openai.base_url`. A name with other characters than those of an identifier is quoted. */
export function formatPath(path: SettingPath): string {
  return path.map((part) => (/^[\w-]+$/.test(part) ? part : JSON.stringify(part))).join(".");
}

/** The positions of the entries of lists, by their ids, while settings are put into a configuration. */
type Positions = Map<unknown[], Map<string, number>>;

function put(target: Fields, { path, value }: SettingEntry, positions: Positions): void {
  let at = target as Record<string, unknown>;
  for (const [depth, name] of path.entries()) {
    const rest = path.length - 1 - depth;
    const by = entryIdAt(path.slice(0, depth + 1));
    const current = Object.hasOwn(at, name) ? at[name] : undefined;
    if (by !== null && rest === 1) {
      const items = current ?? [];
      if (!Array.isArray(items)) return;
      putItem(items, by, { id: path.at(-1) as string, value }, positions);
      define(at, name, items);
      return;
    }
    if (rest === 0) {
      // A section without settings says only that it exists.
      if (current === undefined || !isEmptySection(value)) define(at, name, value);
      return;
    }
    const next = current ?? {};
    if (typeof next !== "object" || next === null || Array.isArray(next)) return;
    define(at, name, next);
    at = next as Record<string, unknown>;
  }
}

function putItem(
  items: unknown[],
  by: string,
  { id, value }: { readonly id: string; readonly value: ConfigValue },
  positions: Positions,
): void {
  const known = positions.get(items) ?? new Map(items.map((item, index) => [idOf(item, by) ?? "", index]));
  positions.set(items, known);
  const index = known.get(id) ?? items.length;
  items[index] = value;
  known.set(id, index);
}

function isEmptySection(value: ConfigValue): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** Sets a member of its own, even one that is named like a member of the prototype. */
function define(target: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Returns whether only the configuration file can have a setting. */
export function isFileOnly(path: SettingPath): boolean {
  return path.some((_, at) => schemasAt(path.slice(0, at + 1)).some((schema) => schema[FILE_ONLY]));
}

/** Returns the path of a value in a configuration: with the positions of entries instead of their ids. */
export function toConfigPath(path: readonly PropertyKey[], document: unknown): ConfigPath {
  const located: PropertyKey[] = [];
  let at = document;
  for (const name of path) {
    const by = entryIdAt(located);
    const index = by === null || !Array.isArray(at) ? -1 : at.findIndex((item) => idOf(item, by) === name);
    const part = index < 0 ? name : index;
    located.push(part);
    at = (at as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[part];
  }
  return located;
}

/** Returns a function that tells whether a path in a configuration belongs to one of the settings. */
export function createPathTest(
  settings: readonly SettingEntry[],
  document: unknown,
): (path: ConfigPath) => boolean {
  const keys = new Set(settings.map(({ path }) => keyOf(path)));
  return (path) => {
    let at = document;
    const named: string[] = [];
    for (const part of path) {
      const by = entryIdAt(path.slice(0, named.length));
      at = (at as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[part];
      named.push((by === null ? null : idOf(at, by)) ?? String(part));
      if (keys.has(keyOf(named))) return true;
    }
    return false;
  };
}

/** Returns the member that identifies the entries of the list at a path; null if it is no such list. */
function entryIdAt(path: ConfigPath): string | null {
  return schemasAt(path).find(({ type }) => type === "array")?.[ENTRIES] ?? null;
}
