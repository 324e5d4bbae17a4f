/** What the health screen shows of a provider. Pure functions. */
import type { ProviderHealth } from "../../api/schema.ts";

export type State = ProviderHealth["state"];

/** What needs attention comes first. */
const ORDER: readonly State[] = ["down", "degraded", "ok", "unknown", "no_key"];

/** Returns the providers in the order of their need for attention. Those without a platform key and without attempts are left out unless `isAll`. */
export function listProviders(all: readonly ProviderHealth[], isAll: boolean): readonly ProviderHealth[] {
  const shown = isAll ? all : all.filter(isUsed);
  return shown.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
}

/** Whether a provider has a platform key, or was called with a BYOK key since the gateway started. */
export function isUsed({ state, drain, endpoints, last_failures }: ProviderHealth): boolean {
  return state !== "no_key" || drain !== null || endpoints.length > 0 || last_failures.length > 0;
}

/** Returns the share of attempts that failed, 0 to 1; null without attempts. */
export function errorShare({ requests, errors }: Pick<ProviderHealth, "requests" | "errors">): number | null {
  return requests === 0 ? null : errors / requests;
}

/** A drain of a provider, or of one of its models. */
export interface Drained {
  /** Null for all models. */
  readonly model: string | null;
  readonly until: string | null;
  readonly note: string | null;
}

/** Returns the drains of a provider, that of all its models first. */
export function listDrains({
  drain,
  endpoints,
}: Pick<ProviderHealth, "drain" | "endpoints">): readonly Drained[] {
  const ofModels = endpoints.flatMap((one) =>
    one.drain === null ? [] : [{ ...one.drain, model: one.model }],
  );
  return drain === null ? ofModels : [{ ...drain, model: null }, ...ofModels];
}

/** Returns how many keys can be used for at least some models. */
export function countUsable({ keys }: Pick<ProviderHealth, "keys">): number {
  return keys.filter(({ state }) => state === "ok").length;
}

/** Returns how many providers are in each state, without the states that none has. */
export function countStates(rows: readonly ProviderHealth[]): readonly { state: State; count: number }[] {
  return ORDER.map((state) => ({ state, count: rows.filter((row) => row.state === state).length })).filter(
    ({ count }) => count > 0,
  );
}
