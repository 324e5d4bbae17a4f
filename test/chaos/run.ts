/**
 * Kills the gateway under load repeatedly, and then compares its ledger with the vendor's bill:
 * `npm run suite -- chaos`, and with hostile vendors `npm run suite -- chaos --hostile`.
 *
 * --hostile         half of the answers misreport usage, break off, or are longer than allowed
 * --seed=<number>   seed of all random choices; a run prints its own
 * --kills=<number>  number of kills
 * --keep            keeps the data directory for inspection
 */
import { parseArgs } from "node:util";
import { startBillingVendor } from "../books/billing-vendor.ts";
import { type Check, checkOnce, printChecks } from "../books/check.ts";
import { checkBooks } from "../books/check-books.ts";
import { LONGEST_ANSWER, WINDOW } from "../books/hostile-answers.ts";
import { describePrices, HOSTILE, PROVIDERS, type ProviderSlug } from "../books/prices.ts";
import { fetchGeneration, type GatewayProcess, makeSite } from "../support/gateway/gateway-process.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { checkHostile } from "./check-hostile.ts";
import { type Clients, createClients } from "./clients.ts";
import { makePayers, type Payers } from "./payers.ts";
import { readBooks } from "./read-books.ts";

const KILLS = 210;
const HOSTILE_KILLS = 60;

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    hostile: { type: "boolean", default: false },
    kills: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});
const seed = Number(options.seed);
const kills = Number(options.kills ?? (options.hostile ? HOSTILE_KILLS : KILLS));
const chance = createSeededRandom(seed);
console.log(`chaos: ${kills} kills${options.hostile ? ", hostile vendors" : ""}, --seed=${seed}`);

/** No kill follows after this time. Milliseconds. */
const RUN_MS = 320_000;
/** Load before a kill, milliseconds. */
const [LOAD_MIN_MS, LOAD_MAX_MS] = [20, 300];
/** One in so many lasts longer than the second after which a stream's progress is recorded. Not by chance: one must be early, while all can pay. */
const LONG_EVERY = options.hostile ? 4 : 20;
const [LONG_MIN_MS, LONG_MAX_MS] = [1_200, 1_700];
/** Sometimes the next start is killed too, at any point. */
const START_ONE_IN = 8;
const START_MAX_MS = 400;
const GRANT_ONE_IN = options.hostile ? 1 : 3;
const GRANT_MAX = options.hostile ? 3_000_001 : 1_500_001;
/** Sometimes the load ends by itself, and the gateway is asked for its holds. */
const REST_ONE_IN = 25;

const ADMIN_KEY = "chaos-management-key-0123456789";

const MODELS: Readonly<Record<ProviderSlug, readonly string[]>> = {
  "vendor-a": ["acme/alone", "acme/pair"],
  "vendor-b": ["acme/pair"],
  [HOSTILE]: ["acme/hostile"],
};

const vendor = startBillingVendor();
const site = makeSite(describeSite());
const payers = await makePayers(site.dataDir, options.hostile);
const clients = createClients(payers, chance, options.hostile);
const resting: Check[] = [];
const checks: Check[] = [];
function describeSite(): string {
  const providers = [...PROVIDERS, HOSTILE].map((slug) => {
    const models = MODELS[slug].map(
      (id) =>
        `{id: ${id}, name: up, context_length: ${WINDOW}, max_output_tokens: ${LONGEST_ANSWER}, prices: ${describePrices(slug)}}`,
    );
    return `  ${slug}: {base_url: "${vendor.baseUrl(slug)}", api_keys: ["sk-0123456789abcdef"], models: [${models.join(", ")}]}`;
  });
  return `admin_key: ${ADMIN_KEY}\nproviders:\n${providers.join("\n")}\n`;
}

/** Returns the number of kills: as many as requested, or as there was time for. */
async function killRepeatedly(): Promise<number> {
  const until = Date.now() + RUN_MS;
  let done = 0;
  while (done < kills && Date.now() < until) {
    const isLong = done % LONG_EVERY === LONG_EVERY / 2;
    if (!isLong && chance.oneIn(START_ONE_IN)) {
      await site.startAndKill(chance.below(START_MAX_MS));
      done += 1;
      continue;
    }
    const gateway = await site.start("");
    const loadMs = isLong ? between(LONG_MIN_MS, LONG_MAX_MS) : between(LOAD_MIN_MS, LOAD_MAX_MS);
    const rests = chance.oneIn(REST_ONE_IN);
    const load = clients.load(gateway.url);
    if (chance.oneIn(GRANT_ONE_IN)) await payers.grant(payers.poor.accountId, 1 + chance.below(GRANT_MAX));
    await Bun.sleep(loadMs);
    load.stop();
    if (rests) {
      load.leave();
      await load.ended;
      resting.push(await checkRest(gateway, payers));
    }
    await gateway.kill();
    await load.ended;
    done += 1;
    if (done % 25 === 0) console.log(`${done} kills, ${clients.asked.length} requests`);
  }
  return done;
}

