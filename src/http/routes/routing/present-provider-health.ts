import { z } from "zod";
import { formatTime } from "../../../base/time/time.ts";
import type { ProviderRecord } from "../../../core/catalog/records/records.ts";
import type { GenerationDeps, Serving } from "../../../core/generation/call/call.ts";
import type { LearnedRefusal } from "../../../core/generation/memory/learned-refusals.ts";
import type { RecentFailure } from "../../../core/generation/memory/recent-failures.ts";
import type { Drain } from "../../../core/routing/health/drain-store.ts";
import { type PublicHealth, presentHealth } from "./present-health.ts";

const Circuit = z
  .enum(["closed", "open", "half_open"])
  .describe("`open`: not called. `half_open`: the next request is a probe.");
const Spread = z
  .object({ p50: z.number(), p90: z.number(), p99: z.number() })
  .nullable()
  .describe("`null` below the minimum sample size.");
const time = z.iso.datetime();

const KeyView = z.object({
  id: z.string().describe("Identifies the platform key within its provider: `openai#0` is the first."),
  state: z
    .enum(["ok", "key_refused", "out_of_credit", "rate_limited"])
    .describe("Why the key is not used at the moment, if it is not."),
  until: time.nullable().describe("End of the cooldown of the whole key."),
  models: z
    .array(
      z.object({
        model: z.string(),
        state: z.enum(["key_refused", "out_of_credit", "rate_limited"]),
        until: time,
      }),
    )
    .describe("Models for which the key is not used at the moment."),
});

const DrainView = z
  .object({
    since: time,
    until: time
      .nullable()
      .describe("Time at which it ends (RFC 3339). `null` means it lasts until an operator ends it."),
    note: z.string().nullable(),
  })
  .nullable();

const EndpointView = z.object({
  model: z.string(),
  upstream_model: z.string().nullable().describe("Name of the model at the provider."),
  state: z.enum(["ok", "degraded", "down", "unknown"]),
  requests: z.int().describe("Attempts in the last minute."),
  uptime: z
    .number()
    .nullable()
    .describe("Share of attempts that succeeded, 0 to 1. `null` means there were none."),
  latency_ms: Spread,
  throughput: Spread,
  circuit: Circuit,
  overloaded_until: time
    .nullable()
    .describe("Time until which the endpoint is avoided because it was overloaded."),
  drain: DrainView.describe("The drain of this endpoint only. `null` means it has none of its own."),
});

const RefusalView = z.object({
  model: z.string(),
  upstream_model: z.string(),
  format: z.string().describe("The format in which the endpoint refused the parameter."),
  parameter: z.string().describe("Name of the parameter in the chat completions API."),
  byok_key_id: z
    .string()
    .nullable()
    .describe("The BYOK key from whose requests it is left out. `null` means requests with platform keys."),
  is_applied: z
    .boolean()
    .describe(
      "Whether requests are sent without the parameter. `false` means that only one account has seen the refusal so far; once a second account does, requests are sent without it.",
    ),
  since: time.describe("Time at which it was first refused."),
  until: time.describe(
    "Time until which it is remembered. After that, requests are sent with the parameter again.",
  ),
});

const FailureView = z.object({
  at: time,
  model: z.string(),
  upstream_model: z.string(),
  error_type: z.string().describe("Error code of the gateway."),
  status: z.int().nullable().describe("HTTP status of the provider. `null` means none was received."),
  message: z
    .string()
    .describe("What the provider said, or what happened to the connection, without secrets."),
  generation_id: z.string(),
  is_byok: z.boolean().describe("The attempt used a BYOK key."),
});

/** The health of a provider in a response. */
export const ProviderHealthView = z
  .object({
    provider: z.string().describe("Slug of the provider."),
    name: z.string(),
    state: z
      .enum(["ok", "degraded", "down", "unknown", "no_key"])
      .describe(
        "`down`: its circuit is open, or it rejects all platform keys. `unknown`: no attempts in the last minute. `no_key`: there is no platform key; it may be called with the BYOK keys of accounts.",
      ),
    requests: z.int().describe("Attempts in the last minute."),
    errors: z.int().describe("Attempts in the last minute that failed."),
    latency_ms: Spread.describe("Time to first token in milliseconds. `null` below the minimum sample size."),
    throughput: Spread.describe(
      "Tokens per second after the first one. `null` below the minimum sample size.",
    ),
    circuit: Circuit,
    drain: DrainView.describe(
      "Set while an operator has taken the provider out of routing, on all gateways that share the stores. `null` means it is routed to.",
    ),
    keys: z.array(KeyView).describe("The platform keys."),
    warm: z
      .int()
      .describe("Conversations that are routed to this provider because it has their prompts cached."),
    endpoints: z
      .array(EndpointView)
      .describe("The models that have had an attempt since the start or have a drain."),
    refused_parameters: z
      .array(RefusalView)
      .describe(
        "Parameters that the provider refused in the last hour, although it accepted the request without them. The catalog does not know this. At most 200.",
      ),
    last_failures: z.array(FailureView).describe("The last 20 failures that the request did not cause."),
  })
  .meta({
    id: "ProviderHealth",
    description: "The recent health of a provider, as one gateway measures it.",
  });

