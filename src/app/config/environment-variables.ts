import { nearestNames } from "../../base/text/nearest-names.ts";
import type { ConfigPath, ConfigProblem } from "./config-error.ts";
import type { Environment } from "./read-provider-keys.ts";
import { didYouMean } from "./suggest-key.ts";

interface Variable {
  readonly path: readonly string[];
  readonly isNumber?: true;
  readonly isList?: true;
  /** The value may contain references, as in the file, because many environments keep passwords in separate files. */
  readonly mayRefer?: true;
}

/** The key that each environment variable sets. Variables take precedence over the file. */
export const VARIABLES: Readonly<Record<string, Variable>> = {
  GATEWAY_HOST: { path: ["server", "host"] },
  GATEWAY_PORT: { path: ["server", "port"], isNumber: true },
  GATEWAY_PROCESSES: { path: ["server", "processes"], isNumber: true },
  GATEWAY_DATA_DIR: { path: ["data_dir"] },
  DATABASE_URL: { path: ["database", "url"], mayRefer: true },
  REDIS_URL: { path: ["redis", "url"], mayRefer: true },
  GATEWAY_ADMIN_KEY: { path: ["admin_key"] },
  GATEWAY_WEBHOOK_SECRET: { path: ["billing", "webhook_secret"] },
  GATEWAY_METRICS_TOKEN: { path: ["metrics", "token"] },
  GATEWAY_LOG_LEVEL: { path: ["log_level"] },
  GATEWAY_CONSOLE_DIR: { path: ["console", "built_dir"] },
  GATEWAY_OIDC_CLIENT_SECRET: { path: ["console", "oidc", "client_secret"] },
  GATEWAY_SANDBOX: { path: ["sandbox"] },
  GATEWAY_SECRETS_KEY: { path: ["secrets", "keys"], isList: true },
};

/** The variable that names the configuration file. */
export const CONFIG_VARIABLE = "GATEWAY_CONFIG";

/**
 * Variables that the gateway does not read and that are not mistakes: those of its examples for callers, those of its tests, and those that
 * Kubernetes and Docker set for a service named "gateway".
 */
const OTHERS =
  /^GATEWAY_(URL|BASE|KEY|API_KEY|AGENTS_DIR|TEST_.*|NAME|ENV_.*|SERVICE_(HOST|PORT.*)|PORT_\d+_(TCP|UDP).*)$/;

/** The variables whose values may contain references, and the path that each sets. */
export const REFERRING_VARIABLES: readonly (readonly [string, ConfigPath])[] = Object.entries(VARIABLES)
  .filter(([, { mayRefer }]) => mayRefer === true)
  .map(([name, { path }]) => [name, path]);

/** Sets the values of variables. Returns the variable of each path that was set. */
export function applyEnvironment(
  value: Record<string, unknown>,
  environment: Environment,
): ReadonlyMap<string, string> {
  const applied = new Map<string, string>();
  for (const [name, variable] of Object.entries(VARIABLES)) {
    const text = environment[name];
    if (text === undefined || text === "") continue;
    const { path } = variable;
    const section = findSection(value, path.slice(0, -1));
    if (section === null) continue;
    section[path.at(-1) as string] = readVariable(text, variable);
    applied.set(path.join("."), name);
  }
  return applied;
}

function readVariable(text: string, { isNumber, isList }: Variable): unknown {
  if (isList) return text.split(",").map((item) => item.trim());
  return isNumber && /^\d+$/.test(text) ? Number(text) : text;
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

/** Returns the problem of a value that a variable has set. */
export function variableProblem(variable: string, path: ConfigPath, text: string): ConfigProblem {
  return { place: null, path, variable, text: text + hintFor(variable) };
}

/** Kubernetes sets GATEWAY_PORT to a URL if a service is named "gateway". */
function hintFor(variable: string): string {
  return variable === "GATEWAY_PORT"
    ? " (in Kubernetes, set enableServiceLinks: false or rename the service)"
    : "";
}

/** The beginning of the gateway's own variables. */
const PREFIX = "GATEWAY_";

/**
 * Lists environment variables that begin with GATEWAY_ and that nothing reads. Otherwise a misspelled variable would be ignored silently.
 * `further` are known names besides those of settings.
 */
export function findUnknownVariables(
  environment: Environment,
  further: readonly string[] = [],
): readonly ConfigProblem[] {
  const known = [...Object.keys(VARIABLES), CONFIG_VARIABLE, ...further];
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && !OTHERS.test(name))
    .sort()
    .map((variable) => {
      const near = suggestVariables(variable, known);
      const hint = near.length === 0 ? "" : ` ${didYouMean(near)}`;
      return { place: null, path: [], variable, text: `is not a variable that the gateway reads.${hint}` };
    });
}

/** Compares the names without their common beginning, which would make all of them similar. */
function suggestVariables(variable: string, known: readonly string[]): readonly string[] {
  const byRest = new Map(known.map((name) => [name.replace(PREFIX, ""), name]));
  const near = nearestNames(variable.slice(PREFIX.length), [...byRest.keys()], 2);
  return near.map((rest) => byRest.get(rest) as string);
}
