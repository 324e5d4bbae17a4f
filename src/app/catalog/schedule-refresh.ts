import { GatewayError } from "../../base/failures/errors.ts";
import type { Log } from "../../base/failures/log.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { HOUR_MS, MINUTE_MS } from "../../base/time/time.ts";
import type { CatalogManager, RefreshReport } from "../../core/catalog/refresh/catalog-manager.ts";

/** The delay of the first refresh, so that a start is not slowed down and a restart loop does not call the source. */
const FIRST_MS = { least: 2 * MINUTE_MS, most: 10 * MINUTE_MS };
/** Bounds of the random factor of the period, so that many gateways do not call the source at the same time. */
const SPREAD = { least: 0.9, most: 1.1 };

/** The dependencies of scheduled refreshes. */
interface RefreshSchedule {
  readonly manager: CatalogManager;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The period in hours; 0 for no refreshes. */
  readonly hours: number;
}

/** Refreshes the catalog periodically, the first time some minutes after the start. */
export function scheduleRefresh(schedule: RefreshSchedule): Timer {
  const { clock, random, hours } = schedule;
  if (hours === 0) return { cancel() {} };
  const logReport = createReportLog(schedule.log);
  let isOver = false;
  let timer: Timer;
  const wait = (ms: number): void => {
    timer = clock.after(ms, async () => {
      await refreshIfDue(schedule, logReport);
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

type LogReport = (report: RefreshReport) => void;

/** Skips the refresh if another process, or this one before a restart, has just done it. */
async function refreshIfDue(
  { manager, clock, hours, log }: RefreshSchedule,
  logReport: LogReport,
): Promise<void> {
  const { refreshedAt } = await manager.status();
  if (refreshedAt !== null && clock.now() - refreshedAt < (hours * HOUR_MS) / 2) return;
  try {
    logReport(await manager.refresh({ dryRun: false }));
  } catch (error) {
    // Another process is refreshing; this one reloads what it writes.
    if (error instanceof GatewayError && error.failure.code === "conflict" && !isForOlder(error)) return;
    log.warn("the catalog could not be refreshed; the current one stays in use", { detail: String(error) });
  }
}

/** Whether the catalog was not written because an older gateway could not read it. */
function isForOlder({ failure }: GatewayError): boolean {
  return failure.metadata?.["needs_version"] !== undefined;
}

/** Logs reports; a repeated problem and a pending price change are logged once. */
function createReportLog(log: Log): LogReport {
  let problem: string | null = null;
  let logged = new Set<string>();
  return (report) => {
    if (report.problem !== null && report.problem !== problem)
      log.warn("the catalog source was rejected; nothing was changed", { detail: report.problem });
    if (report.problem === null && problem !== null) log.info("the catalog source is valid again");
    problem = report.problem;
    if (!report.ok) return;
    const { added, changed, waiting } = report;
    log.info("the catalog source was read", { added, changed, waiting: waiting.length });
    const fresh = waiting.filter(({ id }) => !logged.has(id));
    logged = new Set(waiting.map(({ id }) => id));
    if (fresh.length === 0) return;
    log.warn("price changes wait for approval; list them with `gateway catalog pending`", {
      waiting: waiting.length,
      models: [...new Set(fresh.map(({ model }) => model))].slice(0, NAMED_MODELS),
    });
  };
}

const NAMED_MODELS = 20;

/** Returns a uniformly distributed number between two bounds. */
function draw(random: Random, { least, most }: { least: number; most: number }): number {
  const [a = 0, b = 0] = random.bytes(2);
  return least + ((a * 256 + b) / 65_535) * (most - least);
}
