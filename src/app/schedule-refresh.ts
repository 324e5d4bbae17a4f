import type { Clock, Timer } from "../base/clock.ts";
import { GatewayError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { CatalogManager, RefreshReport } from "../core/catalog/catalog-manager.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A start has better things to do, and what is restarted again and again is not to ask each time. */
const FIRST_MS = { least: 2 * MINUTE_MS, most: 10 * MINUTE_MS };
/** Shares of the period, so that a fleet does not ask at once. */
const SPREAD = { least: 0.9, most: 1.1 };

/** What refreshing on a schedule takes. */
export interface RefreshSchedule {
  readonly manager: CatalogManager;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** 0: never. */
  readonly hours: number;
}

/** Refreshes the catalog every so many hours, the first time some minutes after the start. */
export function scheduleRefresh(schedule: RefreshSchedule): Timer {
  const { clock, random, hours } = schedule;
  if (hours === 0) return { cancel() {} };
  const tell = createTeller(schedule.log);
  let isOver = false;
  let timer: Timer;
  const wait = (ms: number): void => {
    timer = clock.after(ms, async () => {
      await refreshIfDue(schedule, tell);
      if (!isOver) wait(hours * HOUR_MS * draw(random, SPREAD));
    });
  };
  wait(draw(random, FIRST_MS));
  return {
    cancel() {
      isOver = true;
      timer.cancel();
    },
  };
}

type Tell = (report: RefreshReport) => void;

/** Another process on the data directory, or this one before its restart, may have done it just now. */
async function refreshIfDue(
  { manager: keeper, clock, hours, log }: RefreshSchedule,
  tell: Tell,
): Promise<void> {
  const { refreshedAt } = await keeper.status();
  if (refreshedAt !== null && clock.now() - refreshedAt < (hours * HOUR_MS) / 2) return;
  try {
    tell(await keeper.refresh({ dryRun: false }));
  } catch (error) {
    // Another process is at it, and this one sees what it writes.
    if (error instanceof GatewayError && error.failure.code === "conflict") return;
    log.warn("the catalog could not be refreshed; the one before stays", { detail: String(error) });
  }
}

/** A failure that lasts is told once, a change that waits likewise. */
function createTeller(log: Log): Tell {
  let problem: string | null = null;
  let told = new Set<string>();
  return (report) => {
    if (report.problem !== null && report.problem !== problem)
      log.warn("the catalog's source was not taken over; nothing was changed", { detail: report.problem });
    if (report.problem === null && problem !== null) log.info("the catalog's source is sound again");
    problem = report.problem;
    if (!report.ok) return;
    const { added, changed, waiting } = report;
    log.info("the catalog's source was read", { added, changed, waiting: waiting.length });
    const fresh = waiting.filter(({ id }) => !told.has(id));
    told = new Set(waiting.map(({ id }) => id));
    if (fresh.length === 0) return;
    log.warn("changes of prices wait for the operator: gateway catalog pending", {
      waiting: waiting.length,
      models: [...new Set(fresh.map(({ model }) => model))].slice(0, NAMED_MODELS),
    });
  };
}

const NAMED_MODELS = 20;

/** A number between two bounds, evenly. */
function draw(random: Random, { least, most }: { least: number; most: number }): number {
  const [a = 0, b = 0] = random.bytes(2);
  return least + ((a * 256 + b) / 65_535) * (most - least);
}
