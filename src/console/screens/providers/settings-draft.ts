/** The settings of a provider in a form. Pure functions. */

import type { ConfigEdit, LoadedConfig } from "../../parts/config/config-types.ts";
import { storedAt } from "../../parts/config/read-config.ts";
import { pathOf } from "./provider-rows.ts";

/** A header that is added to requests. An empty value keeps the stored one. */
export interface HeaderDraft {
  readonly name: string;
  readonly value: string;
  /** The stored value, a reference to a secret; null for a new header. */
  readonly stored: string | null;
}

/** The settings as they are typed. An empty text stands for no setting. */
export interface SettingsDraft {
  readonly base_url: string;
  readonly parts: Readonly<Record<string, string>>;
  readonly headers: readonly HeaderDraft[];
  readonly trains_on_data: string;
  readonly zero_retention: string;
  readonly takes: string;
  readonly send: string;
}

/** The settings of a form, in its order. */
export const SETTING_NAMES = [
  "base_url",
  "parts",
  "headers",
  "trains_on_data",
  "zero_retention",
  "takes",
  "send",
] as const;
export type SettingName = (typeof SETTING_NAMES)[number];

/** Returns the stored settings of a provider as they are typed. */
export function readDraft(slug: string, config: LoadedConfig): SettingsDraft {
  const stored = (name: string) => storedAt(config, pathOf(slug, name));
  const headers = Object.entries((stored("headers") ?? {}) as Readonly<Record<string, string>>);
  return {
    base_url: typeText(stored("base_url")),
    parts: (stored("parts") ?? {}) as Readonly<Record<string, string>>,
    headers: headers.map(([name, value]) => ({ name, value: "", stored: value })),
    trains_on_data: typeText(stored("trains_on_data")),
    zero_retention: typeText(stored("zero_retention")),
    takes: typeJson(stored("takes")),
    send: typeJson(stored("send")),
  };
}

function typeText(value: unknown): string {
  return value === undefined ? "" : String(value);
}

function typeJson(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

/** Whether a text is JSON, or empty. */
export function isJson(typed: string): boolean {
  try {
    if (typed.trim() !== "") JSON.parse(typed);
    return true;
  } catch {
    return false;
  }
}

/** Returns the edits that make the stored settings equal to the typed ones. */
export function listEdits(slug: string, before: SettingsDraft, after: SettingsDraft): readonly ConfigEdit[] {
  return SETTING_NAMES.flatMap((name): ConfigEdit[] => {
    if (JSON.stringify(before[name]) === JSON.stringify(after[name])) return [];
    const value = toValue(name, after);
    const path = pathOf(slug, name);
    return [value === undefined ? { path, remove: true } : { path, value }];
  });
}

/** Returns the value of a setting; undefined if there is none. */
function toValue(name: SettingName, draft: SettingsDraft): unknown {
  if (name === "parts") return fill(Object.entries(draft.parts).map(([part, typed]) => [part, typed.trim()]));
  if (name === "headers")
    return fill(draft.headers.map((header) => [header.name.trim(), header.value || (header.stored ?? "")]));
  const typed = draft[name].trim();
  if (typed === "") return undefined;
  if (name === "base_url") return typed;
  return JSON.parse(typed) as unknown;
}

/** Returns the entries with a name and a value; undefined if there are none. */
function fill(entries: readonly (readonly [string, string])[]): object | undefined {
  const filled = entries.filter(([name, value]) => name !== "" && value !== "");
  return filled.length === 0 ? undefined : Object.fromEntries(filled);
}
