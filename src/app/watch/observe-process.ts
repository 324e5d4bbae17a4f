import type { Clock, Timer } from "../../base/time/clock.ts";
import { METRICS } from "../../core/telemetry/metric-declarations.ts";
import type { Histogram, MetricRegistry } from "../../core/telemetry/metric-registry.ts";

/** How often the event loop is measured. Milliseconds. */
const LAG_MS = 500;

/** The readings of the process. */
interface ObservedProcess {
  readonly version: string;
  readonly runtime: string;
  /** When it started. Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** Registers the metrics of the process itself. */
export function observeProcess(
  registry: MetricRegistry,
  { version, runtime, startedAt }: ObservedProcess,
): void {
  registry.observe(METRICS.cpuSeconds, (report) => {
    const { user, system } = process.cpuUsage();
    report((user + system) / 1e6, []);
  });
  registry.observe(METRICS.residentMemory, (report) => report(process.memoryUsage.rss(), []));
  registry.observe(METRICS.startTime, (report) => report(startedAt / 1_000, []));
  registry.observe(METRICS.build, (report) => report(1, [version, runtime]));
}

/** Measures regularly by how much a timer is late. */
export function watchEventLoop(lag: Histogram<typeof METRICS.eventLoopLag.labels>, clock: Clock): Timer {
  let due = clock.precise() + LAG_MS;
  return clock.every(LAG_MS, () => {
    const now = clock.precise();
    lag.observe(Math.max(0, now - due) / 1_000);
    due = now + LAG_MS;
  });
}
