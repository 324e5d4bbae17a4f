import { afterEach, beforeEach, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../../support/money.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";
import {
  chunkOf,
  healthy,
  opening,
  startVendor,
  textOf,
  USAGE,
  type Vendor,
} from "../../support/vendors/vendor.ts";

const DAY_MS = 86_400_000;

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;
let key: string;

beforeEach(async () => {
  vendor = startVendor();
  clock = createTestClock();
  await start();
  key = await addAccountWithKey(gateway, { id: "user_once" });
  await manage(gateway, "/accounts/user_once/credits", { amount: 1 });
});
afterEach(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

async function start(again?: { readonly dataDir: string; readonly key: string }): Promise<void> {
  const yaml = `
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], zero_retention: true, models: [${["acme/model", "acme/guarded"].map((id) => `{id: ${id}, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}`).join(", ")}]}
guardrails:
  - {name: words, kind: regex, on: answer, action: block, patterns: [Alpha], models: [acme/guarded]}`;
  gateway = await startTestGateway({ clock, yaml, ...again });
}

/** The path and the body of the request in each client API. */
const APIS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "/chat/completions": { messages: [{ role: "user", content: "Hello!" }] },
  "/responses": { input: "Hello!" },
  "/messages": { max_tokens: 100, messages: [{ role: "user", content: "Hello!" }] },
};

interface Asking {
  readonly path?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

function ask(
  name: string,
  { path = "/chat/completions", body = {}, signal }: Asking = {},
): Promise<Response> {
  return fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "idempotency-key": name },
    body: JSON.stringify({ model: "acme/model", ...APIS[path], ...body }),
    ...(signal === undefined ? {} : { signal }),
  });
}

const idOf = (response: Response) => response.headers.get("x-gateway-generation-id") as string;
const balance = async () => (await balanceOf(gateway, "user_once")).balance;

async function recordOf(id: string): Promise<Record<string, unknown>> {
  return (await manage(gateway, `/generations/${id}`)).body["data"] as Record<string, unknown>;
}

for (const path of Object.keys(APIS)) {
  for (const stream of [false, true]) {
    test(`A repeated request to ${path}${stream ? " with a stream" : ""} gets the same answer and is charged once.`, async () => {
      const body = { stream };
      const first = await ask("order-1", { path, body });
      const text = await first.text();
      expect(text).toContain("Alpha");
      const spent = await balance();
      expect(spent).toBeLessThan(1_000_000_000);
      const second = await ask("order-1", { path, body });
      expect(second.status).toBe(200);
      expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
      expect(second.headers.get("idempotent-replayed")).toBe("true");
      expect(second.headers.get("x-gateway-replay-of")).toBe(idOf(first));
      expect(await second.text()).toBe(text.replaceAll(idOf(first), idOf(second)));
      expect(vendor.calls).toHaveLength(1);
      expect(await balance()).toBe(spent);
      expect(await recordOf(idOf(second))).toMatchObject({
        total_cost: 0,
        replay_of: idOf(first),
        attempts: [],
      });
    });
  }
}

test("A client that loses its connection in a stream gets the whole answer by repeating the request, and pays once.", async () => {
  vendor.perform(async (call) => {
    await call.begin();
    await call.events(...opening("Alpha"));
    await call.gate();
    await call.events(
      textOf(" and Omega"),
      chunkOf({}, "stop"),
      { ...chunkOf({}), choices: [], usage: USAGE },
      "[DONE]",
    );
    await call.end();
  });
  const client = new AbortController();
  const lost = await ask("order-2", { body: { stream: true }, signal: client.signal });
  await (lost.body as ReadableStream<Uint8Array>).getReader().read();
  client.abort();
  const repeated = ask("order-2", { body: { stream: true } });
  (await vendor.call(0)).openGate();
  const response = await repeated;
  const text = await response.text();
  expect(text).toContain("Alpha");
  expect(text).toContain(" and Omega");
  expect(text).toEndWith("data: [DONE]\n\n");
  expect(vendor.calls).toHaveLength(1);
  expect(await balance()).toBe(1_000_000_000 - 10 * 1_000 - 5 * 10_000);
  expect(await recordOf(idOf(lost))).toMatchObject({ outcome: "completed", cancelled: false });
});

test("A client that leaves before a whole answer is there gets it by repeating the request.", async () => {
  vendor.perform(async (call) => {
    await call.gate();
    await healthy("Alpha")(call);
  });
  const client = new AbortController();
  const lost = ask("order-3", { signal: client.signal }).catch(() => null);
  const call = await vendor.call(0);
  client.abort();
  await lost;
  const repeated = ask("order-3");
  call.openGate();
  expect(await (await repeated).text()).toContain("Alpha");
  expect(vendor.calls).toHaveLength(1);
});

