import { type Command, InvalidArgumentError, Option } from "commander";
import { loadConfig } from "../../app/load-config.ts";
import { loadKnownNames } from "../../app/load-known-names.ts";
import type { Stores } from "../../app/stores.ts";
import { canonicalModel } from "../../core/catalog/catalog.ts";
import type { GenerationFilter } from "../../core/usage/generation-list.ts";
import { OUTCOMES, type Outcome } from "../../core/usage/records.ts";
import { resolveScope } from "../endpoint/named-resources.ts";

/** The options of a filter of generations. */
export interface FilterOptions {
  readonly account?: string;
  readonly key?: string;
  readonly user?: string;
  readonly session?: string;
  readonly tag?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly outcome?: Outcome;
  readonly error?: string;
}

/** The options of a range of time. */
export interface RangeOptions {
  readonly from?: number;
  readonly to?: number;
}

/** Adds the options of a filter. */
export function addFilterOptions(command: Command): Command {
  return command
    .option("--account <account>", "Only requests of this account")
    .option("--key <key>", "Only requests with this API key")
    .option("--user <user>", "Only requests with keys of this user")
    .option("--session <id>", "Only requests of this session (s_…, the session_id of a request)", readSession)
    .option("--tag <tag>", "Only requests with this tag")
    .option("--model <id>", "Only requests for this model")
    .option("--provider <slug>", "Only requests whose last attempt was at this provider")
    .addOption(new Option("--outcome <outcome>", "Only requests with this outcome").choices(OUTCOMES))
    .option("--error <type>", "Only requests with this type of error, such as rate_limit_exceeded");
}

/** Adds the options of a range of time. */
export function addRangeOptions(command: Command): Command {
  return command
    .option("--from <time>", "Only requests at or after this time, such as 2027-01-31T12:00:00Z", readTime)
    .option("--to <time>", "Only requests before this time", readTime);
}

/** Returns the filter of options. Rejects with an error if a name stands for nothing, or for several. */
export async function filterOf(
  stores: Stores,
  options: FilterOptions & RangeOptions,
): Promise<GenerationFilter> {
  return {
    ...(await resolveScope(stores, options)),
    sessionId: options.session ?? null,
    tag: options.tag ?? null,
    model: await findModel(stores, options.model),
    provider: options.provider?.toLowerCase() ?? null,
    outcome: options.outcome ?? null,
    errorType: options.error ?? null,
    fromMs: options.from ?? null,
    toMs: options.to ?? null,
  };
}

/** Returns the id of a model as records have it, whatever its case; null without an option. */
export async function findModel(stores: Stores, id: string | undefined): Promise<string | null> {
  if (id === undefined) return null;
  const { catalog } = await loadKnownNames(loadConfig(process.env), process.env, stores);
  return canonicalModel(catalog, id);
}

/**
 * Reads the hash of a session.
 * @throws InvalidArgumentError
 */
function readSession(text: string): string {
  if (/^s_[\w-]{32}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be the session_id of a request: s_ and 32 characters.");
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Reads a time, or a day (UTC). Returns milliseconds since the epoch.
 * @throws InvalidArgumentError
 */
function readTime(text: string): number {
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (ms >= 0) return ms;
  throw new InvalidArgumentError(
    "It must be a time such as 2027-01-31T12:00:00Z, or a day such as 2027-01-31.",
  );
}