/** The last start: settles what the last kill left, answers for every generation, and stops cleanly. */
async function drain(): Promise<Check[]> {
  const gateway = await site.start("");
  const shown = await checkShown(gateway, clients);
  resting.push(await checkRest(gateway, payers));
  const sound = await checkSound(gateway);
  const budgets = await checkBudgets(gateway);
  const exitCode = await gateway.terminate();
  const run = {
    asked: clients.asked,
    bill: vendor.bill,
    payers: payers.all,
    books: readBooks(site.dataDir),
  };
  return [
    shown,
    sound,
    budgets,
    ...mergeRest(resting),
    checkOnce("a clean stop leaves an empty journal and exits with 0", [
      ...(exitCode === 0 ? [] : [`exit code ${exitCode}`]),
      ...site.journalFiles(),
    ]),
    ...checkBooks(run),
    ...(options.hostile ? checkHostile(run) : []),
  ];
}

/** Checks that the management API shows what the database contains; no client waits for a record that never comes. */
async function checkShown(gateway: GatewayProcess, { asked }: Clients): Promise<Check> {
  const broken: string[] = [];
  const answered = asked.filter(({ generationId }) => generationId !== null);
  const books = readBooks(site.dataDir);
  for (const { generationId, payer } of answered) {
    const id = generationId as string;
    const shown = await fetchGeneration({ url: gateway.url, key: payer.secret }, id);
    const record = books.records.get(id);
    if (
      shown?.["outcome"] !== record?.outcome ||
      shown?.["total_cost_nanodollars"] !== record?.costNanodollars
    )
      broken.push(`${id}: shown ${JSON.stringify(shown)}`);
  }
  return {
    property: "a client that asks for its generation gets what the database contains",
    cases: answered.length,
    broken,
  };
}

/** Disconnects are noticed, and records reach the database, within this time. Milliseconds. */
const REST_MS = 2_000;
const LOOK_EVERY_MS = 100;

/** At rest nothing is held of a prepaid account, and the balance of the management API is that of the database. */
async function checkRest(gateway: GatewayProcess, { all }: Payers): Promise<Check> {
  const accounts = [...new Set(all.map(({ accountId }) => accountId))].filter((id) =>
    /^(user|org)_/.test(id),
  );
  const until = Date.now() + REST_MS;
  for (;;) {
    const said = await Promise.all(
      accounts.map(async (id) => ({ id, ...((await manage(gateway, `accounts/${id}/balance`)) as Balance) })),
    );
    const { balances } = readBooks(site.dataDir);
    const broken = said
      .filter(
        ({ id, held_nanodollars: held, balance_nanodollars: balance }) =>
          held !== 0 || balance !== balances.get(id),
      )
      .map((one) => `${JSON.stringify(one)}, ${balances.get(one.id)} in the books`);
    if (broken.length === 0 || Date.now() > until)
      return checkOnce(
        "nothing is held at rest, and the balance of the API is the balance in the database",
        broken,
      );
    await Bun.sleep(LOOK_EVERY_MS);
  }
}

interface Balance {
  readonly balance_nanodollars: number;
  readonly held_nanodollars: number;
}

/** After the kills the gateway is ready, and its own ledger check finds no difference. */
async function checkSound(gateway: GatewayProcess): Promise<Check> {
  const ready = await fetch(`${gateway.url}/readyz`);
  const differences = (await manage(gateway, "ledger/check")) as unknown[];
  return checkOnce("the gateway is ready, and its own ledger check finds nothing", [
    ...(ready.status === 200 ? [] : [`readyz: ${ready.status}`]),
    ...differences.map((difference) => JSON.stringify(difference)),
  ]);
}

/** A budget has counted exactly what the requests of its account have cost. */
async function checkBudgets(gateway: GatewayProcess): Promise<Check> {
  const budgets = (await manage(gateway, "budgets")) as { account_id: string; spent: number }[];
  const records = [...readBooks(site.dataDir).records.values()];
  const broken = budgets.flatMap(({ account_id, spent }) => {
    const costs = records.filter(({ accountId }) => accountId === account_id);
    const cost = costs.reduce((sum, { costNanodollars }) => sum + costNanodollars, 0);
    return Math.round(spent * 1e9) === cost
      ? []
      : [`${account_id}: ${spent} dollars, and ${cost} in the books`];
  });
  return { property: "a budget has counted what its requests have cost", cases: budgets.length, broken };
}

/** The data of a response of the management API. */
async function manage({ url }: GatewayProcess, path: string): Promise<unknown> {
  const response = await fetch(`${url}/api/admin/${path}`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: unknown }).data;
}

function mergeRest(rests: readonly Check[]): Check[] {
  const [first] = rests;
  if (first === undefined) return [];
  return [{ property: first.property, cases: rests.length, broken: rests.flatMap(({ broken }) => broken) }];
}

function between(min: number, max: number): number {
  return min + chance.below(max - min);
}

try {
  const done = await killRepeatedly();
  checks.push(checkOnce(`it is killed ${kills} times`, done < kills ? [`${done} in ${RUN_MS} ms`] : []));
  checks.push(...(await drain()));
} catch (error) {
  checks.push({ property: "the run comes to its end", cases: 1, broken: [String(error)] });
} finally {
  await payers.close();
  vendor.stop();
  if (options.keep) console.log(`kept: ${site.dataDir}`);
  else site.remove();
}
const script = options.hostile ? "test:chaos-hostile" : "test:chaos";
printChecks(checks, `npm run ${script} -- --seed=${seed} --kills=${kills}`);
