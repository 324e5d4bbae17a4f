import type { StoreHealth } from "../../base/failures/store-health.ts";
import type { BudgetWatch } from "../../core/extensions/budgets/budget-watch.ts";
import type { CircuitState } from "../../core/routing/health/circuit.ts";
import { METRICS } from "../../core/telemetry/metric-declarations.ts";
import type { MetricRegistry } from "../../core/telemetry/metric-registry.ts";
import type { Journal } from "../../core/usage/journal/journal.ts";
import type { Recorder } from "../../core/usage/journal/recorder.ts";
import type { HttpDeps } from "../../http/context/context.ts";
import type { Config } from "../config/config-schema.ts";
import type { JoinedGateways } from "../several/join-gateways.ts";
import type { CommonState } from "../stores/common-state.ts";
import type { Stores } from "../stores/stores.ts";

/** The parts of a gateway that have metrics of their own. */
export interface ObservedParts {
  /** The dependencies of a request that begins now. */
  readonly http: Pick<HttpDeps, "generation" | "bodies" | "sockets" | "clock" | "features" | "resources">;
  readonly journal: Pick<Journal, "size">;
  readonly recorder: Recorder;
  readonly health: StoreHealth;
  readonly common: CommonState;
  readonly gateways: JoinedGateways;
  readonly stores: Stores;
  readonly budgetWatch: BudgetWatch;
}

/** Registers the metrics that are read from the parts of a gateway. */
export function observeParts(registry: MetricRegistry, parts: ObservedParts, config: Config): void {
  observeLoad(registry, parts);
  observeProviders(registry, parts);
  observeRefusals(registry, parts);
  observeStores(registry, parts, config);
  observeMoney(registry, parts);
  observeWebhooks(registry, parts);
  registry.observe(METRICS.budgets, (report) => {
    const { warning, reached } = parts.budgetWatch.count();
    report(warning, ["warning"]);
    report(reached, ["reached"]);
  });
}

function observeLoad(registry: MetricRegistry, parts: ObservedParts): void {
  registry.observe(METRICS.inflight, (report) => report(parts.http.generation.running.active.size, []));
  // Read each time, because a reload of the configuration may replace it.
  registry.observe(METRICS.bodyBytes, (report) => report(parts.http.bodies.bodyBudget.heldBytes(), []));
  registry.observe(METRICS.websockets, (report) => report(parts.http.sockets.counts.open, []));
  registry.observe(METRICS.websocketFrames, (report) => {
    report(parts.http.sockets.counts.received, ["received"]);
    report(parts.http.sockets.counts.sent, ["sent"]);
  });
  registry.observe(METRICS.websocketMemory, (report) => report(parts.http.sockets.memory.heldBytes, []));
  registry.observe(METRICS.shadow, (report) => {
    report(parts.http.features.shadow.counts.sent, ["sent"]);
    report(parts.http.features.shadow.counts.dropped, ["dropped"]);
  });
}

const CIRCUIT_VALUES: Readonly<Record<CircuitState, number>> = { closed: 0, half_open: 1, open: 2 };
/** No model has this id, so that the circuit of the provider alone counts. */
const NO_MODEL = "";

function observeProviders(registry: MetricRegistry, { http }: ObservedParts): void {
  const {
    serving,
    routing: { health },
    clock,
  } = http.generation;
  const eachProvider = (read: (slug: string, models: readonly string[]) => void): void => {
    const { servedModels } = serving();
    const served = new Map(servedModels.providers.map(({ record }) => [record.slug, [] as string[]]));
    for (const { id } of servedModels.models)
      for (const { provider } of servedModels.deploymentsOf(id)) served.get(provider.record.slug)?.push(id);
    for (const [slug, ids] of served) read(slug, ids);
  };
  registry.observe(METRICS.circuitState, (report) =>
    eachProvider((slug) =>
      report(CIRCUIT_VALUES[health.endpoint(slug, NO_MODEL, clock.now()).state], [slug]),
    ),
  );
  registry.observe(METRICS.openCircuits, (report) =>
    eachProvider((slug, models) => {
      const now = clock.now();
      const open = models.filter((model) => health.endpoint(slug, model, now).state !== "closed");
      report(open.length, [slug]);
    }),
  );
  registry.observe(METRICS.servedModels, (report) =>
    eachProvider((slug, models) => report(models.length, [slug])),
  );
}

