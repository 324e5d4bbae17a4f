import type { Percentiles } from "../../../base/numbers/percentiles.ts";
import type { GenerationDeps } from "../../../core/generation/call/call.ts";
import type { EndpointHealthReport } from "../../../core/routing/health/health.ts";

/** The recent health of an endpoint, as `GET models/{author}/{model}/endpoints` shows it. */
export interface PublicHealth {
  /** `down`: it receives only probes, or an operator has drained it. */
  readonly status: "ok" | "degraded" | "down" | "unknown";
  /** Share of successful attempts in the last minute, 0 to 1; null if there were none. */
  readonly uptime: number | null;
  /** Time to first token in milliseconds, and tokens per second after it; null below the minimum sample size. */
  readonly latency_ms: Percentiles | null;
  readonly throughput: Percentiles | null;
  readonly requests: number;
}

/** Below this share of successful attempts an endpoint is degraded. */
const HEALTHY_SHARE = 0.95;

/** Returns the public part of an endpoint's health. */
export function presentHealth(report: EndpointHealthReport): PublicHealth {
  const { success, volume, ttftMs, tokensPerS } = report;
  return {
    status: statusOf(report),
    uptime: success === null ? null : round(success, 1_000),
    latency_ms: roundAll(ttftMs, 1),
    throughput: roundAll(tokensPerS, 10),
    requests: volume,
  };
}

/** Returns the public part of the health of a model's endpoint at a provider. A drained endpoint is down. */
export function presentEndpointHealth(
  { routing: { health, drains } }: Pick<GenerationDeps, "routing">,
  { provider, model }: { readonly provider: string; readonly model: string },
  now: number,
): PublicHealth {
  const measured = presentHealth(health.describe(provider, model, now));
  return drains.find(provider, model, now) === null ? measured : { ...measured, status: "down" };
}

function statusOf({ state, success }: EndpointHealthReport): PublicHealth["status"] {
  if (state === "open") return "down";
  if (state === "half_open") return "degraded";
  if (success === null) return "unknown";
  return success < HEALTHY_SHARE ? "degraded" : "ok";
}

function roundAll(percentiles: Percentiles | null, parts: number): Percentiles | null {
  if (percentiles === null) return null;
  const { p50, p90, p99 } = percentiles;
  return { p50: round(p50, parts), p90: round(p90, parts), p99: round(p99, parts) };
}

function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}
