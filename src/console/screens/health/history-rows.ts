/** What the health screen shows of the past of a provider. Pure functions. */
import type { Incident, Operations, ProviderHealth, ProviderHistory } from "../../api/schema.ts";
import { formatAxisTime, formatCount, formatDuration, formatShare } from "../../parts/values/format.ts";
import { text } from "../../text/text.ts";

/** The outcomes of a range, as the API returns them. */
export type History = Operations["GET /api/admin/health/history"]["response"];
export type HistoryRange = History["range"];
type Counts = Omit<ProviderHistory["buckets"][number], "began_at">;

const words = text.health.history;

const DAY_MS = 86_400_000;
const NONE: Counts = {
  attempts: 0,
  succeeded: 0,
  failed: 0,
  rate_limited: 0,
  key_refused: 0,
  state: "unknown",
};

/** A provider with its outcomes; null if it had no attempts in the range. */
export interface HistoryRow {
  readonly provider: string;
  readonly name: string;
  readonly outcomes: ProviderHistory | null;
}

/** Returns the shown providers in their order, and then those that only the history has. */
export function listHistoryRows(shown: readonly ProviderHealth[], { data }: History): readonly HistoryRow[] {
  const bySlug = new Map(data.map((one) => [one.provider, one]));
  const known = new Set(shown.map(({ provider }) => provider));
  const others = data.filter(({ provider }) => !known.has(provider));
  return [
    ...shown.map(({ provider, name }) => ({ provider, name, outcomes: bySlug.get(provider) ?? null })),
    ...others.map((outcomes) => ({ provider: outcomes.provider, name: outcomes.provider, outcomes })),
  ];
}

/** Returns the counts of each bucket of the range, in order of time. */
export function fillBuckets(history: History, outcomes: ProviderHistory | null): readonly Counts[] {
  const { from, bucket_s, bucket_count } = history;
  const filled: Counts[] = new Array<Counts>(bucket_count).fill(NONE);
  for (const bucket of outcomes?.buckets ?? []) {
    const at = Math.round((Date.parse(bucket.began_at) - Date.parse(from)) / (1_000 * bucket_s));
    if (at >= 0 && at < bucket_count) filled[at] = bucket;
  }
  return filled;
}

/** The smallest part of a bar that is seen. */
const MIN_PART = 0.15;

/** The parts of a bar from its bottom, as shares of its height that add up to 1; all are 0 without attempts. */
export interface BarParts {
  readonly succeeded: number;
  readonly limited: number;
  readonly failed: number;
}

/** Returns the parts of the bar of a bucket. A single failure among many attempts can still be seen. */
export function divideBar({ attempts, rate_limited, failed, key_refused }: Counts): BarParts {
  if (attempts === 0) return { succeeded: 0, limited: 0, failed: 0 };
  const shareOf = (count: number) => (count === 0 ? 0 : Math.max(MIN_PART, count / attempts));
  const bad = shareOf(failed + key_refused);
  const limited = Math.min(1 - bad, shareOf(rate_limited));
  const rest = 1 - bad - limited;
  // Where nothing has succeeded, the bar has no other part.
  const hasSucceeded = attempts > rate_limited + failed + key_refused;
  if (hasSucceeded) return { succeeded: rest, limited, failed: bad };
  return rate_limited === 0
    ? { succeeded: 0, limited: 0, failed: 1 }
    : { succeeded: 0, limited: 1 - bad, failed: bad };
}

/** Returns the time of a bucket in words, in the time zone of the browser: `10:15–10:30`. */
export function describeBucketTime({ from, bucket_s, bucket_count }: History, index: number): string {
  const beganAt = Date.parse(from) + index * bucket_s * 1_000;
  const rangeMs = bucket_s * bucket_count * 1_000;
  return `${formatAxisTime(beganAt, rangeMs)}–${formatAxisTime(beganAt + bucket_s * 1_000, DAY_MS)}`;
}

/** Returns counts in words: `40 attempts: 38 succeeded, 2 failed`. */
export function describeCounts(counts: Omit<Counts, "state">): string {
  const { attempts, succeeded, failed, rate_limited, key_refused } = counts;
  if (attempts === 0) return words.none;
  const parts = [
    words.succeeded(formatCount(succeeded)),
    ...(failed === 0 ? [] : [words.failed(formatCount(failed))]),
    ...(rate_limited === 0 ? [] : [words.limited(formatCount(rate_limited))]),
    ...(key_refused === 0 ? [] : [words.refused(formatCount(key_refused))]),
  ];
  return `${words.attempts(formatCount(attempts), attempts)}: ${parts.join(", ")}`;
}

/** Returns the share of attempts that succeeded, as text; a dash without attempts. Only all of them are 100 %. */
export function printSucceeded(outcomes: ProviderHistory | null): string {
  if (outcomes === null) return "–";
  const { attempts, succeeded } = outcomes.total;
  const share = succeeded / attempts;
  const isRounded = succeeded < attempts && share >= 0.995;
  return isRounded ? `${(Math.floor(share * 1_000) / 10).toFixed(1)} %` : formatShare(share);
}

/** Returns how long an incident has lasted. */
export function printLasted({ duration_s: seconds }: Pick<Incident, "duration_s">): string {
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1_000);
}

/** Returns how attempts failed, the most frequent kind first: `12 × 503 unavailable`. */
export function describeFailures({ failures }: Pick<Incident, "failures">): string {
  return failures
    .map(({ error_type, status, count }) =>
      [`${formatCount(count)} ×`, ...(status === null ? [] : [String(status)]), error_type].join(" "),
    )
    .join(", ");
}
