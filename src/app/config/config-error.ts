/** A path in the configuration: `["providers", "openai", "api_keys", 0]`. */
export type ConfigPath = readonly PropertyKey[];

/** Where a value of the configuration is written. */
export interface ConfigPlace {
  readonly file: string;
  /** Both begin with 1. */
  readonly line: number;
  readonly column: number;
}

/** Something that is wrong with the configuration. */
export interface ConfigProblem {
  /** Null if it has no line in the file. */
  readonly place: ConfigPlace | null;
  /** The key with the problem; empty if the problem is about no key. */
  readonly path: ConfigPath;
  /** The environment variable with the wrong value; null if the value is in the file. */
  readonly variable: string | null;
  /** What is wrong and what to change. In a message it follows the name of the key or the variable. Never contains a secret. */
  readonly text: string;
}

/** An invalid configuration. The message has a line for each problem, which names the file and line, or the variable. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: string | readonly ConfigProblem[]) {
    const list = typeof problems === "string" ? [plainProblem(problems)] : problems;
    super(list.map(formatProblem).join("\n"));
    this.problems = list;
  }
}

/** Returns a problem whose text itself says which part of the configuration it is about. */
export function plainProblem(text: string): ConfigProblem {
  return { place: null, path: [], variable: null, text };
}

/** Returns the message of a problem: `gateway.yaml:3:5: server.prot is not a known key.` */
export function formatProblem({ place, path, variable, text }: ConfigProblem): string {
  const start = place === null ? "" : `${place.file}:${place.line}:${place.column}: `;
  const name = variable ?? path.join(".");
  return start + (name === "" ? text : `${name} ${text}`);
}

/** Returns a problem as `gateway config check --json` and the management API show it. */
export function presentProblem(problem: ConfigProblem) {
  const { place, path, variable } = problem;
  return {
    file: place?.file ?? null,
    line: place?.line ?? null,
    column: place?.column ?? null,
    field: path.length === 0 ? null : path.join("."),
    variable,
    message: formatProblem(problem),
  };
}

/**
 * Runs a check, and adds the problems of a `ConfigError` to a list instead of throwing it, so that the next check runs too. Returns the
 * result of the check; null if it has failed.
 */
export function collectProblems<Result>(problems: ConfigProblem[], check: () => Result): Result | null {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return null;
  }
}
