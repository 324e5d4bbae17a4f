/** The defaults that an account or a team has for its keys, as texts of a form. Pure functions. */
import { splitLines } from "../split-lines.ts";

/** What is typed. */
export interface DefaultsInput {
  /** How long bodies are stored. Seconds; empty: the default of the level above. */
  readonly promptLog: string;
  /** How long answers are cached. Seconds; empty: the default of the level above. */
  readonly cache: string;
  /** One per line, or separated by commas. A tag may have blanks. */
  readonly tags: string;
}

interface Defaults {
  readonly prompt_log: number | null;
  readonly cache: number | null;
  readonly tags: readonly string[] | null;
}

/** Returns what a form shows. */
export function readDefaults({ prompt_log, cache, tags }: Defaults): DefaultsInput {
  return {
    promptLog: prompt_log?.toString() ?? "",
    cache: cache?.toString() ?? "",
    tags: (tags ?? []).join("\n"),
  };
}

/** Returns the field that is no whole number; null if none is. */
export function findDefaultsProblem(input: DefaultsInput): "promptLog" | "cache" | null {
  return (["promptLog", "cache"] as const).find((name) => !/^\d*$/.test(input[name].trim())) ?? null;
}

/** Returns the fields of the API. */
export function toDefaults({ promptLog, cache, tags }: DefaultsInput) {
  const list = splitLines(tags);
  return {
    prompt_log: toNumber(promptLog),
    cache: toNumber(cache),
    tags: list.length === 0 ? null : list,
  };
}

function toNumber(typed: string): number | null {
  return typed.trim() === "" ? null : Number(typed);
}
