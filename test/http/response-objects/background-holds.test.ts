import { afterEach, beforeEach, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../../support/money.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";
import { chunkOf, startVendor, USAGE, type Vendor } from "../../support/vendors/vendor.ts";

const TOTAL_MS = 100_000;
/** Longer than a hold of `TOTAL_MS` and its margin of a minute. */
const LONG_MS = TOTAL_MS + 60_000 + 40_000;
/** Less than the longest silence, which would end the answer. */
const STEP_MS = 20_000;
const CREDITS = 10_000_000_000;

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;
let key: string;

beforeEach(async () => {
  vendor = startVendor();
  clock = createTestClock();
  gateway = await startTestGateway({
    clock,
    yaml: `
timers: {total_ms: ${TOTAL_MS}, first_token_ms: ${10 * LONG_MS}}
responses: {background_ms: ${10 * LONG_MS}}
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}]}`,
  });
  key = await addAccountWithKey(gateway, { id: "user_long" });
  await manage(gateway, "/accounts/user_long/credits", { amount: CREDITS / 1e9 });
});
afterEach(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

async function call(path: string, body?: object) {
  const response = await fetch(gateway.base + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json() as Promise<{ readonly id: string; readonly status: string; readonly usage: Usage }>;
}

interface Usage {
  readonly cost: number;
}

/** Lets `LONG_MS` pass in steps. After each of them the vendor sends a comment, and the money that is held is read. */
async function passTime(comment: () => Promise<void>): Promise<readonly number[]> {
  const held: number[] = [];
  for (let passed = 0; passed < LONG_MS; passed += STEP_MS) {
    await comment();
    clock.advance(STEP_MS);
    held.push((await balanceOf(gateway, "user_long")).held);
  }
  return held;
}

const begin = () => call("/responses", { model: "acme/model", input: "Hi", background: true });
const whenEnded = (id: string) =>
  eventually("the response has ended", async () => {
    const found = await call(`/responses/${id}`);
    return found.status === "in_progress" ? null : found;
  });

/** Expects a response that is charged within what was held for it. */
async function expectCharged(id: string, held: readonly number[]): Promise<void> {
  const { status, usage } = await whenEnded(id);
  expect(status).toBe("completed");
  const smallest = Math.min(...held);
  expect(smallest).toBeGreaterThan(0);
  expect(usage.cost * 1e9).toBeLessThanOrEqual(smallest);
  expect(await balanceOf(gateway, "user_long")).toMatchObject({
    balance: CREDITS - Math.round(usage.cost * 1e9),
    held: 0,
  });
}

const END = [chunkOf({}, "stop"), { choices: [], usage: USAGE }, "[DONE]"];

test("A background response whose vendor sends only comments for longer than timers.total_ms keeps its hold until its end.", async () => {
  vendor.perform(async (one) => {
    await one.begin();
    await one.events(chunkOf({ content: "Alpha" }));
    await one.gate();
    await one.events(chunkOf({ content: " Beta" }), ...END);
    await one.end();
  });
  const { id } = await begin();
  const one = await vendor.call(0);
  await one.atGate;
  const held = await passTime(() => one.piece(": working\n\n"));
  expect((await call(`/responses/${id}`)).status).toBe("in_progress");
  one.openGate();
  await expectCharged(id, held);
});

test("A background response whose first token takes longer than timers.total_ms keeps its hold until its end.", async () => {
  vendor.perform(async (one) => {
    await one.begin();
    await one.gate();
    await one.events(chunkOf({ content: "Alpha" }), ...END);
    await one.end();
  });
  const { id } = await begin();
  const one = await vendor.call(0);
  await one.atGate;
  const held = await passTime(async () => {});
  expect((await call(`/responses/${id}`)).status).toBe("in_progress");
  one.openGate();
  await expectCharged(id, held);
});
