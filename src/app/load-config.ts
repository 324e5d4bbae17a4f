import { existsSync, readFileSync } from "node:fs";
import { type Document, LineCounter, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { type Config, configSchema } from "./config-schema.ts";

/** The configuration is wrong. The message names the file and line, or the variable, and what to write. */
export class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_FILE = "gateway.yaml";

/** Where each environment variable goes. It wins over the file. */
const VARIABLES: Readonly<
  Record<string, { readonly path: readonly string[]; readonly isNumber?: true; readonly isList?: true }>
> = {
  GATEWAY_HOST: { path: ["server", "host"] },
  GATEWAY_PORT: { path: ["server", "port"], isNumber: true },
  GATEWAY_DATA_DIR: { path: ["data_dir"] },
  GATEWAY_ADMIN_KEY: { path: ["admin_key"] },
  GATEWAY_WEBHOOK_SECRET: { path: ["billing", "webhook_secret"] },
  GATEWAY_LOG_LEVEL: { path: ["log_level"] },
  GATEWAY_SANDBOX: { path: ["sandbox"] },
  GATEWAY_SECRETS_KEY: { path: ["secrets", "keys"], isList: true },
};

/**
 * Reads `gateway.yaml`, or the file that `GATEWAY_CONFIG` names, and the environment.
 * @throws ConfigError
 */
export function loadConfig(environment: Environment): Config {
  const named = environment["GATEWAY_CONFIG"];
  const file = named || DEFAULT_FILE;
  if (named && !existsSync(named))
    throw new ConfigError(`GATEWAY_CONFIG names ${named}, which does not exist`);
  const source = existsSync(file) ? readSource(file) : "";
  return checkConfig(source, file, environment);
}

function readSource(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Checks a file's text, and then with an environment over it.
 * @throws ConfigError for everything that is wrong in either, also for a value of the file that the environment replaces.
 */
export function checkConfig(source: string, file: string, environment: Environment): Config {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const [syntaxError] = document.errors;
  if (syntaxError) {
    throw new ConfigError(`${file}:${lines.linePos(syntaxError.pos[0]).line}: ${syntaxError.message}`);
  }
  refuseUnknownAliases(document, file, lines);
  const value = asObject(readValue(document, file) ?? {}, file);
  dropEmptySections(value);
  const locate = (path: Path): string => `${file}:${findLine(document, path, lines)}: ${path.join(".")}`;
  // Before the environment replaces a value: a wrong one would come to light only when its variable is gone.
  const inFile = configSchema.safeParse(value);
  const fileProblems = listProblems(inFile).map(({ path, text }) => `${locate(path)} ${text}`);
  const variableAt = applyEnvironment(value, environment);
  const inForce = configSchema.safeParse(value);
  const variableProblems = listProblems(inForce).flatMap(({ path, text }) => {
    // A member of a list stands behind the path of its variable.
    const variable = variableAt.get(path.join(".")) ?? variableAt.get(path.slice(0, -1).join("."));
    return variable === undefined ? [] : [`${variable} ${text}${hintFor(variable)}`];
  });
  if (!inFile.success || !inForce.success)
    throw new ConfigError([...fileProblems, ...variableProblems].join("\n"));
  places.set(inForce.data, locate);
  return inForce.data;
}

/** What is wrong with the values of a configuration: each path with the words that follow it. */
function listProblems(
  parsed: z.ZodSafeParseResult<Config>,
): readonly { readonly path: Path; readonly text: string }[] {
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({ path: [...issue.path, key], text: "is not a known key" }))
      : [{ path: issue.path, text: messageOf(issue) }],
  );
}

/** Where the paths of a configuration stand in its file. */
const places = new WeakMap<Config, (path: Path) => string>();

/** Names a path of a configuration with the file and line that it stands on, for what is found wrong only later. */
export function describePlace(config: Config, path: readonly (string | number)[]): string {
  return places.get(config)?.(path) ?? path.join(".");
}

function refuseUnknownAliases(document: Document, file: string, lines: LineCounter): void {
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      const { line } = lines.linePos(alias.range?.[0] ?? 0);
      throw new ConfigError(
        `${file}:${line}: *${alias.source} stands for nothing: there is no &${alias.source}`,
      );
    },
  });
}

function readValue(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new ConfigError(`${file}:1: ${(error as Error).message}`);
  }
}

/** A section in which every key is commented out has no value, and says as much as if it were absent. */
function dropEmptySections(value: Record<string, unknown>): void {
  for (const key of Object.keys(configSchema.shape)) if (value[key] === null) delete value[key];
}

/** What is wrong with the key of a record says more than that it is wrong. */
function messageOf(issue: z.core.$ZodIssue): string {
  return issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}

function asObject(value: unknown, file: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new ConfigError(`${file}:1: must be a mapping of keys to values, such as "log_level: info"`);
}

/** Puts variables over the file's values; gives which path came from which variable. */
function applyEnvironment(value: Record<string, unknown>, environment: Environment): Map<string, string> {
  const applied = new Map<string, string>();
  for (const [name, { path, isNumber, isList }] of Object.entries(VARIABLES)) {
    const text = environment[name];
    if (text === undefined || text === "") continue;
    const target = findSection(value, path.slice(0, -1));
    if (target === null) continue;
    target[path.at(-1) as string] = isList
      ? text.split(",").map((item) => item.trim())
      : isNumber && /^\d+$/.test(text)
        ? Number(text)
        : text;
    applied.set(path.join("."), name);
  }
  return applied;
}

/** The section at a path, made where it is absent; null where the file has something else there, which is refused. */
function findSection(
  value: Record<string, unknown>,
  path: readonly string[],
): Record<string, unknown> | null {
  let target = value;
  for (const part of path) {
    target[part] ??= {};
    if (typeof target[part] !== "object") return null;
    target = target[part] as Record<string, unknown>;
  }
  return target;
}

/** A service named "gateway" in Kubernetes sets GATEWAY_PORT to an address of its own. */
function hintFor(variable: string): string {
  return variable === "GATEWAY_PORT"
    ? " (in Kubernetes, set enableServiceLinks: false or rename the service)"
    : "";
}

type Path = readonly PropertyKey[];

/** The line on which a path, or the nearest part of it that exists, stands. */
function findLine(document: ReturnType<typeof parseDocument>, path: Path, lines: LineCounter): number {
  for (let length = path.length; length > 0; length--) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    const pair = (
      parent as { items?: { key?: { value?: unknown; range?: number[] }; range?: number[] }[] } | null
    )?.items;
    const found = pair?.find(
      (item, index) => item.key?.value === key || (item.key === undefined && index === key),
    );
    const offset = found?.key?.range?.[0] ?? found?.range?.[0];
    if (offset !== undefined) return lines.linePos(offset).line;
  }
  return 1;
}
