import { createHash } from "node:crypto";
import packageJson from "../../../package.json" with { type: "json" };
import type { Timer } from "../../base/time/clock.ts";
import { METRICS } from "../../core/telemetry/metric-declarations.ts";
import type { Tracer } from "../../core/telemetry/request-trace.ts";
import type { ReadableRegistry } from "../../telemetry/metrics/registry.ts";
import { type EncodedOrigin, encodeOrigin } from "../../telemetry/otlp/json.ts";
import { MetricExporter } from "../../telemetry/otlp/metric-exporter.ts";
import type { OtlpSettings, SignalSettings } from "../../telemetry/otlp/otlp-settings.ts";
import type { Posting } from "../../telemetry/otlp/post-export.ts";
import { type ExportReports, SpanExporter } from "../../telemetry/otlp/span-exporter.ts";
import { createTracer } from "../../telemetry/otlp/tracer.ts";
import { createOutageLog } from "../stores/outage-log.ts";
import type { TelemetrySource } from "./telemetry-source.ts";

/** The inputs of exporters. */
interface ExporterSource extends TelemetrySource {
  readonly otlp: OtlpSettings;
  readonly registry: ReadableRegistry;
}

/** The exporters that send telemetry to a collector. */
export interface Exporters {
  /** Creates a tracer, perhaps with the attributes of the GenAI conventions. Null if traces are not exported. */
  readonly createTracer: ((isGenAi: boolean) => Tracer) | null;
  /** Starts the exports at intervals. */
  start(): Timer;
  /** Sends what waits. No export is repeated from now on. */
  flush(): Promise<void>;
}

/** Builds the exporters of the signals that are exported. */
export function buildExporters(source: ExporterSource): Exporters {
  const { platform, otlp, registry, gatewayId } = source;
  const { clock, random } = platform;
  const stopping = new AbortController();
  const origin = describeOrigin(otlp, gatewayId);
  const postingOf = (settings: SignalSettings): Posting => ({
    settings,
    clock,
    random,
    stopped: stopping.signal,
  });
  const reports = createReports(source);
  const { traces, metrics } = otlp;
  const spans = traces && new SpanExporter(postingOf(traces), origin, reports.traces);
  const values =
    metrics &&
    new MetricExporter({
      posting: postingOf(metrics),
      origin,
      reports: reports.metrics,
      families: registry.families,
      startedAt: clock.now(),
    });
  return {
    createTracer:
      traces &&
      spans &&
      ((isGenAi) => createTracer({ sampler: traces.sampler, random, exporter: spans, isGenAi })),
    start: () => (values && metrics ? values.start(metrics.intervalMs) : { cancel() {} }),
    async flush() {
      stopping.abort();
      await Promise.all([spans?.flush(), values?.flush()]);
    },
  };
}

/** The id of an instance is a hash, because other gateways identify a gateway by its id. */
function describeOrigin({ resource }: OtlpSettings, gatewayId: string): EncodedOrigin {
  const { version } = packageJson;
  const instance = createHash("sha256").update(gatewayId).digest("hex").slice(0, 32);
  return encodeOrigin({ "service.version": version, "service.instance.id": instance, ...resource }, version);
}

/** Counts what was exported and dropped, and logs when exporting begins to fail and works again. */
function createReports({ platform: { log, clock }, registry }: ExporterSource) {
  const taken = registry.counter(METRICS.exportedTelemetry);
  const dropped = registry.counter(METRICS.droppedTelemetry);
  const reportsOf = (signal: "traces" | "metrics"): ExportReports => {
    const outage = createOutageLog({
      log,
      clock,
      failureEvent: `${signal} were dropped`,
      recoveryEvent: `${signal} are exported again`,
    });
    dropped.add(0, signal);
    return {
      onTaken(count) {
        outage.succeeded();
        taken.add(count, signal);
      },
      onDropped(count, reason) {
        outage.failed(new Error(reason));
        dropped.add(count, signal);
      },
    };
  };
  return { traces: reportsOf("traces"), metrics: reportsOf("metrics") };
}
