import { addDays } from "../../base/time.ts";
import type { ModelEndpoint, ModelRecord } from "./records.ts";

/** True for a model or endpoint that is not offered any more on a day. */
export function isExpired({ expires }: { readonly expires?: string | null }, day: string): boolean {
  return typeof expires === "string" && expires <= day;
}

/** True for a model that nobody deployments any more on a day, or none of whose endpoints is. */
export function isWithdrawn(model: ModelRecord, day: string): boolean {
  return isExpired(model, day) || model.endpoints.every((endpoint) => isExpired(endpoint, day));
}

/** The first day on which nothing of a model was found at the source; null while any of it is. */
export function missingSince({ endpoints }: ModelRecord): string | null {
  const days = endpoints.map((endpoint) => endpoint.missingSince);
  return days.every((day) => day !== undefined) ? (days.sort().at(-1) ?? null) : null;
}

/**
 * Gives what is missing at the source its end: an endpoint so many days after it was missed first, a model with the last
 * of its endpoints. An end that was announced for an earlier day stays.
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
  return { ...model, expires: earlier(model.expires, end), endpoints };
}

function endEndpoint(endpoint: ModelEndpoint, graceDays: number): ModelEndpoint {
  if (endpoint.missingSince === undefined) return endpoint;
  const end = earlier(endpoint.expires ?? null, addDays(endpoint.missingSince, graceDays));
  return end === null ? endpoint : { ...endpoint, expires: end };
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

/** The first day after this one on which something ends or prices change; null where none is known. */
export function findNextChange(models: readonly ModelRecord[], day: string): string | null {
  let next: string | null = null;
  const note = (other: string | null | undefined): void => {
    if (typeof other === "string" && other > day) next = earlier(next, other);
  };
  for (const { expires, endpoints } of models) {
    note(expires);
    for (const endpoint of endpoints) {
      note(endpoint.expires);
      for (const { from } of endpoint.priceChanges ?? []) note(from);
    }
  }
  return next;
}
