import type { Clock, Timer } from "../../base/clock.ts";
import type { Redis, ScriptInput } from "./client.ts";
import type { WindowName } from "./limit-calls.ts";
import { CHANGE } from "./limit-scripts.ts";

/** A change of one key, as the script `CHANGE` describes it. */
export interface LimitChange {
  readonly key: string;
  readonly what: WindowName | `${WindowName}+` | "h=" | "+" | "-";
  readonly first: string | number;
  readonly second: number;
}

/** Settings of a queue of changes. */
export interface LimitChangesOptions {
  readonly redis: Redis;
  readonly clock: Clock;
  /** The time for tests; 0 for the server's. */
  readonly time: () => number;
  /** How long a generation counts as running without being renewed. Milliseconds. */
  readonly leaseMs: number;
}

/** How long a change may wait for others. Milliseconds. */
const WAIT_MS = 5;
const MAX_PER_CALL = 200;
/** Beyond it changes are dropped: leases end by themselves, and what was reserved leaves its window. */
const MAX_WAITING = 20_000;

/** Changes that no request waits for, sent in groups. One that fails is lost: limits are then stricter for a minute. */
export class LimitChanges {
  private waiting: LimitChange[] = [];
  private timer: Timer | null = null;

  constructor(private readonly options: LimitChangesOptions) {}

  add(change: LimitChange): void {
    if (this.waiting.length >= MAX_WAITING) return;
    this.waiting.push(change);
    this.timer ??= this.options.clock.after(WAIT_MS, () => this.flush());
  }

  /** Sends what waits, before anything that is sent afterwards. */
  flush(): void {
    this.timer?.cancel();
    this.timer = null;
    const { waiting } = this;
    if (waiting.length === 0) return;
    this.waiting = [];
    for (let at = 0; at < waiting.length; at += MAX_PER_CALL)
      this.send(waiting.slice(at, at + MAX_PER_CALL)).catch(() => {});
  }

  /** Sends changes in one call. Rejects with a `StoreError` if it fails. */
  async send(changes: readonly LimitChange[]): Promise<void> {
    const { redis, time, leaseMs } = this.options;
    await redis.run(CHANGE, encodeChanges(changes, [time(), leaseMs]));
  }
}

function encodeChanges(changes: readonly LimitChange[], head: readonly number[]): ScriptInput {
  const indexOf = new Map<string, number>();
  const values: (string | number)[] = [...head];
  for (const { key, what, first, second } of changes) {
    const index = indexOf.get(key) ?? indexOf.size + 1;
    indexOf.set(key, index);
    values.push(index, what, first, second);
  }
  return { keys: [...indexOf.keys()], values };
}
