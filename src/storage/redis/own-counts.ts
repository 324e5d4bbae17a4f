import { BoundedMap } from "../../base/bounded-map.ts";
import { SlidingSum } from "../../base/sliding-sum.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time.ts";
import type { WindowName } from "./limit-calls.ts";
import type { LimitChange } from "./limit-changes.ts";

/** Scopes whose counts are brought to Redis when it is back; of more scopes, those that were idle longest start at zero. */
const MAX_SCOPES = 2_000;
const LENGTH_MS: Readonly<Record<WindowName, number>> = { m: MINUTE_MS, h: HOUR_MS, t: MINUTE_MS };

/** An amount that was counted in a window. */
export interface OwnAmount {
  readonly window: WindowName;
  readonly amount: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface OwnScope {
  readonly key: string;
  readonly windows: Map<WindowName, SlidingSum>;
}

/** What this gateway has counted in windows, and may have to bring to Redis. */
export class OwnCounts {
  private readonly scopes = new BoundedMap<string, OwnScope>({ max: MAX_SCOPES });

  /** Adds an amount, which may be negative, to the scope that is stored under `key`. */
  add(key: string, { window, amount, now }: OwnAmount): void {
    const scope = this.scopes.get(key) ?? { key, windows: new Map() };
    const sum = scope.windows.get(window) ?? new SlidingSum(LENGTH_MS[window], SECOND_MS);
    sum.add(amount, now);
    scope.windows.set(window, sum);
    this.scopes.set(key, scope);
  }

  /** Lists what is still in the windows, as changes that add it in Redis. */
  list(now: number): LimitChange[] {
    const changes: LimitChange[] = [];
    for (const { key, windows } of this.scopes.values()) {
      for (const [window, sum] of windows) {
        const second = sum.at(now);
        if (second > 0) changes.push({ key, what: `${window}+`, first: 0, second });
      }
    }
    return changes;
  }

  clear(): void {
    this.scopes.clear();
  }
}
