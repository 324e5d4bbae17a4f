import type { MetricDeclaration } from "./metric-registry.ts";

/** Upper bounds for whole requests, from an embedding to a long answer. Seconds. */
const REQUEST_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];
/** Upper bounds for first tokens. Seconds. */
const FIRST_TOKEN_SECONDS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2.5, 5, 10, 20, 40, 80];
/** Upper bounds for the gateway's own work, and for delays of its event loop. Seconds. */
const OWN_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.5, 2];

const NANODOLLARS = 1e9;

function declare<const L extends readonly string[]>(declaration: MetricDeclaration<L>): MetricDeclaration<L> {
  return declaration;
}

/**
 * Every metric of the gateway. Labels have few values: models and providers are those of the catalog, and all others are closed sets. Keys,
 * users and accounts are not labels; usage reports have them.
 */
export const METRICS = {
  requests: declare({
    name: "gateway_requests_total",
    kind: "counter",
    help: "Inference requests that have ended, by client API, model, provider and outcome",
    labels: ["api", "model", "provider", "outcome"],
  }),
  requestDuration: declare({
    name: "gateway_request_duration_seconds",
    kind: "histogram",
    help: "Time from the arrival of an inference request to the end of its answer",
    labels: ["api", "outcome"],
    bounds: REQUEST_SECONDS,
    unit: "s",
  }),
  timeToFirstToken: declare({
    name: "gateway_time_to_first_token_seconds",
    kind: "histogram",
    help: "Time from the arrival of a streamed request to the first token of its answer",
    labels: ["model", "provider"],
    bounds: FIRST_TOKEN_SECONDS,
    unit: "s",
  }),
  overhead: declare({
    name: "gateway_overhead_seconds",
    kind: "histogram",
    help: "Time that the gateway itself added until the first byte of an answer",
    labels: ["api"],
    bounds: OWN_SECONDS,
    unit: "s",
  }),
  tokens: declare({
    name: "gateway_tokens_total",
    kind: "counter",
    help: "Tokens of ended requests, by kind: prompt, prompt_cached, prompt_cache_write, completion, reasoning. Each token counts once",
    labels: ["model", "kind"],
  }),
  cost: declare({
    name: "gateway_cost_usd_total",
    kind: "counter",
    help: "US dollars: paid is what accounts were charged, list is the provider's list price",
    labels: ["model", "provider", "kind"],
    divisor: NANODOLLARS,
    unit: "USD",
  }),
  answersSaved: declare({
    name: "gateway_answers_saved_usd_total",
    kind: "counter",
    help: "US dollars that answers had cost which were returned again without asking a provider, by the feature that returned them: answer_cache or idempotency_key",
    labels: ["api", "feature"],
    divisor: NANODOLLARS,
    unit: "USD",
  }),
  budgets: declare({
    name: "gateway_budgets_over",
    kind: "gauge",
    help: "Budgets that are over their warning share or at their limit. Only budgets count for which this process has served a request. A budget for each end user or tag counts once per end user or tag",
    labels: ["level"],
  }),
  attempts: declare({
    name: "gateway_attempts_total",
    kind: "counter",
    help: "Calls of providers, by their result up to the first token: ok, cancelled, or an error code",
    labels: ["provider", "result"],
  }),
  refusedParameters: declare({
    name: "gateway_refused_parameters_total",
    kind: "counter",
    help: "Requests that a provider rejected because of a parameter, and that were sent once more without it",
    labels: ["provider", "parameter"],
  }),
  learnedRefusals: declare({
    name: "gateway_learned_refusals",
    kind: "gauge",
    help: "Model endpoints whose requests are currently sent without a parameter, because they rejected it. Keys: platform, or byok, where each key counts",
    labels: ["provider", "parameter", "keys"],
  }),
  repairs: declare({
    name: "gateway_repairs_total",
    kind: "counter",
    help: "Repairs of tool calls in requests, by kind",
    labels: ["kind"],
  }),
  refused: declare({
    name: "gateway_refused_total",
    kind: "counter",
    help: "Requests that the gateway itself rejected, by error code: before a provider was chosen, because of a guardrail on the answer, token counts, and at paths that no client API has. gateway requests list --rejected lists them",
    labels: ["rule"],
  }),
  guardrailMatches: declare({
    name: "gateway_guardrail_matches_total",
    kind: "counter",
    help: "Requests and answers that a guardrail matched, by its name and action",
    labels: ["rule", "action", "on"],
  }),
  guardrailVerdicts: declare({
    name: "gateway_guardrail_webhook_total",
    kind: "counter",
    help: "Calls of guardrail webhooks, by verdict: allow, block, mask, or unavailable if there was none",
    labels: ["rule", "verdict"],
  }),
  circuitState: declare({
    name: "gateway_circuit_state",
    kind: "gauge",
    help: "Circuit of a provider as a whole: 0 closed, 1 half open, 2 open",
    labels: ["provider"],
  }),
  openCircuits: declare({
    name: "gateway_open_circuits",
    kind: "gauge",
    help: "Models of a provider that are not called, because their circuit is not closed",
    labels: ["provider"],
  }),
  servedModels: declare({
    name: "gateway_served_models",
    kind: "gauge",
    help: "Models of a provider that the gateway serves with platform keys",
    labels: ["provider"],
  }),
  shadow: declare({
    name: "gateway_shadow_requests_total",
    kind: "counter",
    help: "Copies of requests for shadow models of named routes, by outcome: sent, or dropped because too many were running",
    labels: ["outcome"],
  }),
  inflight: declare({
    name: "gateway_inflight",
    kind: "gauge",
    help: "Generations in progress",
    labels: [],
  }),
  bodyBytes: declare({
    name: "gateway_body_memory_bytes",
    kind: "gauge",
    help: "Memory held by the bodies of running requests, at most limits.total_body_bytes",
    labels: [],
    unit: "By",
  }),
  websockets: declare({
    name: "gateway_websockets",
    kind: "gauge",
    help: "WebSockets that are open",
    labels: [],
  }),
  websocketFrames: declare({
    name: "gateway_websocket_frames_total",
    kind: "counter",
    help: "Frames of WebSockets, by direction: received or sent",
    labels: ["direction"],
  }),
  websocketMemory: declare({
    name: "gateway_websocket_memory_bytes",
    kind: "gauge",
    help: "Memory held by the last responses of WebSockets, at most responses.websocket_bytes",
    labels: [],
    unit: "By",
  }),
  journalBytes: declare({
    name: "gateway_journal_bytes",
    kind: "gauge",
    help: "Size of the journal, which has the records that are not in the store yet",
    labels: [],
    unit: "By",
  }),
  journalLimit: declare({
    name: "gateway_journal_limit_bytes",
    kind: "gauge",
    help: "Size of the journal at which requests are rejected (limits.journal_bytes)",
    labels: [],
    unit: "By",
  }),
  waitingRecords: declare({
    name: "gateway_waiting_records",
    kind: "gauge",
    help: "Records in the journal that are not in the store yet",
    labels: [],
  }),
  storeLag: declare({
    name: "gateway_store_lag_seconds",
    kind: "gauge",
    help: "Time since the store last had every record; 0 if no record waits",
    labels: [],
    unit: "s",
  }),
  storeUp: declare({
    name: "gateway_store_up",
    kind: "gauge",
    help: "Whether a store works (1 or 0): reading the database, saving records, the journal, and Redis if it is configured",
    labels: ["store"],
  }),
  holds: declare({
    name: "gateway_holds_usd",
    kind: "gauge",
    help: "US dollars held for generations in progress",
    labels: [],
    divisor: NANODOLLARS,
    unit: "USD",
  }),
  leased: declare({
    name: "gateway_leased_usd",
    kind: "gauge",
    help: "US dollars of balances that this gateway has leased but not spent; absent on SQLite",
    labels: [],
    divisor: NANODOLLARS,
    unit: "USD",
  }),
  liveGateways: declare({
    name: "gateway_live_gateways",
    kind: "gauge",
    help: "Live gateways that share the stores, including this one; 0 while the others may not count this one",
    labels: [],
  }),
  ledgerImbalance: declare({
    name: "gateway_ledger_imbalance",
    kind: "gauge",
    help: "Inconsistencies that the last ledger check found, normally 0; absent until a check has ended",
    labels: [],
  }),
  ledgerCheckAge: declare({
    name: "gateway_ledger_check_age_seconds",
    kind: "gauge",
    help: "Time since the last ledger check of this process ended; absent before the first one",
    labels: [],
    unit: "s",
  }),
  eventLoopLag: declare({
    name: "gateway_event_loop_lag_seconds",
    kind: "histogram",
    help: "Delay of a timer that is due twice a second: how long events wait for the event loop",
    labels: [],
    bounds: OWN_SECONDS,
    unit: "s",
  }),
  droppedTelemetry: declare({
    name: "gateway_dropped_telemetry_total",
    kind: "counter",
    help: "Spans and metric exports that were dropped, because the queue was full or the collector did not accept them",
    labels: ["signal"],
  }),
  exportedTelemetry: declare({
    name: "gateway_exported_telemetry_total",
    kind: "counter",
    help: "Spans and metric exports that the collector accepted",
    labels: ["signal"],
  }),
  webhookEvents: declare({
    name: "gateway_webhook_events_total",
    kind: "counter",
    help: "Events for webhooks, by result: delivered, or dropped because the queue was full, the receiver did not accept them, or the webhook was removed",
    labels: ["result"],
  }),
  webhookWaiting: declare({
    name: "gateway_webhook_events_waiting",
    kind: "gauge",
    help: "Events that wait to be delivered to webhooks",
    labels: [],
  }),
  cpuSeconds: declare({
    name: "process_cpu_seconds_total",
    kind: "counter",
    help: "Processor time of the process with all its threads, in seconds",
    labels: [],
    unit: "s",
  }),
  residentMemory: declare({
    name: "process_resident_memory_bytes",
    kind: "gauge",
    help: "Resident memory of the process in bytes",
    labels: [],
    unit: "By",
  }),
  startTime: declare({
    name: "process_start_time_seconds",
    kind: "gauge",
    help: "Start time of the process in seconds since the epoch",
    labels: [],
    unit: "s",
  }),
  build: declare({
    name: "gateway_build_info",
    kind: "gauge",
    help: "Always 1; the labels show the versions of the gateway and of its runtime",
    labels: ["version", "runtime"],
  }),
} as const;
