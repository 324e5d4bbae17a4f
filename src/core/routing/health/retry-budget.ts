import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import { SlicedCounter } from "../../../base/numbers/sliced-counter.ts";

/** Limits retries at a provider to a share of its first attempts in the last minute, plus a small reserve. */
export interface RetryBudget {
  mayRetry(provider: string, now: number): boolean;
  /** Records the first attempt of a request at a provider. */
  recordFirst(provider: string, now: number): void;
  /** Records a further attempt of a request at a provider. */
  recordRetry(provider: string, now: number): void;
}

const SHARE = 0.1;
/** Retries per minute that are always allowed, for providers with little traffic. */
const RESERVE = 10;
const WINDOW = { slices: 12, sliceMs: 5_000 };
const MAX_PROVIDERS = 10_000;

interface Counts {
  readonly firsts: SlicedCounter;
  readonly retries: SlicedCounter;
}

/** Creates an unused budget. */
export function createRetryBudget(): RetryBudget {
  const counts = new BoundedMap<string, Counts>({ max: MAX_PROVIDERS });

  const countsOf = (provider: string): Counts => {
    let known = counts.get(provider);
    if (known === undefined) {
      known = { firsts: new SlicedCounter(WINDOW), retries: new SlicedCounter(WINDOW) };
      counts.set(provider, known);
    }
    return known;
  };

  return {
    mayRetry(provider, now) {
      const known = counts.get(provider);
      return known === undefined || known.retries.sum(now) + 1 <= RESERVE + SHARE * known.firsts.sum(now);
    },
    recordFirst: (provider, now) => countsOf(provider).firsts.add(now),
    recordRetry: (provider, now) => countsOf(provider).retries.add(now),
  };
}
