import { readIdTime } from "../../../base/secrets/ids.ts";
import { type Outcome, outcomeOf, type StoredOutcome, type UsageRecord } from "../records/records.ts";

/** Which generations are meant. Null: any. */
export interface GenerationFilter {
  readonly accountId: string | null;
  readonly keyId: string | null;
  readonly userId: string | null;
  /** The team of the API key. */
  readonly teamId: string | null;
  /** The keyed hash of the session that the client named. */
  readonly sessionId: string | null;
  /** One of the tags that the client marked it with. */
  readonly tag: string | null;
  /** The family of the client. */
  readonly client: string | null;
  readonly clientVersion: string | null;
  /** The id of the model that answered, or of the requested one if none did. */
  readonly model: string | null;
  /** A part of that id, in lower case. No index helps to find it: a page then reads as many generations as it may. */
  readonly modelContains: string | null;
  readonly provider: string | null;
  readonly outcome: Outcome | null;
  /** The `ErrorCode` of the failure. */
  readonly errorType: string | null;
  /** The first time of the requests, in milliseconds since the epoch. */
  readonly fromMs: number | null;
  /** The time before which the requests came. */
  readonly toMs: number | null;
}

/** The filter that every generation matches. */
export const ANY_GENERATION: GenerationFilter = {
  accountId: null,
  keyId: null,
  userId: null,
  teamId: null,
  sessionId: null,
  tag: null,
  client: null,
  clientVersion: null,
  model: null,
  modelContains: null,
  provider: null,
  outcome: null,
  errorType: null,
  fromMs: null,
  toMs: null,
};

/** A page of generations. */
export interface GenerationQuery extends GenerationFilter {
  /** The `next` of the page before; null: the newest generations. */
  readonly before: string | null;
  readonly limit: number;
}

/** Generations, the newest first. */
export interface GenerationPage {
  /** At most `limit`. There are fewer, or none, if most generations that were read do not match. */
  readonly records: readonly UsageRecord[];
  /** The cursor of the next page; null if there is none. */
  readonly next: string | null;
}

/** The state of a generation, whose change is noticed. */
export interface GenerationState {
  readonly id: string;
  readonly outcome: StoredOutcome;
}

/** Periods of the same length for which generations are counted. */
export interface CountQuery extends GenerationFilter {
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucketMs: number;
}

/** The numbers of a period's generations by outcome. `failed` includes interrupted ones. */
export interface OutcomeCounts {
  completed: number;
  cached: number;
  failed: number;
  cancelled: number;
  open: number;
}

/** The generations of consecutive periods. */
export interface GenerationCounts {
  /** One element for each period, in the order of time. */
  readonly buckets: readonly OutcomeCounts[];
  /** Whether the counts are exact. False: those of some periods are estimated from a part of their generations. */
  readonly isExact: boolean;
}

/** Lists and counts generations. Every call reads a bounded number of records, whatever their number in the store. */
export interface GenerationList {
  /** Returns generations by their ids, and so by the times of their requests. */
  listGenerations(query: GenerationQuery): Promise<GenerationPage>;
  /** Returns the generations with some ids, at most 1,000, in any order. */
  findGenerations(ids: readonly string[]): Promise<readonly UsageRecord[]>;
  /** Returns the generation of a request; null if there is none among the first generations from the time in the request's id. */
  findByRequest(requestId: string): Promise<UsageRecord | null>;
  /** Returns the states of the newest generations, the newest first. `fromMs`: the first time of their requests. */
  listStates(fromMs: number, limit: number): Promise<readonly GenerationState[]>;
  /** Counts generations by outcome in periods of time. */
  countGenerations(query: CountQuery): Promise<GenerationCounts>;
}

/** How many generations a store reads in one call. */
export interface ListBounds {
  /** The number of generations read for one page. If few generations match a filter, pages are short, but each takes the same bounded time. */
  readonly scanned: number;
  /** The number of generations that are counted one by one. If there are more, a part of each period is counted. */
  readonly counted: number;
}

/** The bounds of a store that reads whole records. */
export const RECORD_BOUNDS: ListBounds = { scanned: 2_000, counted: 10_000 };

/** The maximum number of ids in one call of `findGenerations`. */
export const FOUND_GENERATIONS = 1_000;

/** Returns whether a generation matches a filter. */
export function matchesFilter(record: UsageRecord, filter: GenerationFilter): boolean {
  const { fromMs, toMs, tag, modelContains } = filter;
  const ms = readIdTime(record.id) ?? record.createdAt;
  if (tag !== null && record.tags?.includes(tag) !== true) return false;
  if ((fromMs !== null && ms < fromMs) || (toMs !== null && ms >= toMs)) return false;
  const model = record.model ?? record.requestedModel;
  if (modelContains !== null && !model.toLowerCase().includes(modelContains)) return false;
  const values = {
    accountId: record.accountId,
    keyId: record.keyId,
    userId: record.userId,
    teamId: record.teamId ?? null,
    sessionId: record.sessionId ?? null,
    client: record.client ?? null,
    clientVersion: record.clientVersion ?? null,
    model,
    provider: record.provider,
    outcome: outcomeOf(record),
    errorType: record.error,
  };
  return (Object.keys(values) as (keyof typeof values)[]).every(
    (name) => filter[name] === null || filter[name] === values[name],
  );
}

/** Returns counts of 0. */
export function createCounts(): OutcomeCounts {
  return { completed: 0, cached: 0, failed: 0, cancelled: 0, open: 0 };
}

/** Adds generations with an outcome to counts. */
export function addOutcome(counts: OutcomeCounts, outcome: Outcome, added: number): void {
  counts[outcome === "interrupted" ? "failed" : outcome] += added;
}
