import { existsSync, readFileSync, statSync } from "node:fs";
import type { z } from "zod";
import type { ConfigDocument } from "../../core/stored-config/config-store.ts";
import { parseDatabaseUrl, withPassword } from "../../storage/postgres/connection/database-url.ts";
import { ConfigError, type ConfigPath, type ConfigPlace, type ConfigProblem } from "./config-error.ts";
import { type ConfigOrigins, originsOf, withOrigins } from "./config-origins.ts";
import { type Config, configSchema } from "./config-schema.ts";
import type { FileConfig, StoredConfig } from "./config-sources.ts";
import {
  applyEnvironment,
  CONFIG_VARIABLE,
  REFERRING_VARIABLES,
  variableProblem,
} from "./environment-variables.ts";
import { expandReferences, type ReferringValue, readBounded } from "./expand-references.ts";
import { locateDataDir } from "./locate-data-dir.ts";
import type { Environment } from "./read-provider-keys.ts";
import {
  createPathTest,
  keyOf,
  listSettingEntries,
  putSettings,
  type SettingEntry,
  toConfigPath,
} from "./setting-paths.ts";
import { describeUnknownKey } from "./suggest-key.ts";
import { parseYaml, YAML_BOUNDS } from "./yaml-source.ts";

export { ConfigError } from "./config-error.ts";

const DEFAULT_FILE = "gateway.yaml";

/**
 * Reads `gateway.yaml`, or the file that `GATEWAY_CONFIG` names, and the environment.
 * @throws ConfigError
 */
export function loadConfig(environment: Environment): Config {
  const { source, file } = readConfigFile(environment);
  return checkConfig(source, file, environment);
}

/**
 * Reads the configuration file that the environment names, without checking its values.
 * @throws ConfigError if it cannot be read or parsed.
 */
export function readFileConfig(environment: Environment): FileConfig {
  return parseConfigFile(readConfigFile(environment), environment);
}

/** The text of a configuration file, and its name in messages. */
interface ConfigFile {
  readonly source: string;
  readonly file: string;
}

/**
 * Reads the text of `file`; by default of the file that `GATEWAY_CONFIG` names, or of `gateway.yaml`, which may be absent.
 * @throws ConfigError
 */
export function readConfigFile(environment: Environment, named?: string): ConfigFile {
  const given = named ?? (environment[CONFIG_VARIABLE] || undefined);
  const file = given ?? DEFAULT_FILE;
  if (existsSync(file)) return { source: readSource(file), file };
  if (given === undefined) return { source: "", file };
  throw new ConfigError(
    named === undefined ? `${CONFIG_VARIABLE} names ${file}, which does not exist` : `${file} does not exist`,
  );
}

