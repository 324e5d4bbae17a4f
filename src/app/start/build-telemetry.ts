import packageJson from "../../../package.json" with { type: "json" };
import type { Clock, Timer } from "../../base/time/clock.ts";
import { hashSecret } from "../../core/accounts/records/secrets.ts";
import type { GuardrailMatch } from "../../core/extensions/guardrails/guardrails.ts";
import { createRequestMetrics } from "../../core/extensions/metrics.ts";
import { createTracing } from "../../core/extensions/tracing.ts";
import type { Serving } from "../../core/generation/call/call.ts";
import type { Extension } from "../../core/generation/call/extension.ts";
import { METRICS } from "../../core/telemetry/metric-declarations.ts";
import type { HttpDeps } from "../../http/context/context.ts";
import type { MetricsDeps } from "../../http/context/metrics-deps.ts";
import { joinFamilies, printFamilies, TEXT_FORMAT } from "../../telemetry/metrics/print-metrics.ts";
import { createMetricRegistry, type ReadableRegistry } from "../../telemetry/metrics/registry.ts";
import type { TextWebhookDeps } from "../../telemetry/webhooks/text-webhook.ts";
import type { Config } from "../config/config-schema.ts";
import { readExportSettings, readMetricsAllowed } from "../config/read-settings.ts";
import { restartOnChange } from "../config/restart-on-change.ts";
import { type ObservedParts, observeParts } from "../watch/observe-parts.ts";
import { observeProcess, watchEventLoop } from "../watch/observe-process.ts";
import type { ProcessGroup } from "../watch/process-group.ts";
import { createLedgerCheck, createLedgerWatch } from "../watch/watch-ledger.ts";
import { keep } from "./build-configured.ts";
import { buildExporters, type Exporters } from "./build-exporters.ts";
import type { TelemetrySource } from "./telemetry-source.ts";

/** The parts that observe the requests that begin under one configuration. */
interface Observation {
  readonly extensions: readonly Extension[];
  readonly observers: HttpDeps["observers"];
}

/** The metrics and traces of a gateway. */
export interface Telemetry {
  /** Returns what observes the requests that begin under a configuration. A part that is switched off has no extension. */
  observe(config: Config): Observation;
  /** Counts requests that a guardrail matches. */
  readonly onGuardrailVerdict: TextWebhookDeps["onVerdict"];
  readonly onGuardrailMatch: (match: GuardrailMatch) => void;
  /** Starts what is measured and exported at intervals, once all parts are built. */
  start(parts: ObservedParts): Timer;
  /** Sends what waits for the collector. Resolves when it was sent or dropped. */
  flush(): Promise<void>;
}

/**
 * Builds the parts of all metrics and traces, so that a reload can switch them on and counts survive it. What is switched off gets no
 * values. @throws ConfigError
 */
export function buildTelemetry(source: TelemetrySource): Telemetry {
  const { platform, serving } = source;
  const otlp = readExportSettings(platform.environment);
  const hasMetrics = (config: Config) => config.metrics.enabled || otlp.metrics !== null;
  const registry = createMetricRegistry();
  const exporters = buildExporters({ ...source, otlp, registry });
  const requestMetrics = createRequestMetrics({
    registry,
    findModelId: (text) => findModelId(serving(), text),
  });
  const guardrailMatches = registry.counter(METRICS.guardrailMatches);
  const guardrailVerdicts = registry.counter(METRICS.guardrailVerdicts);
  const createTracer = keep((isGenAi: boolean) => exporters.createTracer?.(isGenAi) ?? null);
  const served = serveMetrics(registry, platform.processes);
  return {
    observe(config) {
      const { gen_ai_semconv, propagate_to } = config.telemetry;
      const propagated = new Set(propagate_to);
      const tracer = createTracer(gen_ai_semconv === "latest");
      return {
        extensions: [
          ...(hasMetrics(config) ? [requestMetrics] : []),
          ...(tracer === null ? [] : [createTracing((slug) => propagated.has(slug))]),
        ],
        observers: {
          requestObserver: hasMetrics(config) ? requestMetrics : null,
          tracer,
          metrics: config.metrics.enabled ? { ...served, ...readMetricsAccess(config) } : null,
        },
      };
    },
    onGuardrailVerdict: (name, verdict) => guardrailVerdicts.add(1, name, verdict),
    onGuardrailMatch: ({ name, action, on }) => guardrailMatches.add(1, name, action, on),
    start: (parts) => startAll({ source, registry, exporters, hasMetrics }, parts),
    flush: exporters.flush,
  };
}

/** Returns the id of a model or tier, or the name of a route of the operator; null for any other text. */
function findModelId({ catalog, tiers, namedRoutes }: Serving, text: string): string | null {
  return catalog.find(text)?.id ?? tiers.find(text)?.id ?? namedRoutes.find(text)?.name ?? null;
}

interface Started {
  readonly source: TelemetrySource;
  readonly registry: ReadableRegistry;
  readonly exporters: Exporters;
  /** Returns whether metrics are served or exported under a configuration. */
  readonly hasMetrics: (config: Config) => boolean;
}

function startAll({ source, registry, exporters, hasMetrics }: Started, parts: ObservedParts): Timer {
  const { live, platform, ledgerAlarm } = source;
  const { clock, log } = platform;
  observeParts(registry, parts, live.current());
  const lag = registry.histogram(METRICS.eventLoopLag);
  observeProcess(registry, describeProcess(clock));
  const ledger = createLedgerWatch({
    registry,
    clock,
    log,
    isLeader: () => parts.gateways.isLeader(),
    countDifferences: createLedgerCheck(parts.stores),
    onChecked: ledgerAlarm.onChecked,
  });
  const readCheckMinutes = (config: Config) =>
    hasMetrics(config) || ledgerAlarm.isWanted(config) ? config.metrics.ledger_check_minutes : 0;
  const timers = [
    exporters.start(),
    restartOnChange(live, hasMetrics, (isOn) => (isOn ? watchEventLoop(lag, clock) : null)),
    restartOnChange(live, readCheckMinutes, (minutes) => ledger.start(minutes)),
  ];
  return {
    cancel() {
      for (const timer of timers) timer.cancel();
    },
  };
}

function describeProcess(clock: Clock) {
  return {
    version: packageJson.version,
    runtime: `bun ${Bun.version}`,
    startedAt: clock.now() - process.uptime() * 1_000,
  };
}

/** Serves the metrics of this process, or of all processes that share the port. */
function serveMetrics(
  registry: ReadableRegistry,
  group: ProcessGroup | undefined,
): Pick<MetricsDeps, "print"> {
  const labels: Record<string, string> = group === undefined ? {} : { process: String(group.index) };
  const readOwn = () => printFamilies(registry.families, labels);
  group?.serveMetrics(readOwn);
  const readAll = async () =>
    joinFamilies(
      await Promise.all([readOwn(), group?.readOthers() ?? []]).then(([own, others]) => [own, ...others]),
    );
  let reading: Promise<string> | null = null;
  return {
    async print() {
      // Scrapes at the same time share one reading.
      reading ??= readAll().finally(() => {
        reading = null;
      });
      return { text: await reading, mediaType: TEXT_FORMAT };
    },
  };
}

/** Reads who may read the metrics. @throws ConfigError */
function readMetricsAccess(config: Config): Pick<MetricsDeps, "tokenHash" | "allowed"> {
  const { token } = config.metrics;
  return { tokenHash: token === undefined ? null : hashSecret(token), allowed: readMetricsAllowed(config) };
}
