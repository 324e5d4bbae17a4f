import { z } from "zod";
import type { ENTRIES, FILE_ONLY, NEEDS_RESTART, SECRET } from "../../core/settings/config-marks.ts";
import type { ConfigPath } from "./config-error.ts";
import { configSchema } from "./config-schema.ts";

/** The part of JSON Schema that describes the configuration. */
export interface ConfigSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly [NEEDS_RESTART]?: boolean;
  readonly [FILE_ONLY]?: boolean;
  readonly [SECRET]?: boolean;
  readonly [ENTRIES]?: string;
  readonly properties?: Readonly<Record<string, ConfigSchema>>;
  readonly additionalProperties?: ConfigSchema | boolean;
  readonly items?: ConfigSchema;
  readonly anyOf?: readonly ConfigSchema[];
  readonly oneOf?: readonly ConfigSchema[];
}

let known: ConfigSchema | null = null;

/** Returns the schema of the configuration. */
export function readSchema(): ConfigSchema {
  known ??= z.toJSONSchema(configSchema, { io: "input" }) as ConfigSchema;
  return known;
}

/** Returns the schema of the configuration as JSON Schema, for forms. */
export function readJsonSchema(): Readonly<Record<string, unknown>> {
  return readSchema() as Readonly<Record<string, unknown>>;
}

/** Returns the schemas that the value at a path may have: several if there are alternatives, none for an unknown path. */
export function schemasAt(path: ConfigPath): readonly ConfigSchema[] {
  let found = alternativesOf(readSchema());
  for (const part of path) found = found.flatMap((schema) => memberOf(schema, part));
  return found;
}

function memberOf(
  { properties = {}, additionalProperties, items }: ConfigSchema,
  part: PropertyKey,
): ConfigSchema[] {
  const name = String(part);
  if (Object.hasOwn(properties, name)) return alternativesOf(properties[name] as ConfigSchema);
  if (typeof additionalProperties === "object") return alternativesOf(additionalProperties);
  return items === undefined ? [] : alternativesOf(items);
}

function alternativesOf(schema: ConfigSchema): ConfigSchema[] {
  const { anyOf, oneOf } = schema;
  const alternatives = anyOf ?? oneOf;
  return alternatives === undefined ? [schema] : alternatives.flatMap(alternativesOf);
}

/** Returns the keys that the section at a path may have. */
export function keysAt(path: ConfigPath): readonly string[] {
  return [...new Set(schemasAt(path).flatMap(({ properties = {} }) => Object.keys(properties)))];
}

/** Lists the paths of all keys, without those below names that the operator chooses. */
export function listPaths(
  schema = readSchema(),
  path: readonly string[] = [],
): readonly (readonly string[])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    [...path, name],
    ...listPaths(member, [...path, name]),
  ]);
}