function readSource(file: string): string {
  try {
    if (statSync(file).size > YAML_BOUNDS.bytes)
      throw new Error(`it has more than ${YAML_BOUNDS.bytes} bytes, the maximum for a file`);
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Parses and checks the text of a configuration file, overridden by environment variables. `file` names it in messages.
 * @throws ConfigError with all problems of both, even those of a value that a variable overrides.
 */
export function checkConfig(source: string, file: string, environment: Environment): Config {
  const { config, problems } = examineConfig({ source, file }, environment);
  if (problems.length > 0 || config === null) throw new ConfigError(problems);
  return config;
}

/** The result of examining a configuration. */
export interface ExaminedConfig {
  /** The configuration, without the values that have problems; null if nothing can be said about the rest. */
  readonly config: Config | null;
  readonly problems: readonly ConfigProblem[];
}

/**
 * Parses a configuration file, overridden by environment variables, and finds all problems of both, even those of a value that a variable
 * overrides.
 */
export function examineConfig(text: ConfigFile, environment: Environment): ExaminedConfig {
  try {
    return combineConfig(parseConfigFile(text, environment), null, environment);
  } catch (error) {
    if (error instanceof ConfigError) return { config: null, problems: error.problems };
    throw error;
  }
}

/**
 * Parses the text of a configuration file and expands its references.
 * @throws ConfigError for errors of its syntax.
 */
export function parseConfigFile({ source, file }: ConfigFile, environment: Environment): FileConfig {
  const { value: parsed, placeOf } = parseYaml(source, file);
  dropEmptySections(parsed);
  const raw = parsed as ConfigDocument;
  const { value, referring, problems } = expandReferences(parsed, { environment, placeOf });
  dropEmptySections(value);
  return { file, raw, written: value as ConfigDocument, referring, problems, placeOf };
}

/**
 * Joins the sources of a configuration, and finds all problems of each. Environment variables take precedence over the file, the file over
 * stored settings, and those over the defaults.
 */
export function combineConfig(
  file: FileConfig,
  stored: StoredConfig | null,
  environment: Environment,
): ExaminedConfig {
  const ofVariables = expandVariables(environment);
  const problems = [...file.problems, ...ofVariables.problems, ...(stored?.problems ?? [])];
  // What is left of a failed expansion is not the intended value.
  const isExpanded = (path: ConfigPath) => !problems.some((problem) => startsWith(path, problem.path));
  // Checked before other sources replace or complete its values, because a wrong value must not appear only when they are removed.
  const inFile = listProblems(configSchema.safeParse(file.written)).filter(({ path }) => isExpanded(path));
  const added = stored === null ? [] : listAdded(file.written, stored.settings);
  const value = putSettings(file.written, added) as Record<string, unknown>;
  const isAdded = createPathTest(added, value);
  // A section of which the file has nothing, such as a provider with stored keys only.
  const isOnlyAdded = (path: ConfigPath) =>
    !hasPath(file.written, path) && added.some((one) => startsWith(one.path, path));
  const variableAt = applyEnvironment(value, ofVariables.environment);
  const effective = configSchema.safeParse(value);
  const known = new Set(inFile.map(({ path, text }) => `${path.join(".")} ${text}`));
  const further = listProblems(effective).flatMap(({ path, text }): ConfigProblem[] => {
    const variable = variableOf(path, variableAt);
    if (variable !== undefined) return [variableProblem(variable, path, text)];
    // A value of the file may be wrong only together with stored ones.
    const isNew = added.length > 0 && !known.has(`${path.join(".")} ${text}`) && isExpanded(path);
    const place = hasPath(file.written, path) ? file.placeOf(path) : null;
    return isNew ? [{ place, path, variable: null, text }] : [];
  });
  const placed = inFile.map(({ path, text }) => ({ place: file.placeOf(path), path, variable: null, text }));
  const found = [...problems, ...placed, ...further];
  const parsedConfig = effective.success ? effective.data : parseRest(value, effective);
  if (parsedConfig === null) return { config: null, problems: found };
  const config = locate(parsedConfig, {
    source: file,
    stored,
    variableAt,
    referring: [...file.referring, ...ofVariables.referring, ...listAddedReferences(stored, added, value)],
    placeOf: (path) => (isAdded(path) || isOnlyAdded(path) ? null : file.placeOf(path)),
  });
  const withSecret = insertPassword(config);
  return {
    config: withSecret.config,
    problems: [...found, ...withSecret.problems, ...findDatabaseProblems(config)],
  };
}

/** Whether a configuration has a value at a path. */
function hasPath(document: ConfigDocument, path: ConfigPath): boolean {
  let at: unknown = document;
  for (const part of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return false;
    at = (at as Readonly<Record<PropertyKey, unknown>>)[part];
  }
  return true;
}

function locate(config: Config, origins: ConfigOrigins): Config {
  return withOrigins({ ...config, data_dir: locateDataDir(config.data_dir, origins) }, origins);
}

/** Returns the references of added settings, by their paths in the configuration. */
function listAddedReferences(
  stored: StoredConfig | null,
  added: readonly SettingEntry[],
  value: Record<string, unknown>,
): readonly ReferringValue[] {
  const isAdded = createPathTest(added, value);
  return (stored?.referring ?? [])
    .map(({ path, references }) => ({ path: toConfigPath(path, value), references }))
    .filter(({ path }) => isAdded(path));
}

/** Returns the stored settings that the file does not set. */
function listAdded(written: ConfigDocument, stored: readonly SettingEntry[]): readonly SettingEntry[] {
  const inFile = new Set(listSettingEntries(written).map(({ path }) => keyOf(path)));
  return stored.filter(({ path }) => !inFile.has(keyOf(path)));
}

/** Expands the references in the variables that may have some. */
function expandVariables(environment: Environment) {
  const expanded: Record<string, string | undefined> = { ...environment };
  const referring: ReferringValue[] = [];
  const problems: ConfigProblem[] = [];
  for (const [name, path] of REFERRING_VARIABLES) {
    const text = environment[name];
    if (text === undefined || !text.includes("${")) continue;
    const one = expandReferences({ [name]: text }, { environment, placeOf: () => NO_PLACE });
    expanded[name] = one.problems.length === 0 ? String(one.value[name]) : undefined;
    referring.push(...one.referring.map(({ references }) => ({ path, references })));
    problems.push(...one.problems.map((problem) => variableProblem(name, path, problem.text)));
  }
  return { environment: expanded, referring, problems };
}

const NO_PLACE: ConfigPlace = { file: "", line: 0, column: 0 };

/** Puts the password of `database.password_file` into `database.url`. */
function insertPassword(config: Config): ExaminedConfig & { readonly config: Config } {
  const { url, password_file: file } = config.database;
  if (file === undefined) return { config, problems: [] };
  const path = ["database", "password_file"];
  const failed = (text: string) => ({ config, problems: [problemAt(config, path, text)] });
  if (url === undefined) return failed("requires database.url (DATABASE_URL), for which it has the password");
  if (parseDatabaseUrl(url).password !== null)
    return failed("is a second password: database.url has one. Remove one of them");
  const read = readBounded(file);
  if (typeof read === "string") return failed(`names ${file}: ${read}`);
  if (read.text === "") return failed(`names ${file}, which is empty`);
  return {
    config: { ...config, database: { ...config.database, url: withPassword(url, read.text) } },
    problems: [],
  };
}

function startsWith(path: ConfigPath, start: ConfigPath): boolean {
  return start.every((part, at) => part === path[at]);
}

/** Returns the variable that sets a path. The variable of a list sets all its members. */
function variableOf(path: ConfigPath, variableAt: ReadonlyMap<string, string>): string | undefined {
  return variableAt.get(path.join(".")) ?? variableAt.get(path.slice(0, -1).join("."));
}

/** How often values with problems are removed. Removing one may reveal a problem of its section, such as a missing required key. */
const ROUNDS = 8;

/** Parses a configuration without the values that have problems, so that the rest is checked as well. Null if nothing is left. */
function parseRest(value: Record<string, unknown>, failed: z.ZodSafeParseResult<Config>): Config | null {
  let parsed = failed;
  for (let round = 0; round < ROUNDS && !parsed.success; round++) {
    for (const { path } of listProblems(parsed)) removeAt(value, path);
    parsed = configSchema.safeParse(value);
  }
  return parsed.success ? parsed.data : null;
}

/** Removes the value at a path, or the whole section if the path has no value: a key is missing there. */
function removeAt(value: Record<string, unknown>, path: ConfigPath): void {
  for (let length = path.length; length > 0; length--) {
    const name = path[length - 1] as string;
    let parent: unknown = value;
    for (const part of path.slice(0, length - 1))
      parent = (parent as Readonly<Record<PropertyKey, unknown>> | undefined)?.[part];
    // The whole list of an item is removed, so that the indexes of further problems remain valid.
    if (typeof parent !== "object" || parent === null || Array.isArray(parent)) continue;
    if (!Object.hasOwn(parent, name)) continue;
    delete (parent as Record<string, unknown>)[name];
    return;
  }
}

/** Checked with the variables in place: each value may be in the file or in the environment. */
function findDatabaseProblems(config: Config): readonly ConfigProblem[] {
  if (config.database.url !== undefined) return [];
  const { redis, server } = config;
  const needs = (path: ConfigPath, reason: string): ConfigProblem =>
    problemAt(config, path, `needs database.url (DATABASE_URL): ${reason}`);
  return [
    ...(redis.url === undefined
      ? []
      : [
          needs(
            ["redis", "url"],
            "Redis holds what several gateways share, and several gateways need PostgreSQL. Set database.url, or remove redis.url for one gateway on SQLite.",
          ),
        ]),
    ...(server.processes === "auto" || server.processes === 1
      ? []
      : [
          needs(
            ["server", "processes"],
            "only one process can write to SQLite, so several need PostgreSQL. Set database.url, or server.processes: 1.",
          ),
        ]),
  ];
}

/** Lists the problems of a parsed configuration: each path, and the text that follows it in the message. */
function listProblems(
  parsed: z.ZodSafeParseResult<Config>,
): readonly { readonly path: ConfigPath; readonly text: string }[] {
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({
          path: [...issue.path, key],
          text: describeUnknownKey(issue.path, key),
        }))
      : [{ path: issue.path, text: messageOf(issue) }],
  );
}

/** Returns a problem of a key, for problems that are found after parsing. It names the variable or the line that has the value. */
export function problemAt(config: Config, path: ConfigPath, text: string): ConfigProblem {
  const origin = originsOf(config);
  const variable = origin === null ? undefined : variableOf(path, origin.variableAt);
  if (variable !== undefined) return variableProblem(variable, path, text);
  return { place: origin?.placeOf(path) ?? null, path, variable: null, text };
}

/** Removes sections without a value: all their keys are commented out. */
function dropEmptySections(value: Record<string, unknown>): void {
  for (const key of Object.keys(configSchema.shape)) if (value[key] === null) delete value[key];
}

/** Returns the message of an issue; for the key of a record, what is wrong with the key. */
function messageOf(issue: z.core.$ZodIssue): string {
  return issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}
