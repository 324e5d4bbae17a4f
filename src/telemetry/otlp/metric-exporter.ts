import type { Timer } from "../../base/time/clock.ts";
import type { Family } from "../metrics/registry.ts";
import { encodeMetrics } from "./encode-metrics.ts";
import type { EncodedOrigin } from "./json.ts";
import { type Posting, postExport } from "./post-export.ts";
import { type ExportReports, reportExport } from "./span-exporter.ts";

/** The dependencies of a metric exporter. */
interface MetricExporterParts {
  readonly posting: Posting;
  readonly origin: EncodedOrigin;
  readonly reports: ExportReports;
  readonly families: readonly Family[];
  /** When values began to be counted. Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** Sends all metrics at intervals. Values are cumulative, so a failed export loses only the values of that moment. */
export class MetricExporter {
  private sending: Promise<void> | null = null;

  constructor(private readonly parts: MetricExporterParts) {}

  /** Sends the metrics at intervals from now on. */
  start(intervalMs: number): Timer {
    return this.parts.posting.clock.every(intervalMs, () => {
      // While an export is repeated, the next one waits for its turn.
      if (this.sending === null) void this.send();
    });
  }

  /** Resolves when the metrics of this moment were sent or dropped. */
  async flush(): Promise<void> {
    await this.sending;
    await this.send();
  }

  private send(): Promise<void> {
    this.sending ??= this.export().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  private async export(): Promise<void> {
    const { posting, origin, reports, families, startedAt } = this.parts;
    const metrics = await encodeMetrics(families, { startedAt, now: posting.clock.now() });
    const { resource, scope } = origin;
    const body = `{"resourceMetrics":[{"resource":${resource},"scopeMetrics":[{"scope":${scope},"metrics":[${metrics}]}]}]}`;
    reportExport(await postExport(posting, Buffer.from(body)), 1, reports);
  }
}
