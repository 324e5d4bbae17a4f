import { type Check, checkOnce } from "../books/check.ts";
import type { Cluster } from "./cluster.ts";
import { type ClusterPayer, manage } from "./payers.ts";
import { readBooks } from "./read-books.ts";

/** Records reach the database, and what is not needed of a lease is returned, within this time. Milliseconds. */
const REST_MS = 20_000;
const LOOK_EVERY_MS = 500;

interface Balance {
  readonly balance_nanodollars: number;
  readonly held_nanodollars: number;
}

/** After the load each gateway is ready, holds nothing, and shows the balances and records of the database. */
export async function checkRest(cluster: Cluster, payers: readonly ClusterPayer[]): Promise<Check> {
  const until = Date.now() + REST_MS;
  for (;;) {
    const broken = await findDifferences(cluster, payers).catch((error) => [String(error)]);
    if (broken.length === 0 || Date.now() > until)
      return checkOnce(
        "at rest each gateway is ready, holds nothing, shows the balances of the database, and finds its ledger correct",
        broken,
      );
    await Bun.sleep(LOOK_EVERY_MS);
  }
}

async function findDifferences(
  { members, databaseUrl }: Cluster,
  payers: readonly ClusterPayer[],
): Promise<string[]> {
  const { balances } = await readBooks(databaseUrl);
  const accounts = [...new Set(payers.map(({ accountId }) => accountId))].filter((id) =>
    /^(user|org)_/.test(id),
  );
  const found = members.map(async ({ node }) => {
    const url = node.url as string;
    const ready = await fetch(`${url}/readyz`);
    const readiness = await ready.text();
    const different = accounts.map(async (id) => {
      const { data } = await manage(url, "GET", `/accounts/${id}/balance`);
      const { balance_nanodollars: balance, held_nanodollars: held } = data as Balance;
      if (held === 0 && balance === balances.get(id)) return [];
      return [`${node.name}: ${id}: ${balance}, ${held} held; ${balances.get(id)} in the database`];
    });
    const { data: ledger } = await manage(url, "GET", "/ledger/check");
    return [
      ...(isReady(readiness) ? [] : [`${node.name}: readyz ${ready.status}: ${readiness}`]),
      ...(await Promise.all(different)).flat(),
      ...(ledger as unknown[]).map((difference) => `${node.name}: ${JSON.stringify(difference)}`),
    ];
  });
  return (await Promise.all(found)).flat();
}

/** Returns whether a gateway has all of its parts. One that has not found Redis again is degraded. */
function isReady(readiness: string): boolean {
  return (JSON.parse(readiness) as { status?: string }).status === "ready";
}
