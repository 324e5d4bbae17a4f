/**
 * Kills the gateway under load, again and again, and then holds its books against the vendor's bill:
 * `npm run test:chaos`.
 *
 *   --seed=<number>   what chance begins with; a run prints its own
 *   --kills=<number>  how often
 *   --keep            leaves the data directory where it is, for a look
 */
import { parseArgs } from "node:util";
import { AS_SHIPPED, fetchGeneration, type GatewayProcess, makeSite } from "../support/gateway-process.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { startBillingVendor } from "./billing-vendor.ts";
import { type Check, checkBooks } from "./check-books.ts";
import { type Clients, createClients } from "./clients.ts";
import { makePayers, type Payer, type Payers } from "./payers.ts";
import { describePrices, PROVIDERS } from "./prices.ts";
import { readBooks } from "./read-books.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    kills: { type: "string", default: "210" },
    keep: { type: "boolean", default: false },
  },
});
const seed = Number(options.seed);
const kills = Number(options.kills);
const chance = createSeededRandom(seed);
console.log(`chaos: ${kills} kills, --seed=${seed}`);

/** Behind it no kill follows. Milliseconds. */
const RUN_MS = 320_000;
/** Load before a kill, milliseconds. */
const [LOAD_MIN_MS, LOAD_MAX_MS] = [20, 300];
/** Now and then longer than the second after which a stream's progress is noted. */
const LONG_ONE_IN = 20;
const [LONG_MIN_MS, LONG_MAX_MS] = [1_200, 1_700];
/** Now and then the next start is killed too, wherever it has come to. */
const START_ONE_IN = 8;
const START_MAX_MS = 400;
const GRANT_ONE_IN = 3;
const GRANT_MAX = 9_000_001;
/** Now and then the load ends by itself, and the gateway is asked what it holds. */
const REST_ONE_IN = 25;

/** Cases that are printed of what does not hold. */
const SHOWN = 10;

const vendor = startBillingVendor();
const site = makeSite(describeSite(), AS_SHIPPED);
const payers = await makePayers(site.dataDir);
const clients = createClients(payers.all, chance);
const roundStarts: number[] = [];
const resting: Check[] = [];
const checks: Check[] = [];
function describeSite(): string {
  const providers = PROVIDERS.map((slug) => {
    const models = (slug === "vendor-a" ? ["acme/alone", "acme/pair"] : ["acme/pair"]).map(
      (id) => `{id: ${id}, name: up, context_length: 32768, prices: ${describePrices(slug)}}`,
    );
    return `  ${slug}: {base_url: "${vendor.baseUrl(slug)}", api_keys: ["sk-0123456789abcdef"], models: [${models.join(", ")}]}`;
  });
  return `admin_key: chaos-management-key-0123456789\nproviders:\n${providers.join("\n")}\n`;
}

/** Gives how often it was killed: as often as wanted, or as there was time for. */
async function killInTurn(): Promise<number> {
  const until = Date.now() + RUN_MS;
  let done = 0;
  while (done < kills && Date.now() < until) {
    if (chance.oneIn(START_ONE_IN)) {
      roundStarts.push(Date.now());
      await site.startAndKill(chance.below(START_MAX_MS));
      done += 1;
      continue;
    }
    const gateway = await startRound();
    const loadMs = chance.oneIn(LONG_ONE_IN)
      ? between(LONG_MIN_MS, LONG_MAX_MS)
      : between(LOAD_MIN_MS, LOAD_MAX_MS);
    const rests = chance.oneIn(REST_ONE_IN);
    const load = clients.load(gateway.url, roundStarts.length - 1);
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

/** One more start; when it began tells its records from those of others. */
function startRound(): Promise<GatewayProcess> {
  roundStarts.push(Date.now());
  return site.start("");
}

/** A last start, which settles what the last kill left, answers for every generation, and stops as it should. */
async function drain(): Promise<Check[]> {
  const gateway = await startRound();
  const shown = await checkShown(gateway, clients);
  resting.push(await checkRest(gateway, payers));
  const exitCode = await gateway.terminate();
  const run = {
    asked: clients.asked,
    bill: vendor.bill,
    payers: payers.all,
    books: readBooks(site.dataDir),
    roundStarts,
  };
  return [
    shown,
    ...mergeRest(resting),
    promise("a clean stop leaves an empty journal and says 0", [
      ...(exitCode === 0 ? [] : [`exit code ${exitCode}`]),
      ...site.journalFiles(),
    ]),
    ...checkBooks(run),
  ];
}

/** The management of generations shows what the books say; nobody waits for a record that never comes. */
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
    promise: "who asks for their generation is shown what stands in the books",
    cases: answered.length,
    broken,
  };
}

