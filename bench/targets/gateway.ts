import { ROOT } from "../machine/folders.ts";
import type { Contestant, Running } from "./contestant.ts";
import { buildProgram, type Installation, type Manage, startGateway } from "./start-gateway.ts";

/** Limits that no run reaches, so that each is checked for every request and none rejects one. */
export const RATE_LIMIT = {
  requests_per_minute: 100_000_000,
  tokens_per_minute: 100_000_000_000,
  concurrent: 100_000,
} as const;
/** US dollars. */
export const SPEND_LIMIT = 90_000;
const BALANCE = "100000";

/**
 * This gateway as shipped, on SQLite: an account with a balance, a key with a spending limit and the three kinds of rate limit, and
 * ledger, records, metrics and the log at `info`.
 */
export const gateway: Contestant = {
  name: "gateway",
  label: "this gateway",
  prepare: async () => buildProgram(),
  start: startWithLimits,
};

/** Starts this gateway as it is measured: with an account, and a key with a spending limit and three kinds of rate limit. */
export function startWithLimits(
  upstreamPort: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Running> {
  return startVariant("gateway", upstreamPort, {
    environment,
    createKey: (manage) => createPrepaidKey(manage, { spend_limit: SPEND_LIMIT, rate_limit: RATE_LIMIT }),
  });
}

/** Starts this gateway with differing settings. */
export async function startVariant(
  name: string,
  upstreamPort: number,
  differing: Partial<Installation>,
): Promise<Running> {
  const running = await startGateway({ name: "gateway", checkout: ROOT, ...differing }, upstreamPort);
  return { ...running, name };
}

/** Creates an account with a balance, and a key of it with the given fields. Returns the secret of the key. */
export async function createPrepaidKey(manage: Manage, fields: object): Promise<string> {
  const { data } = await manage("/users", { name: "bench" });
  const { id } = data as { id: string };
  await manage(`/accounts/${id}/credits`, { amount: BALANCE });
  return (await manage("/keys", { name: "bench", account_id: id, ...fields }))["key"] as string;
}