test("A request that failed without a cost may be made again with its Idempotency-Key.", async () => {
  vendor.perform((call) => call.respond(400, { error: { message: "no", type: "invalid_request_error" } }));
  expect((await ask("order-4")).status).toBe(400);
  vendor.perform(healthy("Alpha"));
  const again = await eventually("the key is free again", async () => {
    const response = await ask("order-4");
    return response.status === 200 ? response : null;
  });
  expect(again.headers.get("idempotent-replayed")).toBeNull();
});

for (const stream of [false, true])
  test(`A request that a guardrail has blocked after its answer was charged${stream ? ", with a stream," : ""} is not sent and charged again with its Idempotency-Key.`, async () => {
    const body = { model: "acme/guarded", stream };
    const first = await ask("order-blocked", { body });
    const text = await first.text();
    expect(text).toContain("content_blocked");
    const spent = await balance();
    expect(spent).toBeLessThan(1_000_000_000);
    const again = await ask("order-blocked", { body });
    const repeated = await again.text();
    if (first.status === 200) expect(repeated).toBe(text.replaceAll(idOf(first), idOf(again)));
    else {
      expect([again.status, repeated]).toEqual([409, expect.stringContaining(idOf(first))]);
    }
    expect(vendor.calls).toHaveLength(1);
    expect(await balance()).toBe(spent);
  });

test("A stream that broke off and was charged is given again as it was, and is not charged again.", async () => {
  vendor.perform(async (call) => {
    await call.begin();
    await call.events(...opening("Beta one"), textOf(" two"));
    await call.gate();
    call.connection.end();
  });
  const first = await ask("order-broken", { body: { stream: true } });
  (await vendor.call(0)).openGate();
  const text = await first.text();
  expect(text).toContain("Beta one");
  expect(text).toContain("error");
  const spent = await balance();
  expect(spent).toBeLessThan(1_000_000_000);
  const again = await ask("order-broken", { body: { stream: true } });
  expect(await again.text()).toBe(text.replaceAll(idOf(first), idOf(again)));
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(vendor.calls).toHaveLength(1);
  expect(await balance()).toBe(spent);
});

test("A request that is rejected for lack of money may be made again with its Idempotency-Key.", async () => {
  const poor = await addAccountWithKey(gateway, { id: "user_poor" });
  [key] = [poor];
  expect((await ask("order-5")).status).toBe(402);
  await manage(gateway, "/accounts/user_poor/credits", { amount: 1 });
  await eventually("the key is free again", async () => (await ask("order-5")).status === 200);
});

test("Another request with a used Idempotency-Key is rejected with 409 and asks no provider.", async () => {
  await (await ask("order-6")).text();
  const other = await ask("order-6", { body: { temperature: 0.5 } });
  expect(other.status).toBe(409);
  expect(await other.text()).toContain("another request");
  expect(vendor.calls).toHaveLength(1);
});

test("An Idempotency-Key with a space is rejected with 400.", async () => {
  expect((await ask("order 7")).status).toBe(400);
});

test("The Idempotency-Keys of two API keys are independent.", async () => {
  await (await ask("order-8")).text();
  key = await addAccountWithKey(gateway, { id: "user_other" });
  await manage(gateway, "/accounts/user_other/credits", { amount: 1 });
  expect((await ask("order-8")).headers.get("idempotent-replayed")).toBeNull();
  expect(vendor.calls).toHaveLength(2);
});

test("An Idempotency-Key can be used for a new request after a day.", async () => {
  await (await ask("order-9")).text();
  clock.advance(DAY_MS + 1_000);
  // A gateway of a shared database that was away for a day has to join it again.
  await eventually("the key is free again", async () => {
    const later = await ask("order-9", { body: { temperature: 0.5 } });
    return later.status === 200;
  });
});

test("After a restart a repeated request is not charged again: it is rejected with the id of the first generation.", async () => {
  const first = await ask("order-10");
  await first.text();
  const { dataDir, key: firstKey } = gateway;
  await gateway.stop({ keepData: true });
  await start({ dataDir, key: firstKey });
  const repeated = await ask("order-10");
  expect(repeated.status).toBe(409);
  expect(await repeated.text()).toContain(idOf(first));
  expect(vendor.calls).toHaveLength(1);
});

test("Under zero data retention the answer is not kept, and a repeated request is still not charged again.", async () => {
  const body = { provider: { zdr: true } };
  const first = await ask("order-11", { body });
  expect(first.status).toBe(200);
  await first.text();
  const spent = await balance();
  const repeated = await ask("order-11", { body });
  expect(repeated.status).toBe(409);
  expect(await repeated.text()).toContain("not kept");
  expect(await balance()).toBe(spent);
});
