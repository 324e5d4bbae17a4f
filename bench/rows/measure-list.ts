import { lowestIdAt } from "../../src/base/ids.ts";
import { DAY_MS } from "../../src/base/time.ts";
import { ANY_GENERATION, type GenerationQuery } from "../../src/core/usage/generation-list.ts";
import type { Postgres } from "../../src/storage/postgres/client.ts";
import { describePage } from "../../src/storage/postgres/generation-list.ts";
import { PostgresUsageStore } from "../../src/storage/postgres/usage-store.ts";
import type { Filling } from "./fill.ts";
import { readServerUs } from "./server-time.ts";

/** How long one kind of page takes. Milliseconds. */
export interface ListFigure {
  readonly name: string;
  readonly first: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Processor time of the server and of this process, which other work of the machine does not lengthen. */
  readonly cpu: number;
  /** The median number of generations on a page. */
  readonly rows: number;
}

const TIMES = 200;
const LIMIT = 50;
const NEWEST: GenerationQuery = { ...ANY_GENERATION, before: null, limit: LIMIT };

/** Measures pages of the list, each time of another account, key, model or day. */
export async function measureList(database: Postgres, filling: Filling): Promise<readonly ListFigure[]> {
  const store = new PostgresUsageStore({ database });
  const figures: ListFigure[] = [];
  for (const [name, queryOf] of Object.entries(describeQueries(filling))) {
    const times: number[] = [];
    const rows: number[] = [];
    const server = await readServerUs(database);
    const client = process.cpuUsage();
    for (let at = 0; at < TIMES; at++) {
      const query = { ...NEWEST, ...queryOf(at) };
      const begun = performance.now();
      const page = await store.listGenerations(query);
      times.push(performance.now() - begun);
      rows.push(page.records.length);
    }
    const { user, system } = process.cpuUsage(client);
    const cpu = ((await readServerUs(database)) - server + user + system) / 1_000 / TIMES;
    const first = times[0] ?? Number.NaN;
    const sorted = times.toSorted((a, b) => a - b);
    figures.push({
      name,
      first,
      p50: quantile(sorted, 0.5),
      p99: quantile(sorted, 0.99),
      max: sorted.at(-1) ?? Number.NaN,
      cpu,
      rows: quantile(
        rows.toSorted((a, b) => a - b),
        0.5,
      ),
    });
  }
  return figures;
}

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
  };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
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
