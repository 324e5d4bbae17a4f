/** The settings of the configuration in groups, as its schema describes them. Pure functions. */
import { nameField, type Schema, variantsOf } from "../../parts/schema/schema.ts";
import type { text } from "../../text/text.ts";

/** A setting that a form edits as a whole. */
export interface FormSetting {
  readonly path: readonly string[];
  /** The name in people's words, with that of its section: "Per key: requests per minute". */
  readonly title: string;
  readonly schema: Schema;
  readonly needsRestart: boolean;
  /** Whether only the file or the environment can have it. */
  readonly isFileOnly: boolean;
  readonly group: GroupId;
}

export type GroupId = keyof typeof text.settings.groups;

/** The beginnings of the paths of a group. The longest beginning decides. */
const GROUPS: readonly (readonly [GroupId, readonly (readonly string[])[]])[] = [
  ["limits", [["limits"]]],
  ["policy", [["policy"]]],
  ["routing", [["routing"], ["upstream"]]],
  ["timers", [["timers"]]],
  ["storage", [["storage"]]],
  ["responses", [["responses"]]],
  ["alerts", [["webhooks"], ["alerts"]]],
  ["oidc", [["console", "oidc"]]],
  ["console", [["console"]]],
  ["metrics", [["metrics"], ["telemetry"], ["log_level"]]],
  ["catalog", [["catalog"]]],
  ["pricing", [["pricing"], ["billing"]]],
  ["server", [["server"], ["sandbox"]]],
  ["machine", []],
  ["other", []],
];

/** The groups in the order in which they are shown. */
export const GROUP_IDS: readonly GroupId[] = GROUPS.map(([id]) => id);

/** The sections that have a screen of their own. */
export const OWN_SCREENS = {
  providers: "/console/providers",
  guardrails: "/console/guardrails",
  tiers: "/console/routing",
  named_routes: "/console/routing",
} as const;

/** Lists the settings of a schema in its order, without those that have a screen of their own. */
export function listFormSettings(schema: Schema): readonly FormSetting[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    name in OWN_SCREENS ? [] : listBelow(member, [name], { needsRestart: false, isFileOnly: false }),
  );
}

type Marks = Pick<FormSetting, "needsRestart" | "isFileOnly">;

function listBelow(schema: Schema, path: readonly string[], outer: Marks): readonly FormSetting[] {
  const marks = {
    needsRestart: outer.needsRestart || schema.needsRestart === true,
    isFileOnly: outer.isFileOnly || schema.fileOnly === true,
  };
  const { properties } = schema;
  if (properties !== undefined && variantsOf(schema) === null)
    return Object.entries(properties).flatMap(([name, one]) => listBelow(one, [...path, name], marks));
  const named = marks.isFileOnly
    ? ({ group: "machine", title: nameAll(path) } as const)
    : { group: groupOf(path), title: titleOf(path) };
  return [{ path, schema, ...marks, ...named }];
}

function groupOf(path: readonly string[]): GroupId {
  const fits = (beginning: readonly string[]) => beginning.every((part, i) => part === path[i]);
  return GROUPS.find(([, beginnings]) => beginnings.some(fits))?.[0] ?? "other";
}

/** A section directly below a group is part of the title of its settings. */
function titleOf(path: readonly string[]): string {
  const names = path.length === 1 ? path : path.slice(1);
  return nameAll(names[0] === "oidc" ? names.slice(1) : names);
}

/** Returns the names of sections and of a setting in them: "Database: max connections". */
function nameAll(names: readonly string[]): string {
  const [last = "", ...before] = names.map(nameField).reverse();
  if (before.length === 0) return last;
  // "URL" and other abbreviations stay in capitals.
  const isAbbreviation = last.slice(0, 2) === last.slice(0, 2).toUpperCase();
  const name = isAbbreviation ? last : last.charAt(0).toLowerCase() + last.slice(1);
  return `${before.reverse().join(" ")}: ${name}`;
}

/** Returns the settings whose name, description or value has all words of a text. */
export function searchSettings(
  settings: readonly FormSetting[],
  typed: string,
  print: (setting: FormSetting) => string,
): readonly FormSetting[] {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean);
  return settings.filter((setting) => {
    const { path, title, schema } = setting;
    const found = `${path.join(".")} ${title} ${schema.description ?? ""} ${print(setting)}`.toLowerCase();
    return words.every((word) => found.includes(word));
  });
}