/** Clients that leave are noticed, and records reach the database, within this. Milliseconds. */
const REST_MS = 2_000;
const LOOK_EVERY_MS = 100;

/**
 * What a gateway at rest says is left to an account is its balance in the books: nothing is held. Asked by a request that
 * no balance covers.
 */
async function checkRest(gateway: GatewayProcess, { all }: Payers): Promise<Check> {
  const bounded = all.filter(({ accountId, limit }) => accountId.startsWith("user_") && limit === null);
  const until = Date.now() + REST_MS;
  for (;;) {
    const answers = await Promise.all(bounded.map((payer) => askTooMuch(gateway, payer)));
    const { balances } = readBooks(site.dataDir);
    const broken = bounded.flatMap(({ name, accountId }, at) =>
      answers[at] === balances.get(accountId)
        ? []
        : `${name}: ${answers[at]} is left of ${balances.get(accountId)} nanodollars`,
    );
    if (broken.length === 0 || Date.now() > until)
      return promise("nothing is held at rest: what is left to an account is its balance", broken);
    await Bun.sleep(LOOK_EVERY_MS);
  }
}

/** What is left to an account by a 402, nanodollars. */
async function askTooMuch(gateway: GatewayProcess, payer: Payer): Promise<number> {
  const response = await fetch(`${gateway.url}/api/gateway/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${payer.secret}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "acme/alone",
      max_tokens: 1_000_000_000,
      messages: [{ role: "user", content: "All of it." }],
    }),
  });
  const body = (await response.json()) as { error: { metadata?: { balance?: number } } };
  if (response.status !== 402)
    throw new Error(`asked for too much: ${response.status} ${JSON.stringify(body)}`);
  return Math.round((body.error.metadata?.balance ?? Number.NaN) * 1e9);
}

function mergeRest(rests: readonly Check[]): Check[] {
  const [first] = rests;
  if (first === undefined) return [];
  return [{ promise: first.promise, cases: rests.length, broken: rests.flatMap(({ broken }) => broken) }];
}

function promise(text: string, broken: readonly string[]): Check {
  return { promise: text, cases: 1, broken };
}

function between(min: number, max: number): number {
  return min + chance.below(max - min);
}

function tell(all: readonly Check[]): void {
  const failed = all.filter(({ broken, cases }) => broken.length > 0 || cases === 0);
  for (const { promise: text, cases, broken } of all) {
    console.log(`${broken.length === 0 && cases > 0 ? "ok  " : "FAIL"} ${text} (${cases})`);
    for (const line of broken.slice(0, SHOWN)) console.log(`       ${line}`);
    if (broken.length > SHOWN) console.log(`       and ${broken.length - SHOWN} more`);
    if (cases === 0) console.log("       nothing was tried");
  }
  if (failed.length > 0) console.log(`again: npm run test:chaos -- --seed=${seed} --kills=${kills}`);
  console.log(`${all.length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}

try {
  const done = await killInTurn();
  checks.push(promise(`it is killed ${kills} times`, done < kills ? [`${done} in ${RUN_MS} ms`] : []));
  checks.push(...(await drain()));
} catch (error) {
  checks.push({ promise: "the run comes to its end", cases: 1, broken: [String(error)] });
} finally {
  payers.close();
  vendor.stop();
  if (options.keep) console.log(`kept: ${site.dataDir}`);
  else site.remove();
}
tell(checks);
