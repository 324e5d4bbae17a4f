import { addDays } from "../../../base/time/time.ts";
import type { ModelEndpoint, ModelRecord } from "./records.ts";

/** Whether a model or endpoint is no longer served on a day, `YYYY-MM-DD`. */
export function isExpired({ expires }: { readonly expires?: string | null }, day: string): boolean {
  return typeof expires === "string" && expires <= day;
}

/** Whether a model, or each of its endpoints, is withdrawn on a day, `YYYY-MM-DD`. */
export function isWithdrawn(model: ModelRecord, day: string): boolean {
  return isExpired(model, day) || model.endpoints.every((endpoint) => isExpired(endpoint, day));
}

/** Returns the first day on which the source listed no endpoint of a model; null while it lists one. */
export function missingSince({ endpoints }: ModelRecord): string | null {
  const days = endpoints.map((endpoint) => endpoint.missingSince);
  return days.every((day) => day !== undefined) ? (days.sort().at(-1) ?? null) : null;
}

/**
 * Sets the expiry of models and endpoints that are missing at the source: an endpoint expires `graceDays` after it was first
 * missed, a model with its last endpoint. An earlier expiry stays.
 */
export function endMissing(models: readonly ModelRecord[], graceDays: number): readonly ModelRecord[] {
  return models.map((model) =>
    model.endpoints.some((endpoint) => endpoint.missingSince !== undefined)
      ? endModel(model, graceDays)
      : model,
  );
}

function endModel(model: ModelRecord, graceDays: number): ModelRecord {
  const endpoints = model.endpoints.map((endpoint) => endEndpoint(endpoint, graceDays));
  const missed = missingSince(model);
  const end = missed === null ? null : addDays(missed, graceDays);
  return { ...model, expires: chooseEarlier(model.expires, end), endpoints };
}

function endEndpoint(endpoint: ModelEndpoint, graceDays: number): ModelEndpoint {
  if (endpoint.missingSince === undefined) return endpoint;
  const end = chooseEarlier(endpoint.expires ?? null, addDays(endpoint.missingSince, graceDays));
  return end === null ? endpoint : { ...endpoint, expires: end };
}

function chooseEarlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

/** Returns the first day after `day` on which a model or endpoint expires or a price changes; null if there is none. */
export function findNextChange(models: readonly ModelRecord[], day: string): string | null {
  let next: string | null = null;
  const consider = (other: string | null | undefined): void => {
    if (typeof other === "string" && other > day) next = chooseEarlier(next, other);
  };
  for (const { expires, endpoints } of models) {
    consider(expires);
    for (const endpoint of endpoints) {
      consider(endpoint.expires);
      for (const { from } of endpoint.priceChanges ?? []) consider(from);
    }
  }
  return next;
}
