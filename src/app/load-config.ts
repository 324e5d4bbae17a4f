import { existsSync, readFileSync } from "node:fs";
import { type Document, LineCounter, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { type Config, configSchema } from "./config-schema.ts";

/** An invalid configuration. The message names the file and line, or the variable, and what to change. */
export class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_FILE = "gateway.yaml";

/** The key that each environment variable sets. Variables take precedence over the file. */
const VARIABLES: Readonly<
  Record<string, { readonly path: readonly string[]; readonly isNumber?: true; readonly isList?: true }>
> = {
  GATEWAY_HOST: { path: ["server", "host"] },
  GATEWAY_PORT: { path: ["server", "port"], isNumber: true },
  GATEWAY_PROCESSES: { path: ["server", "processes"], isNumber: true },
  GATEWAY_DATA_DIR: { path: ["data_dir"] },
  DATABASE_URL: { path: ["database", "url"] },
  REDIS_URL: { path: ["redis", "url"] },
  GATEWAY_ADMIN_KEY: { path: ["admin_key"] },
  GATEWAY_WEBHOOK_SECRET: { path: ["billing", "webhook_secret"] },
  GATEWAY_LOG_LEVEL: { path: ["log_level"] },
  GATEWAY_CONSOLE_DIR: { path: ["console", "built_dir"] },
  GATEWAY_OIDC_CLIENT_SECRET: { path: ["console", "oidc", "client_secret"] },
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
 * Parses and checks the text of a configuration file, with environment variables over it. `file` names it in messages.
 * @throws ConfigError with all problems of both, also of a value that a variable replaces.
 */
export function checkConfig(source: string, file: string, environment: Environment): Config {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const [syntaxError] = document.errors;
  if (syntaxError) {
    throw new ConfigError(`${file}:${lines.linePos(syntaxError.pos[0]).line}: ${syntaxError.message}`);
  }
  rejectUnknownAliases(document, file, lines);
  const value = asObject(readValue(document, file) ?? {}, file);
  dropEmptySections(value);
  const written = structuredClone(value);
  const lineOf = (path: Path): number => findLine(document, path, lines);
  // Checked before variables replace values, because a wrong value must not appear only when its variable is removed.
  const inFile = configSchema.safeParse(value);
  const fileProblems = listProblems(inFile).map(
    ({ path, text }) => `${file}:${lineOf(path)}: ${path.join(".")} ${text}`,
  );
  const variableAt = applyEnvironment(value, environment);
  const effective = configSchema.safeParse(value);
  const variableProblems = listProblems(effective).flatMap(({ path, text }) => {
    // The variable of a list sets all its members.
    const variable = variableAt.get(path.join(".")) ?? variableAt.get(path.slice(0, -1).join("."));
    return variable === undefined ? [] : [`${variable} ${text}${hintFor(variable)}`];
  });
  if (!inFile.success || !effective.success)
    throw new ConfigError([...fileProblems, ...variableProblems].join("\n"));
  origins.set(effective.data.timers, { file, written, variableAt, lineOf });
  requireDatabase(effective.data, variableAt);
  return effective.data;
}

/** Checked with the variables in place: each value may be in the file or in the environment. */
function requireDatabase(config: Config, variableAt: ReadonlyMap<string, string>): void {
  if (config.database.url !== undefined) return;
  const reject = (path: readonly [string, string], reason: string): never => {
    const place = variableAt.get(path.join(".")) ?? describeLocation(config, path);
    throw new ConfigError(`${place} needs database.url (DATABASE_URL): ${reason}`);
  };
  if (config.redis.url !== undefined)
    reject(
      ["redis", "url"],
      "Redis holds what several gateways share, and several gateways need PostgreSQL. Set database.url, or remove redis.url for one gateway on SQLite.",
    );
  const { processes } = config.server;
  if (processes !== "auto" && processes > 1)
    reject(
      ["server", "processes"],
      "only one process can write to SQLite, so several need PostgreSQL. Set database.url, or server.processes: 1.",
    );
}

/** Lists the problems of a parsed configuration: each path, and the text that follows it in the message. */
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

/** Where the values of a configuration come from. */
export interface ConfigOrigins {
  /** The configuration file, which may not exist. */
  readonly file: string;
  /** The content of the file, without sections that have no value. */
  readonly written: Readonly<Record<string, unknown>>;
  /** The environment variable of each path that one has set. */
  readonly variableAt: ReadonlyMap<string, string>;
  /** Returns the line of a path in the file, or of its longest prefix that exists. */
  readonly lineOf: (path: Path) => number;
}

/** By the object of one section, which copies of a configuration share. */
const origins = new WeakMap<Config["timers"], ConfigOrigins>();

/** Returns where the values of a configuration come from; null for one that was not read by `checkConfig`. */
export function originsOf({ timers }: Config): ConfigOrigins | null {
  return origins.get(timers) ?? null;
}

/** Returns a path of a configuration with its file and line, for problems that are found after parsing. */
export function describeLocation(config: Config, path: readonly (string | number)[]): string {
  const origin = originsOf(config);
  return origin === null ? path.join(".") : `${origin.file}:${origin.lineOf(path)}: ${path.join(".")}`;
}

function rejectUnknownAliases(document: Document, file: string, lines: LineCounter): void {
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      const { line } = lines.linePos(alias.range?.[0] ?? 0);
      throw new ConfigError(
        `${file}:${line}: unknown alias *${alias.source}: there is no anchor &${alias.source}`,
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

/** Removes sections without a value: all their keys are commented out. */
function dropEmptySections(value: Record<string, unknown>): void {
  for (const key of Object.keys(configSchema.shape)) if (value[key] === null) delete value[key];
}

/** Returns the message of an issue; for the key of a record, what is wrong with the key. */
function messageOf(issue: z.core.$ZodIssue): string {
  return issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}

function asObject(value: unknown, file: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new ConfigError(`${file}:1: must be a mapping of keys to values, such as "log_level: info"`);
}

/** Sets the values of variables. Returns the variable of each path that was set. */
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

/** Returns the section at a path, created if absent; null if the file has another value there, which the schema rejects. */
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

/** Kubernetes sets GATEWAY_PORT to a URL if a service is named "gateway". */
function hintFor(variable: string): string {
  return variable === "GATEWAY_PORT"
    ? " (in Kubernetes, set enableServiceLinks: false or rename the service)"
    : "";
}

type Path = readonly PropertyKey[];

/** Returns the line of a path, or of its longest prefix that exists. */
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
