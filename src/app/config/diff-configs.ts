import { isDeepStrictEqual } from "node:util";
import { NEEDS_RESTART } from "../../core/settings/config-marks.ts";
import type { ConfigChange } from "../../core/settings/config-reload.ts";
import { originsOf, withOrigins } from "./config-origins.ts";
import type { Config } from "./config-schema.ts";
import { isSecretSetting, MASK, maskConfig } from "./print-config.ts";
import { listPaths, readSchema, schemasAt } from "./schema-paths.ts";

type Path = readonly string[];

/** Returns whether a new value of the setting at a path is in force only after a restart. */
export function needsRestart(path: Path): boolean {
  return path.some((_, at) => schemasAt(path.slice(0, at + 1)).some((schema) => schema[NEEDS_RESTART]));
}

/** Lists the settings that differ between the configuration in force and another one, with secrets masked. */
export function diffConfigs(before: Config, after: Config): readonly ConfigChange[] {
  const [maskedBefore, maskedAfter] = [maskConfig(before), maskConfig(after)];
  return settingsOf(before, after)
    .filter((path) => !isDeepStrictEqual(valueAt(before, path), valueAt(after, path)))
    .map((path) => {
      const name = path.join(".");
      const isHidden = (config: Config, masked: unknown) =>
        JSON.stringify(valueAt(masked, path))?.includes(MASK) === true && valueAt(config, path) !== undefined;
      return {
        name,
        before: valueAt(maskedBefore, path) ?? null,
        after: valueAt(maskedAfter, path) ?? null,
        isSecret: isSecretSetting(name) || isHidden(before, maskedBefore) || isHidden(after, maskedAfter),
        needsRestart: needsRestart(path),
      };
    });
}

/** Lists the paths of all settings: the leaves of the schema, including those of each provider. */
function settingsOf(...configs: readonly Config[]): readonly Path[] {
  const { properties: { providers: _, ...others } = {} } = readSchema();
  const all = listPaths({ properties: others });
  const isSection = (path: Path) => all.some((other) => startsWith(other, path));
  const slugs = new Set(configs.flatMap(({ providers }) => Object.keys(providers)));
  const fields = Object.keys(schemasAt(["providers", "any"])[0]?.properties ?? {});
  return [
    ...all.filter((path) => !isSection(path)),
    ...[...slugs].flatMap((slug) => fields.map((field) => ["providers", slug, field])),
  ];
}

function startsWith(path: Path, start: Path): boolean {
  return path.length > start.length && start.every((part, at) => part === path[at]);
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[part];
  }
  return at;
}

/** Returns the configuration that a reload applies: that of the file, with the values of `before` for settings that need a restart. */
export function keepUntilRestart(before: Config, after: Config): Config {
  const kept = withOrigins(structuredClone(after), originsOf(after));
  for (const { name, needsRestart: isKept } of diffConfigs(before, after)) {
    const path = name.split(".");
    if (isKept) putAt(kept, path, structuredClone(valueAt(before, path)));
  }
  return kept;
}

function putAt(target: Record<string, unknown>, path: Path, value: unknown): void {
  let section = target;
  for (const part of path.slice(0, -1)) {
    section[part] ??= {};
    section = section[part] as Record<string, unknown>;
  }
  const last = path.at(-1) as string;
  if (value === undefined) delete section[last];
  else section[last] = value;
}
