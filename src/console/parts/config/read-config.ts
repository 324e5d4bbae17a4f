/** What a loaded configuration says about its settings. Pure functions. */
import type { ConfigSecret, PinnedSetting } from "../../api/schema.ts";
import type { ConfigPath, LoadedConfig } from "./config-types.ts";

/** Returns the stored value at a path; undefined if nothing is stored there. */
export function storedAt({ stored }: LoadedConfig, path: ConfigPath): unknown {
  return valueAt(stored.document, path);
}

/** The members that identify the entries of lists. */
const ENTRY_IDS = ["id", "name"] as const;

function valueAt(document: unknown, path: ConfigPath): unknown {
  return path.reduce<unknown>((at, part) => {
    if (Array.isArray(at)) return at.find((item) => ENTRY_IDS.some((id) => item?.[id] === part));
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return undefined;
    return (at as Readonly<Record<string, unknown>>)[part];
  }, document);
}

/** Returns the setting of a file or variable that takes precedence at a path: of the setting itself, or of an entry that contains it. */
export function findPinned({ stored }: LoadedConfig, path: ConfigPath): PinnedSetting | null {
  return stored.pinned.find((pinned) => startsWith(path, pinned.path)) ?? null;
}

/** Returns the settings of files and variables at a path and below. */
export function listPinned({ stored }: LoadedConfig, path: ConfigPath): readonly PinnedSetting[] {
  return stored.pinned.filter((pinned) => startsWith(pinned.path, path));
}

function startsWith(path: ConfigPath, beginning: ConfigPath): boolean {
  return beginning.length <= path.length && beginning.every((part, at) => part === path[at]);
}

/** Returns a path as the API names it: `providers.openai.base_url`. */
export function formatPath(path: ConfigPath): string {
  return path.map((part) => (/^[\w-]+$/.test(part) ? part : JSON.stringify(part))).join(".");
}

/** Returns the value in force at a path; undefined if there is none, or only parts of it are listed. */
export function inForceAt({ settings }: LoadedConfig, path: ConfigPath): unknown {
  const name = formatPath(path);
  return settings.find((setting) => setting.name === name)?.value ?? undefined;
}

/** Returns the id of the secret that a stored value refers to; null if it is no reference. */
export function secretIdOf(value: unknown): string | null {
  return typeof value === "string" ? (/^\$\{secret:([^}]+)\}$/.exec(value)?.[1] ?? null) : null;
}

/** Returns the secret that a stored value refers to; null if it refers to none. */
export function findSecret({ stored }: LoadedConfig, value: unknown): ConfigSecret | null {
  const id = secretIdOf(value);
  return stored.secrets.find((secret) => secret.id === id) ?? null;
}
