import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../support/money.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { chunkOf, opening, startVendor, textOf, type Vendor } from "../support/vendors/vendor.ts";

const messages = [{ role: "user", content: "Hello!" }];

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;
let yaml: string;
let client: AbortController;
/** Responses are referenced, so that garbage collection does not close their connections. */
let answer: Promise<Response>;

beforeEach(async () => {
  vendor = startVendor();
  clock = createTestClock();
  client = new AbortController();
  yaml = `
pricing: { rules: [{ plans: [pro], markup_percent: 50 }] }
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}]}`;
  gateway = await startTestGateway({ clock, yaml });
});
afterEach(async () => {
  client.abort();
  await gateway.stop();
  vendor.stop();
});

/** Starts a gateway on a copy of the data directory, as after `kill -9`. */
function startOnCopy(): Promise<TestGateway> {
  const dataDir = makeTempFolder("gateway-test-");
  cpSync(gateway.dataDir, dataDir, { recursive: true });
  return startTestGateway({ yaml, dataDir, key: gateway.key });
}

interface Shown {
  readonly outcome: string;
  readonly total_cost_nanodollars: number;
  readonly pricing: readonly { readonly cost_nanodollars: string }[];
}

/** Returns the interrupted generation as its caller sees it. */
async function fetchInterrupted(restarted: TestGateway, key: string): Promise<Shown> {
  const found = await fetch(`${restarted.base}/generation?id=${generationId}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await found.json()) as { data: Shown };
  expect(data.outcome).toBe("interrupted");
  return data;
}

let generationId: string;

/** Begins a stream whose vendor sends these events, a second apart, and then nothing more. */
async function begin(key: string, pieces: readonly (readonly unknown[])[]): Promise<void> {
  vendor.perform(async (call) => {
    if (pieces.length > 0) await call.begin();
    for (const events of pieces) await call.events(...events);
    await call.gate();
  });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "acme/model", stream: true, messages });
  const { signal } = client;
  answer = fetch(`${gateway.base}/chat/completions`, { method: "POST", headers, body, signal });
  answer.catch(() => {});
  await (await vendor.call(0)).atGate;
  const holds = (await manage(gateway, "/holds")).body["data"] as { id: string }[];
  generationId = holds[0]!.id;
}

function sumOf({ pricing }: Shown): number {
  return pricing.reduce((sum, { cost_nanodollars: cost }) => sum + Number(cost), 0);
}

test("a generation that was interrupted before its first token costs nothing and has no price lines", async () => {
  const key = await addAccountWithKey(gateway, { id: "user_early" });
  await manage(gateway, "/accounts/user_early/credits", { amount: 1 });
  await begin(key, []);
  const restarted = await startOnCopy();
  const shown = await fetchInterrupted(restarted, key);
  expect([shown.total_cost_nanodollars, shown.pricing]).toEqual([0, []]);
  expect(await findLedgerProblems(restarted)).toEqual([]);
  await restarted.stop();
});

test("the price lines of a generation that was interrupted later add up to its charge", async () => {
  const key = await addAccountWithKey(gateway, { id: "user_late" });
  await manage(gateway, "/accounts/user_late/credits", { amount: 1 });
  await begin(key, [opening("Alpha")]);
  clock.advance(1_100);
  await vendor.calls[0]!.events(textOf(" one two three"));
  const shown = await eventually("its record says how far it had come", async () => {
    const restarted = await startOnCopy();
    const found = await fetchInterrupted(restarted, key);
    await restarted.stop();
    return found.total_cost_nanodollars > 0 ? found : null;
  });
  expect(sumOf(shown)).toBe(shown.total_cost_nanodollars);
});

test("an interrupted generation is charged by the pricing rules of its account, and keeps the list price apart", async () => {
  const key = await addAccountWithKey(gateway, { id: "user_pro", plan: "pro" });
  await manage(gateway, "/accounts/user_pro/credits", { amount: 1 });
  await begin(key, [opening("Alpha")]);
  clock.advance(1_100);
  await vendor.calls[0]!.events(textOf(" one two three"));
  const shown = await eventually("its record says how far it had come", async () => {
    const restarted = await startOnCopy();
    await fetchInterrupted(restarted, key);
    const { body } = await manage(restarted, `/generations/${generationId}`);
    await restarted.stop();
    const data = body["data"] as Shown & { upstream_inference_cost: number; margin_nanodollars: number };
    return data.total_cost_nanodollars > 0 ? data : null;
  });
  const list = Math.round(shown.upstream_inference_cost * 1e9);
  expect(sumOf(shown)).toBe(shown.total_cost_nanodollars);
  expect(shown).toMatchObject({ total_cost_nanodollars: list * 1.5, margin_nanodollars: list * 0.5 });
});

test("an interrupted generation is charged no more than its hold", async () => {
  const key = await addAccountWithKey(gateway, { id: "user_held" });
  await manage(gateway, "/accounts/user_held/credits", { amount: 0.05 });
  const usage = { prompt_tokens: 120_000, completion_tokens: 1 };
  await begin(key, [[...opening("Alpha"), { ...chunkOf({}), choices: [], usage }]]);
  clock.advance(1_100);
  await vendor.calls[0]!.events(textOf(" one"));
  await eventually("its record says what is held", async () => {
    const restarted = await startOnCopy();
    await fetchInterrupted(restarted, key);
    const { balance } = await balanceOf(restarted, "user_held");
    expect(balance).toBeGreaterThanOrEqual(0);
    await restarted.stop();
    return balance === 0;
  });
});
