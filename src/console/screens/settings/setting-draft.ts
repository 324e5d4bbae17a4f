/** The changes of settings that are typed and not stored yet. Pure functions. */

import type { ConfigEdit, ConfigPath } from "../../parts/config/config-types.ts";
import { formatPath } from "../../parts/config/read-config.ts";
import type { FormSetting } from "./setting-tree.ts";

/** A changed setting: its value, or null if what is stored is removed. */
type Change = { readonly value: unknown } | null;

/** The changed settings by their paths, as `keyOf` writes them. */
export type Changes = Readonly<Record<string, Change>>;

/** What is typed into the form. */
export interface SettingsDraft {
  readonly changes: Changes;
}

/** Returns a text that identifies a path. */
export function keyOf(path: ConfigPath): string {
  return JSON.stringify(path);
}

/**
 * Returns the changes with a setting set to a value, or with what is stored removed if the value is undefined. A value that equals the stored
 * one is no change.
 */
export function changeSetting(changes: Changes, path: ConfigPath, value: unknown, stored: unknown): Changes {
  const { [keyOf(path)]: _, ...others } = changes;
  if (isSame(value, stored)) return others;
  return { ...others, [keyOf(path)]: value === undefined ? null : { value } };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Returns the edits that make the changes. */
export function toEdits(changes: Changes): readonly ConfigEdit[] {
  return Object.entries(changes).map(([key, change]) => {
    const path = JSON.parse(key) as string[];
    return change === null ? { path, remove: true } : { path, value: change.value };
  });
}

/** Returns whether a change contains a text that is a secret. Such changes are kept in memory only. */
export function hasSecret(changes: Changes, settings: readonly FormSetting[]): boolean {
  return settings.some(
    ({ path, schema }) => changes[keyOf(path)] && JSON.stringify(schema).includes('"secret":true'),
  );
}

/** What the API says about a field. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** The parts of an error of the API that say what is wrong. */
interface Rejection {
  readonly field: string | null;
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Returns what an error of the API says about fields. */
export function readProblems(error: Rejection | null): readonly FieldProblem[] {
  if (error === null) return [];
  const { problems } = error.metadata as { readonly problems?: readonly Partial<FieldProblem>[] };
  const listed = (problems ?? []).flatMap(({ field, message }) =>
    field && message ? [{ field, message: withoutName(message, field) }] : [],
  );
  if (listed.length > 0 || error.field === null) return listed;
  return [{ field: error.field, message: error.message }];
}

/** The name of a field stands beside it already. */
function withoutName(message: string, field: string): string {
  const at = message.indexOf(`${field} `);
  return at < 0 ? message : message.slice(at + field.length + 1);
}

/** Returns what is said about the value at a path; null if nothing. Names of entries may be quoted, and lists have positions. */
export function problemAt(problems: readonly FieldProblem[], path: ConfigPath): string | null {
  const names = [path.join("."), formatPath(path)];
  return problems.find(({ field }) => names.includes(field))?.message ?? null;
}

/** Returns what is said about a setting or about anything in it; null if nothing. */
export function problemWithin(problems: readonly FieldProblem[], path: ConfigPath): string | null {
  const name = path.join(".");
  return problems.find(({ field }) => field === name || field.startsWith(`${name}.`))?.message ?? null;
}
