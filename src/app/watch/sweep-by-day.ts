import type { Log } from "../../base/failures/log.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { type Leases, LeaseTakenError, withLease } from "../../base/time/lease.ts";
import { dayOf, HOUR_MS, MINUTE_MS } from "../../base/time/time.ts";
import type { StepReport } from "../../core/usage/records/retention.ts";

/** The first sweep comes some time after the start, which has other work. Milliseconds. */
const FIRST_MS = 5 * MINUTE_MS;
const PERIOD_MS = HOUR_MS;
/** The pause between two steps, in which requests use the database. Milliseconds. */
const PAUSE_MS = 100;
const LEASE_MS = 2 * MINUTE_MS;

/** Work on old days in bounded steps. */
export interface DaySweep {
  /** The name of its lease. */
  readonly name: string;
  /** The number of past days that are kept, besides today. Null: all. */
  readonly days: number | null;
  /** Does one step of the work on the days before `firstKept`. */
  readonly step: (firstKept: number) => Promise<StepReport>;
  /** The log event for a failed step. */
  readonly failureEvent: string;
}

/** The dependencies of all sweeps. */
interface SweepPlatform {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly log: Log;
  /** The gateway's id. */
  readonly owner: string;
}

/** Does the work of a sweep once an hour, by one gateway for all. */
export function scheduleSweep(sweep: DaySweep, platform: SweepPlatform): Timer {
  const { clock, log } = platform;
  const { days } = sweep;
  if (days === null) return { cancel() {} };
  let timer: Timer;
  let isOver = false;
  const isEnding = () => isOver;
  const wait = (ms: number): void => {
    timer = clock.after(ms, async () => {
      const firstKept = dayOf(clock.now()) - days;
      await sweepOnce(sweep, platform, { firstKept, isEnding }).catch((error) => {
        log.warn(sweep.failureEvent, { detail: String(error) });
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

/** Does all steps, unless another gateway does them now. */
async function sweepOnce(
  { name, step }: DaySweep,
  { leases, clock, owner }: SweepPlatform,
  { firstKept, isEnding }: { readonly firstKept: number; readonly isEnding: () => boolean },
): Promise<void> {
  const request = { name, owner, durationMs: LEASE_MS };
  const work = async (): Promise<void> => {
    while (!isEnding() && (await step(firstKept)).hasMore) await pause(clock);
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
