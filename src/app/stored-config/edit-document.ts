import type { ConfigEdit } from "../../core/stored-config/config-manager.ts";
import type { ConfigDocument } from "../../core/stored-config/config-store.ts";
import { keyOf, listSettingEntries, putSettings, type SettingEntry } from "../config/setting-paths.ts";

/**
 * Returns a document after edits, one after the other. An edit replaces everything at its path and below. A setting that had a value keeps
 * its position, which is the order of guardrails and models.
 */
export function editDocument(document: ConfigDocument, edits: readonly ConfigEdit[]): ConfigDocument {
  const entries = new Map(listSettingEntries(document).map((entry) => [keyOf(entry.path), entry]));
  for (const { path, value } of edits) {
    const added = value === undefined ? [] : listAt(path, value);
    const isWhole = added.length === 1 && added[0]?.path.length === path.length;
    for (const [key, entry] of entries)
      if (isBelow(entry.path, path) && !(isWhole && key === keyOf(path))) entries.delete(key);
    for (const entry of added) entries.set(keyOf(entry.path), entry);
  }
  return putSettings({}, [...entries.values()]);
}

/** Returns the settings of a value that is put at a path. */
function listAt(
  path: readonly string[],
  value: NonNullable<ConfigEdit["value"]> | null,
): readonly SettingEntry[] {
  return listSettingEntries(putSettings({}, [{ path, value }]));
}

/** Whether a path is another one, or below it. */
export function isBelow(path: readonly string[], start: readonly string[]): boolean {
  return start.every((part, at) => path[at] === part);
}
