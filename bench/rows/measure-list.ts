import { lowestIdAt } from "../../src/base/secrets/ids.ts";
import { DAY_MS, HOUR_MS } from "../../src/base/time/time.ts";
import {
  ANY_GENERATION,
  type GenerationFilter,
  type GenerationQuery,
} from "../../src/core/usage/generations/generation-list.ts";
import { chooseBuckets } from "../../src/core/usage/reports/time-buckets.ts";
import type { Postgres } from "../../src/storage/postgres/connection/client.ts";
import { describePage } from "../../src/storage/postgres/usage/generation-list.ts";
import { PostgresUsageStore } from "../../src/storage/postgres/usage/usage-store.ts";
import type { Filling } from "./fill.ts";
import { type CallFigure, measureCalls } from "./measure-calls.ts";
import { readServerUs } from "./server-time.ts";

const TIMES = 200;
const LIMIT = 50;
const NEWEST: GenerationQuery = { ...ANY_GENERATION, before: null, limit: LIMIT };

/** Measures pages of the list and counts, each time of another account, key, model or time. */
export async function measureList(database: Postgres, filling: Filling): Promise<readonly CallFigure[]> {
  const store = new PostgresUsageStore({ database });
  const figures: CallFigure[] = [];
  const measure = (name: string, call: (at: number) => Promise<number>) =>
    measureCalls(name, TIMES, call, () => readServerUs(database));
  for (const [name, queryOf] of Object.entries(describeQueries(filling)))
    figures.push(
      await measure(name, async (at) => {
        const page = await store.listGenerations({ ...NEWEST, ...queryOf(at) });
        return page.records.length;
      }),
    );
  for (const [name, { lengthMs, filter }] of Object.entries(COUNTS))
    figures.push(
      await measure(name, async (at) => {
        const toMs = (filling.firstDay + filling.days) * DAY_MS - (at % 10) * HOUR_MS;
        const range = chooseBuckets(toMs - lengthMs, toMs, 60);
        const { buckets } = await store.countGenerations({ ...ANY_GENERATION, ...filter, ...range });
        return buckets.length;
      }),
    );
  return figures;
}

const COUNTS: Readonly<Record<string, { lengthMs: number; filter: Partial<GenerationFilter> }>> = {
  "count an hour": { lengthMs: HOUR_MS, filter: {} },
  "count a day": { lengthMs: DAY_MS, filter: {} },
  "count 30 days": { lengthMs: 30 * DAY_MS, filter: {} },
  "count 30 days of a model": { lengthMs: 30 * DAY_MS, filter: { model: "author/model-1" } },
  "count 30 days of failures": { lengthMs: 30 * DAY_MS, filter: { outcome: "failed" } },
  "count 30 days of a provider": { lengthMs: 30 * DAY_MS, filter: { provider: "provider-1" } },
  "count 30 days of a user": { lengthMs: 30 * DAY_MS, filter: { userId: "user_1" } },
};

function describeQueries({
  firstDay,
  days,
  accounts,
}: Filling): Record<string, (at: number) => Partial<GenerationQuery>> {
  // Accounts with low numbers have the most generations. Multiplied by a prime, so that each time is another one.
  const large = (at: number) => (at * 7919) % Math.max(1, Math.floor(accounts / 100));
  const any = (at: number) => (at * 7919) % accounts;
  const timeAt = (at: number) =>
    lowestIdAt("gen", firstDay * DAY_MS + (((at * 7919) % 1000) / 1000) * days * DAY_MS);
  return {
    "all accounts, newest": () => ({}),
    "all accounts, from any time": (at) => ({ before: timeAt(at) }),
    "a large account, newest": (at) => ({ accountId: `user_${large(at)}` }),
    "any account, newest": (at) => ({ accountId: `user_${any(at)}` }),
    "any account, from any time": (at) => ({ accountId: `user_${any(at)}`, before: timeAt(at) }),
    "a key of any account": (at) => ({ keyId: `key_${any(at)}_${at % 3}` }),
    "any model": (at) => ({ model: `author/model-${at}` }),
    "failed, all accounts, from any time": (at) => ({ outcome: "failed", before: timeAt(at) }),
    "failed, a large account": (at) => ({ accountId: `user_${large(at)}`, outcome: "failed" }),
    "a rare model of a large account": (at) => ({
      accountId: `user_${large(at)}`,
      model: `author/model-${199 - (at % 50)}`,
    }),
    "an account without generations": () => ({ accountId: "user_none" }),
    "any user, newest": (at) => ({ userId: `user_${any(at)}` }),
    "any user, from any time": (at) => ({ userId: `user_${any(at)}`, before: timeAt(at) }),
    "a user without generations": () => ({ userId: "user_none" }),
    "a frequent provider": (at) => ({ provider: `provider-${at % 2}`, before: timeAt(at) }),
    "a rare provider": (at) => ({ provider: "rare", before: timeAt(at) }),
    "a rare provider of a large account": (at) => ({ provider: "rare", accountId: `user_${large(at)}` }),
    "any user at a provider": (at) => ({ userId: `user_${any(at)}`, provider: `provider-${at % 8}` }),
  };
}

/** Returns the plan of the newest page of a large account. */
export async function explainList(
  database: Postgres,
  { firstDay, days }: Pick<Filling, "firstDay" | "days">,
): Promise<string> {
  const to = firstDay + days - 1;
  const { text, values } = describePage({ ...NEWEST, accountId: "user_1" }, { from: to - 1, to });
  const rows = await database.run<{ "QUERY PLAN": string }>(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, values);
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}
