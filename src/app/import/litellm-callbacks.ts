import type { SettingResult } from "./import-report.ts";

/** Destinations that OpenTelemetry's exporters reach. */
const BY_OTLP =
  /^(?:otel|opentelemetry|langfuse|langfuse_otel|arize|arize_phoenix|phoenix|traceloop|langtrace|logfire|datadog|dynatrace|honeycomb|levo|weave_otel)$/;

const METRICS: ReadonlySet<string> = new Set(["prometheus", "prometheus_system"]);

/** Returns what became of a list of callbacks. */
export function readCallbacks(value: unknown): SettingResult {
  const names = (Array.isArray(value) ? (value as unknown[]) : [value]).map(String);
  const traced = names.filter((name) => BY_OTLP.test(name));
  const others = names.filter((name) => !METRICS.has(name) && !BY_OTLP.test(name));
  const texts = [
    ...(names.some((name) => METRICS.has(name)) ? ["Metrics for Prometheus are at /metrics."] : []),
    ...(traced.length > 0
      ? [
          `For ${traced.join(", ")}, set OTEL_EXPORTER_OTLP_ENDPOINT to an endpoint that takes OpenTelemetry (docs/metrics.md); spans have no message texts.`,
        ]
      : []),
    ...(others.length > 0
      ? [`The gateway runs no code of yours and does not call ${others.join(", ")}.`]
      : []),
  ];
  // Nothing is sent before the endpoint is set.
  return { outcome: traced.length + others.length > 0 ? "missing" : "differs", text: texts.join(" ") };
}