function observeRefusals(registry: MetricRegistry, { http }: ObservedParts): void {
  const {
    routing: { learnedRefusals },
    clock,
  } = http.generation;
  registry.observe(METRICS.refusedParameters, (report) => {
    for (const { provider, parameter, count } of learnedRefusals.counts())
      report(count, [provider, parameter]);
  });
  registry.observe(METRICS.learnedRefusals, (report) => {
    const applied = learnedRefusals.list(clock.now()).filter(({ isApplied }) => isApplied);
    const labels = applied.map(
      ({ provider, parameter, byokId }) =>
        [provider, parameter, byokId === null ? "platform" : "byok"] as const,
    );
    for (const same of Map.groupBy(labels, (values) => values.join(" ")).values())
      report(same.length, same[0] as (typeof labels)[number]);
  });
}

function observeWebhooks(
  registry: MetricRegistry,
  {
    http: {
      resources: { webhooks },
    },
  }: ObservedParts,
): void {
  registry.observe(METRICS.webhookEvents, (report) => {
    const { delivered, dropped } = webhooks.totals();
    report(delivered, ["delivered"]);
    report(dropped, ["dropped"]);
  });
  registry.observe(METRICS.webhookWaiting, (report) => report(webhooks.totals().waiting, []));
}

function observeStores(
  registry: MetricRegistry,
  { recorder, journal, health, common }: ObservedParts,
  { limits, redis }: Config,
): void {
  registry.observe(METRICS.journalBytes, (report) => report(journal.size(), []));
  registry.observe(METRICS.journalLimit, (report) => report(limits.journal_bytes, []));
  registry.observe(METRICS.waitingRecords, (report) => report(recorder.countWaiting(), []));
  registry.observe(METRICS.storeLag, (report) => report(recorder.lagMs() / 1_000, []));
  registry.observe(METRICS.storeUp, (report) => {
    report(Number(!health.isAway), ["database"]);
    report(Number(recorder.isHealthy()), ["records"]);
    report(Number(recorder.canWrite()), ["journal"]);
    if (redis.url !== undefined) report(Number(common.problem() === null), ["redis"]);
  });
}

function observeMoney(registry: MetricRegistry, { http, gateways, stores }: ObservedParts): void {
  const { ledger } = http.generation;
  registry.observe(METRICS.holds, (report) =>
    report(
      ledger.holds().reduce((sum, { amount }) => sum + amount, 0),
      [],
    ),
  );
  registry.observe(METRICS.liveGateways, (report) => report(gateways.liveGateways()?.count ?? 0, []));
  observeLeases(registry, { http, gateways, stores });
}

/** How old the amount may be, because it is read from the database. Milliseconds. */
const LEASED_MS = 15_000;

/** Reports what was read last. Reading begins with each report, unless it has begun shortly before. */
function observeLeases(
  registry: MetricRegistry,
  { http: { clock }, gateways, stores }: Pick<ObservedParts, "http" | "gateways" | "stores">,
): void {
  let leased: number | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async (): Promise<void> => {
    const own = (await stores.gateways.list()).find(({ id }) => id === gateways.identity.id);
    leased = own?.leased ?? null;
  };
  registry.observe(METRICS.leased, (report) => {
    if (!stores.isShared) return;
    if (leased !== null) report(leased, []);
    if (clock.now() - readAt < LEASED_MS) return;
    readAt = clock.now();
    void read().catch(() => {
      leased = null;
    });
  });
}