type ProviderState = z.infer<typeof ProviderHealthView>["state"];
type KeyState = z.infer<typeof KeyView>;

/** The sources for presenting the health of providers. */
export interface HealthSources {
  readonly deps: Pick<GenerationDeps, "routing">;
  readonly serving: Serving;
  /** Conversations with a warm prompt cache, by provider. */
  readonly warm: ReadonlyMap<string, number>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Returns the health of a provider, without BYOK keys that have an address of their own. */
export function presentProviderHealth(
  { slug, name }: ProviderRecord,
  sources: HealthSources,
): z.infer<typeof ProviderHealthView> {
  const { deps, serving, warm, now } = sources;
  const report = deps.routing.health.describeProvider(slug, now);
  const keys = serving.servedModels.provider(slug)?.keys ?? [];
  const shownKeys = keys.map(({ label }) => presentKey(label, sources));
  const models = new Set([...report.models, ...deps.routing.drains.listModels(slug, now)]);
  const endpoints = [...models].map((model) => presentEndpoint(slug, model, sources));
  const { status, latency_ms, throughput, requests } = presentHealth(report);
  return {
    provider: slug,
    name,
    state: keys.length === 0 ? "no_key" : stateOf(status, shownKeys, endpoints),
    requests,
    errors: report.failures,
    latency_ms,
    throughput,
    circuit: report.state,
    drain: presentDrain(deps.routing.drains.exact({ provider: slug, model: null }, now)),
    keys: shownKeys,
    warm: warm.get(slug) ?? 0,
    endpoints,
    refused_parameters: deps.routing.learnedRefusals
      .list(now, slug)
      .slice(0, MAX_REFUSALS)
      .map(presentRefusal),
    last_failures: deps.routing.recentFailures.list(slug).map(presentFailure),
  };
}

function stateOf(
  status: PublicHealth["status"],
  keys: readonly KeyState[],
  endpoints: readonly z.infer<typeof EndpointView>[],
): ProviderState {
  const isRejected = ({ state }: KeyState) => state === "key_refused" || state === "out_of_credit";
  if (status === "down" || keys.every(isRejected)) return "down";
  const hasTrouble =
    keys.some(({ state, models }) => state !== "ok" || models.length > 0) ||
    endpoints.some(({ state }) => state === "down" || state === "degraded");
  return hasTrouble ? "degraded" : status;
}

function presentKey(label: string, { deps, now }: HealthSources): KeyState {
  const cooldowns = deps.routing.health.listKeyCooldowns(label, now);
  const whole = cooldowns.find(({ model }) => model === null);
  return {
    id: label,
    state: whole?.why ?? "ok",
    until: formatTime(whole?.until ?? null),
    models: cooldowns.flatMap(({ model, why, until }) =>
      model === null ? [] : [{ model, state: why, until: formatTime(until) }],
    ),
  };
}

function presentEndpoint(slug: string, model: string, { deps, serving, now }: HealthSources) {
  const report = deps.routing.health.describe(slug, model, now);
  const { status: state, ...measured } = presentHealth(report);
  const endpoint = serving.catalog.find(model)?.endpoints.find(({ provider }) => provider === slug);
  // No key has this label, so that only a cooldown of the endpoint itself is found.
  const overload = deps.routing.health.cooldown({ provider: slug, model, keyLabel: "" }, now);
  return {
    model,
    upstream_model: endpoint?.name ?? null,
    state: overload !== null && state === "ok" ? ("degraded" as const) : state,
    ...measured,
    circuit: report.state,
    overloaded_until: overload?.why === "overloaded" ? formatTime(now + overload.ms) : null,
    drain: presentDrain(deps.routing.drains.exact({ provider: slug, model }, now)),
  };
}

function presentDrain(drain: Drain | null): z.infer<typeof DrainView> {
  if (drain === null) return null;
  const { since, until, note } = drain;
  return { since: formatTime(since), until: formatTime(until), note };
}

/** The maximum number of refused parameters of a provider that are listed. */
const MAX_REFUSALS = 200;

function presentRefusal(refusal: LearnedRefusal): z.infer<typeof RefusalView> {
  const { model, upstreamModel, format, parameter, byokId, isApplied, since, until } = refusal;
  return {
    model,
    upstream_model: upstreamModel,
    format,
    parameter,
    byok_key_id: byokId,
    is_applied: isApplied,
    since: formatTime(since),
    until: formatTime(until),
  };
}

function presentFailure(failure: RecentFailure): z.infer<typeof FailureView> {
  const { at, model, upstreamModel, errorType, status, message, generationId, isByok } = failure;
  return {
    at: formatTime(at),
    model,
    upstream_model: upstreamModel,
    error_type: errorType,
    status,
    message,
    generation_id: generationId,
    is_byok: isByok,
  };
}
