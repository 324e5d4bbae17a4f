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
import { type ObservedParts, observeParts } from "../watch/observe-parts.ts";
import { observeProcess, watchEventLoop } from "../watch/observe-process.ts";
import type { ProcessGroup } from "../watch/process-group.ts";
import { createLedgerCheck, watchLedger } from "../watch/watch-ledger.ts";
import { buildExporters, type Exporters } from "./build-exporters.ts";
import type { TelemetrySource } from "./telemetry-source.ts";

/** The metrics and traces of a gateway. */
export interface Telemetry {
  readonly extensions: readonly Extension[];
  /** Counts requests that a guardrail matches. */
  readonly onGuardrailVerdict: TextWebhookDeps["onVerdict"];
  readonly onGuardrailMatch: (match: GuardrailMatch) => void;
  readonly observers: HttpDeps["observers"];
  /** Starts what is measured and exported at intervals, once all parts are built. */
  start(parts: ObservedParts): Timer;
  /** Sends what waits for the collector. Resolves when it was sent or dropped. */
  flush(): Promise<void>;
}

/** Builds the parts that are switched on. The others have no extension and no timer. @throws ConfigError */
export function buildTelemetry(source: TelemetrySource): Telemetry {
  const { config, platform, serving } = source;
  const otlp = readExportSettings(platform.environment);
  const hasMetrics = config.metrics.enabled || otlp.metrics !== null;
  const registry = hasMetrics ? createMetricRegistry() : null;
  const exporters = buildExporters({ ...source, otlp, registry });
  const requestMetrics =
    registry && createRequestMetrics({ registry, findModelId: (text) => findModelId(serving(), text) });
  const guardrailMatches = registry?.counter(METRICS.guardrailMatches);
  const guardrailVerdicts = registry?.counter(METRICS.guardrailVerdicts);
  const propagated = new Set(config.telemetry.propagate_to);
  return {
    extensions: [
      ...(requestMetrics === null ? [] : [requestMetrics]),
      ...(exporters.tracer === null ? [] : [createTracing((slug) => propagated.has(slug))]),
    ],
    onGuardrailVerdict: (name, verdict) => guardrailVerdicts?.add(1, name, verdict),
    onGuardrailMatch: ({ name, action, on }) => guardrailMatches?.add(1, name, action, on),
    observers: {
      requestObserver: requestMetrics,
      tracer: exporters.tracer,
      metrics: registry && config.metrics.enabled ? serveMetrics(registry, config, platform.processes) : null,
    },
    start: (parts) => startAll({ source, registry, exporters }, parts),
    flush: exporters.flush,
  };
}

/** Returns the id of a model or tier, or the name of a route of the operator; null for any other text. */
function findModelId({ catalog, tiers, namedRoutes }: Serving, text: string): string | null {
  return catalog.find(text)?.id ?? tiers.find(text)?.id ?? namedRoutes.find(text)?.name ?? null;
}

interface Started {
  readonly source: TelemetrySource;
  readonly registry: ReadableRegistry | null;
  readonly exporters: Exporters;
}

function startAll({ source, registry, exporters }: Started, parts: ObservedParts): Timer {
  const { config, platform } = source;
  const { clock, log } = platform;
  const timers: Timer[] = [exporters.start()];
  if (registry !== null) {
    observeParts(registry, parts, config);
    timers.push(watchEventLoop(registry, clock));
    observeProcess(registry, describeProcess(clock));
  }
  if (registry !== null || source.onLedgerChecked !== null)
    timers.push(
      watchLedger({
        registry,
        clock,
        log,
        minutes: config.metrics.ledger_check_minutes,
        isLeader: () => parts.gateways.isLeader(),
        countDifferences: createLedgerCheck(parts.stores),
        onChecked: source.onLedgerChecked,
      }),
    );
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
  config: Config,
  group: ProcessGroup | undefined,
): MetricsDeps {
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
    ...readMetricsAccess(config),
  };
}

/** Reads who may read the metrics. @throws ConfigError */
export function readMetricsAccess(config: Config): Pick<MetricsDeps, "tokenHash" | "allowed"> {
  const { token } = config.metrics;
  return { tokenHash: token === undefined ? null : hashSecret(token), allowed: readMetricsAllowed(config) };
}
