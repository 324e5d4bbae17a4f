import type { Log } from "../../base/failures/log.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { MINUTE_MS } from "../../base/time/time.ts";
import { checkLedger } from "../../core/ledger/credits/check-ledger.ts";
import { METRICS } from "../../core/telemetry/metric-declarations.ts";
import type { MetricRegistry } from "../../core/telemetry/metric-registry.ts";
import type { Stores } from "../stores/stores.ts";

/** The delay of the first check, so that a start is not slowed down. Milliseconds. */
const FIRST_MS = MINUTE_MS;
/** The pause after a check, as a multiple of the time that the check took. */
const PAUSE_FACTOR = 100;

/** The dependencies of regular ledger checks. */
interface LedgerWatchParts {
  readonly registry: MetricRegistry;
  readonly clock: Clock;
  readonly log: Pick<Log, "error" | "warn">;
  /** Returns whether this gateway is the leading one. */
  readonly isLeader: () => Promise<boolean>;
  /** Returns how many inconsistencies the ledger has. */
  readonly countDifferences: () => Promise<number>;
  /** Called with the result of each check that this gateway makes. */
  readonly onChecked: (differences: number) => void;
}

/** The regular checks of the ledger. */
interface LedgerWatch {
  /** Checks the ledger at intervals from now on. 0 minutes: makes no checks, and forgets the last result. */
  start(minutes: number): Timer | null;
}

/** Creates the regular checks of the ledger, and reports their last result as metrics. */
export function createLedgerWatch(parts: LedgerWatchParts): LedgerWatch {
  const { registry, clock } = parts;
  const last: LastCheck = { differences: null, endedAt: 0 };
  registry.observe(METRICS.ledgerImbalance, (report) => {
    if (last.differences !== null) report(last.differences, []);
  });
  registry.observe(METRICS.ledgerCheckAge, (report) => {
    if (last.differences !== null) report((clock.now() - last.endedAt) / 1_000, []);
  });
  return {
    start(minutes) {
      if (minutes > 0) return checkRegularly(parts, last, minutes);
      last.differences = null;
      return null;
    },
  };
}

function checkRegularly(parts: LedgerWatchParts, last: LastCheck, minutes: number): Timer {
  const { clock } = parts;
  let isOver = false;
  let timer: Timer;
  const wait = (ms: number): void => {
    timer = clock.after(ms, async () => {
      const beganAt = clock.now();
      await check(parts, last);
      const tookMs = clock.now() - beganAt;
      if (!isOver) wait(Math.max(minutes * MINUTE_MS, tookMs * PAUSE_FACTOR));
    });
  };
  wait(Math.min(FIRST_MS, minutes * MINUTE_MS));
  return {
    cancel() {
      isOver = true;
      timer.cancel();
    },
  };
}

interface LastCheck {
  /** Null if this gateway has made no check, or has left the task to another one. */
  differences: number | null;
  endedAt: number;
}

async function check(parts: LedgerWatchParts, last: LastCheck): Promise<void> {
  const { clock, log, isLeader, countDifferences, onChecked } = parts;
  try {
    if (!(await isLeader())) {
      last.differences = null;
      return;
    }
    last.differences = await countDifferences();
    last.endedAt = clock.now();
    if (last.differences > 0)
      log.error("the ledger is inconsistent; `gateway ledger check` lists what", {
        differences: last.differences,
      });
    onChecked(last.differences);
  } catch (error) {
    log.warn("the ledger could not be checked; it is checked again later", { detail: String(error) });
  }
}

/** Returns a function that checks the ledger, and returns how many inconsistencies it has. */
export function createLedgerCheck({
  ledger,
  usage,
  listDamagedLines,
}: Pick<Stores, "ledger" | "usage" | "listDamagedLines">): () => Promise<number> {
  return async () => (await checkLedger(ledger, usage, listDamagedLines())).length;
}
