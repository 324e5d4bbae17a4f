import { type Check, check, checkOnce } from "../books/check.ts";
import { checkBooks } from "../books/check-books.ts";
import { checkContract } from "../cluster/check-contract.ts";
import { checkCredit } from "../cluster/check-credit.ts";
import { checkLimits } from "../cluster/check-limits.ts";
import { checkRest } from "../cluster/check-rest.ts";
import { startClients } from "../cluster/clients.ts";
import { type Cluster, startCluster } from "../cluster/cluster.ts";
import { ADMIN_KEY, createPayers, manage } from "../cluster/payers.ts";
import { readBooks } from "../cluster/read-books.ts";
import { rollTo } from "../cluster/roll-to.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import type { Program } from "./program.ts";

const GATEWAYS = 2;
const CLIENTS = 12;
/** Two versions may count requests under different names in Redis, each up to the limit. */
const LIMIT_SLACK = 2;
/** How long the load goes on while both versions serve. Milliseconds. */
const MIXED_MS = 5_000;

/**
 * Replaces one gateway after the other by the later version under load, and then by the earlier one again. No request may break, and the
 * books must match the vendor's bill.
 */
export async function checkRolling(earlier: Program, later: Program, seed: number): Promise<Check[]> {
  const name = `${earlier.name} to ${later.name}, rolling`;
  const cluster = await startCluster(GATEWAYS, earlier.command);
  try {
    const checks = await roll(cluster, earlier, later, seed);
    return checks.map((one) => ({ ...one, property: `${name}: ${one.property}` }));
  } catch (error) {
    return [
      checkOnce(`${name}: the run comes to its end`, [
        error instanceof Error ? (error.stack ?? "") : String(error),
      ]),
    ];
  } finally {
    await cluster.remove();
  }
}

async function roll(cluster: Cluster, earlier: Program, later: Program, seed: number): Promise<Check[]> {
  const { members, vendor, url } = cluster;
  await Promise.all(members.map(({ node }) => node.start()));
  const { all, current } = await createPayers(url);
  const clients = startClients({ url, payers: current, count: CLIENTS, chance: createSeededRandom(seed) });
  const mixed: string[] = [];
  const whileMixed = async (): Promise<void> => {
    mixed.push(...(await findMixedFaults(cluster)));
  };
  await rollTo(cluster, later.command, whileMixed);
  await rollTo(cluster, earlier.command, whileMixed);
  await clients.stop();
  const rest = await checkRest(cluster, all);
  const ends = (await Promise.all(members.map(({ node }) => node.stopAtRest()))).flat();
  const books = await readBooks(cluster.databaseUrl);
  const { asked, answers } = clients;
  const { bill } = vendor;
  return [
    check("the load has no pause", [answers.length], (count) =>
      count > MIN_ANSWERS ? null : `${count} answers`,
    ),
    checkOnce("while both versions serve, each sees the changes of the other", mixed),
    ...checkContract({ answers, faults: [], bill }).filter(({ cases }) => cases > 0),
    ...checkCredit({ answers, faults: [], books }).filter(({ cases }) => cases > 0),
    ...checkLimits({ asked, bill, payers: all, slack: LIMIT_SLACK }),
    rest,
    checkOnce("a process ends only when it is stopped, with exit code 0 and an empty journal", [
      ...members.flatMap(({ node }) => node.faults),
      ...ends,
    ]),
    checkOnce("no lease is left, and none was counted wrongly", [...books.leased, ...books.wrongLeases]),
    checkOnce("no record is in quarantine", books.quarantined),
    ...checkBooks({ asked, bill, payers: all, books }).filter(({ cases }) => cases > 0),
  ];
}

const MIN_ANSWERS = 500;

/** Changes keys and accounts by each gateway, and looks for the changes at the other. Returns what is missing. */
async function findMixedFaults({ members }: Cluster): Promise<string[]> {
  const urls = members.map(({ node }) => node.url as string);
  const before = await Promise.all(urls.map(countRequests));
  const found: string[] = [];
  for (const [index, writer] of urls.entries()) {
    const reader = urls[(index + 1) % urls.length] as string;
    const fault = await findChangeFault(writer, reader).catch((error) => String(error));
    if (fault !== null) found.push(`gateway ${index + 1} changes: ${fault}`);
  }
  await Bun.sleep(MIXED_MS);
  const after = await Promise.all(urls.map(countRequests));
  for (const [index, count] of after.entries())
    if (count <= (before[index] as number)) found.push(`gateway ${index + 1} serves nothing`);
  return found;
}

/** Returns which change through one gateway the other does not apply; null if it applies all. */
async function findChangeFault(writer: string, reader: string): Promise<string | null> {
  const user = (await manage(writer, "POST", "/users", { name: "Changes" })).data as { readonly id: string };
  await manage(writer, "POST", `/accounts/${user.id}/credits`, { id: `mixed_${user.id}`, amount: "2.5" });
  const made = await manage(writer, "POST", "/keys", { name: "mixed", account_id: user.id, spend_limit: 1 });
  const { id } = made["data"] as { readonly id: string };
  const read = async () => {
    const response = await fetch(`${reader}/api/gateway/key`, {
      headers: { authorization: `Bearer ${made["key"]}` },
    });
    const { data } = (await response.json()) as { readonly data?: { readonly limit: number } };
    return response.status === 200 ? data?.limit : response.status;
  };
  if (!(await becomes(read, 1))) return `a new key: ${await read()}`;
  await manage(writer, "PATCH", `/keys/${id}`, { spend_limit: 2 });
  if (!(await becomes(read, 2))) return `a changed key: ${await read()}`;
  const balance = async () =>
    ((await manage(reader, "GET", `/accounts/${user.id}/balance`)).data as { readonly balance: number })
      .balance;
  if (!(await becomes(balance, 2.5))) return `credits: ${await balance()}`;
  await manage(writer, "DELETE", `/keys/${id}`);
  return (await becomes(read, 401)) ? null : `a revoked key: ${await read()}`;
}

/** Changes are everywhere within a second. Milliseconds, with room for a busy machine. */
const CHANGE_MS = 5_000;

async function becomes(read: () => Promise<unknown>, wanted: unknown): Promise<boolean> {
  const until = Date.now() + CHANGE_MS;
  for (;;) {
    if ((await read()) === wanted) return true;
    if (Date.now() > until) return false;
    await Bun.sleep(50);
  }
}

/** Returns the number of requests that a gateway has counted. */
async function countRequests(url: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  const text = await response.text();
  return [...text.matchAll(/^gateway_requests_total\{.*\} (\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
