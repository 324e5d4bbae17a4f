import type { Clock, Timer } from "../base/clock.ts";
import { type Leases, LeaseTakenError, withLease } from "../base/lease.ts";
import type { Log } from "../base/log.ts";
import { dayOf, HOUR_MS, MINUTE_MS } from "../base/time.ts";
import type { UsageRetention } from "../core/usage/retention.ts";

/** The first sweep comes some time after the start, which has other work. Milliseconds. */
const FIRST_MS = 5 * MINUTE_MS;
const PERIOD_MS = HOUR_MS;
/** The pause between two steps, in which requests use the database. Milliseconds. */
const PAUSE_MS = 100;
const LEASE_MS = 2 * MINUTE_MS;

/** What a sweep needs. */
export interface RetentionSweep {
  readonly retention: UsageRetention;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly log: Log;
  /** The gateway's id. */
  readonly owner: string;
  /** How many days of generations are kept, besides the present day. Null: all. */
  readonly days: number | null;
}

/** Deletes generations that are older than the retention policy keeps them: once an hour, by one gateway for all. */
export function scheduleRetention(sweep: RetentionSweep): Timer {
  const { clock, log, days } = sweep;
  if (days === null) return { cancel() {} };
  let timer: Timer;
  let isOver = false;
  const isEnding = () => isOver;
  const wait = (ms: number): void => {
    timer = clock.after(ms, async () => {
      await dropOldUsage(sweep, days, isEnding).catch((error) => {
        log.warn("generations beyond storage.retention_days could not be deleted; they are deleted later", {
          detail: String(error),
        });
      });
      if (!isOver) wait(PERIOD_MS);
    });
  };
  wait(FIRST_MS);
  return {
    cancel() {
      isOver = true;
      timer.cancel();
    },
  };
}

/** Deletes all generations of days that are not kept, unless another gateway does so now. */
async function dropOldUsage(
  { retention, leases, clock, owner }: RetentionSweep,
  days: number,
  isEnding: () => boolean,
): Promise<void> {
  const request = { name: "retention", owner, durationMs: LEASE_MS };
  const firstKept = dayOf(clock.now()) - days;
  const work = async (): Promise<void> => {
    while (!isEnding() && (await retention.dropUsage(firstKept)).hasMore) await pause(clock);
  };
  await withLease({ leases, clock, request, work }).catch((error) => {
    if (!(error instanceof LeaseTakenError)) throw error;
  });
}

function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.after(PAUSE_MS, resolve);
  });
}
