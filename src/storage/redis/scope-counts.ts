import { BoundedMap } from "../../base/collections/bounded-map.ts";
import { type AddedAmount, SlidingSum } from "../../base/numbers/sliding-sum.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time/time.ts";
import type { AgedAmounts, WindowAmounts, WindowName } from "./limit-calls.ts";

/**
 * The maximum number of scopes whose counts are carried to a Redis that has lost its data. If there are more, the scopes that were idle
 * longest start at zero.
 */
const MAX_SCOPES = 20_000;
const LENGTH_MS: Readonly<Record<WindowName, number>> = { m: MINUTE_MS, h: HOUR_MS, t: MINUTE_MS };

/** Sums by window. */
class Windows {
  private readonly sums = new Map<WindowName, SlidingSum>();

  add(window: WindowName, amount: number, now: number): AddedAmount {
    let sum = this.sums.get(window);
    if (sum === undefined) {
      sum = new SlidingSum(LENGTH_MS[window], SECOND_MS);
      this.sums.set(window, sum);
    }
    return sum.add(amount, now);
  }

  isEmpty(now: number): boolean {
    for (const sum of this.sums.values()) if (sum.at(now) !== 0) return false;
    return true;
  }

  list(now: number): WindowAmounts {
    const amounts: Partial<Record<WindowName, AgedAmounts>> = {};
    for (const [window, sum] of this.sums) {
      const aged = listAges(sum, window === "h" ? MINUTE_MS : SECOND_MS, now);
      if (aged.length > 0) amounts[window] = aged;
    }
    return amounts;
  }
}

/**
 * Lists the amounts of a sum with their ages. Amounts within one time span are listed together with the age of the youngest, so that none
 * leaves early.
 */
function listAges(sum: SlidingSum, spanMs: number, now: number): AgedAmounts {
  const spans = new Map<number, { age: number; amount: number }>();
  for (const { lastAt, amount } of sum.list(now)) {
    if (amount <= 0) continue;
    const span = Math.floor(lastAt / spanMs);
    const known = spans.get(span);
    spans.set(span, { age: now - lastAt, amount: amount + (known?.amount ?? 0) });
  }
  return [...spans.values()].flatMap(({ age, amount }) => [age, amount]);
}

/** This gateway's counts for one scope, and what Redis knows of them. */
export class OwnScope {
  /** The number of the value in Redis that contains everything except what is owed; "" if there is none. */
  known = "";
  /** The generations of this gateway that count as concurrent: all except those whose end was reported to Redis. */
  running = 0;
  ended = 0;
  /** Whether concurrent requests are limited, so that Redis counts them. */
  isConcurrent = false;
  /** Questions on their way to Redis, which may increase the number of running requests. */
  asking = 0;
  /** Whether the value in Redis may be lost, or not have what this gateway has counted. */
  mustCarry = false;
  private readonly all = new Windows();
  private owed: Windows | null = null;

  constructor(readonly key: string) {}

  /** Counts an amount that Redis has counted. */
  add(window: WindowName, amount: number, now: number): AddedAmount {
    return this.all.add(window, amount, now);
  }

  /** Counts an amount that Redis has not counted. */
  owe(window: WindowName, amount: number, now: number): void {
    this.all.add(window, amount, now);
    this.owed ??= new Windows();
    this.owed.add(window, amount, now);
    this.mustCarry = true;
  }

  isEmpty(now: number): boolean {
    return this.running === 0 && this.all.isEmpty(now);
  }

  /** Returns the counts that Redis lacks, and those that it needs if it has lost everything. The owed counts are no longer owed afterwards. */
  take(now: number): TakenCounts {
    const owed = this.owed?.list(now) ?? {};
    this.owed = null;
    this.ended = 0;
    this.mustCarry = false;
    return { owed, all: this.all.list(now) };
  }

  /** Owes again what was taken and did not arrive. */
  putBack({ owed }: TakenCounts, now: number): void {
    this.mustCarry = true;
    this.owed ??= new Windows();
    for (const window of ["m", "h", "t"] as const)
      for (let at = 1; at < (owed[window]?.length ?? 0); at += 2)
        this.owed.add(window, owed[window]?.[at] as number, now);
  }
}

/** Counts on their way to Redis. */
export interface TakenCounts {
  readonly owed: WindowAmounts;
  readonly all: WindowAmounts;
}

/** The counts of this gateway, by scope. */
export class ScopeCounts {
  private readonly scopes = new BoundedMap<string, OwnScope>({
    max: MAX_SCOPES,
    mayEvict: ({ running }) => running === 0,
  });

  /** Returns a scope, which becomes the newest. */
  use(key: string): OwnScope {
    const known = this.scopes.touch(key);
    if (known !== undefined) return known;
    const scope = new OwnScope(key);
    this.scopes.set(key, scope);
    return scope;
  }

  list(): IterableIterator<OwnScope> {
    return this.scopes.values();
  }
}
