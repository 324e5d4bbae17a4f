import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../../support/money.ts";
import { scrape } from "../../support/servers/scrape.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

/** Bytes of an answer that is longer than what is kept. */
const TOO_LONG = 1_100_000;

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;
let accounts = 0;
let account: string;
let key: string;

beforeAll(async () => {
  vendor = startVendor();
  clock = createTestClock();
  gateway = await startTestGateway({
    clock,
    yaml: `
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], zero_retention: true, models: [{id: acme/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}]}`,
  });
});
beforeEach(async () => {
  accounts += 1;
  account = `user_${accounts}`;
  key = await createKey({ cache: 600 });
  await manage(gateway, `/accounts/${account}/credits`, { amount: 1 });
  vendor.perform(healthy("Alpha"));
});
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

function createKey(fields: { readonly cache?: number }): Promise<string> {
  return addAccountWithKey(gateway, { id: account }, fields);
}

function ask(
  body: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
): Promise<Response> {
  return fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    signal,
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model: "acme/model", messages: [{ role: "user", content: "Hello!" }], ...body }),
  });
}

/** Asks, reads the whole answer, and returns what the cache did. */
async function askFor(...request: Parameters<typeof ask>): Promise<string | null> {
  const response = await ask(...request);
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get("x-gateway-cache");
}

const idOf = (response: Response) => response.headers.get("x-gateway-generation-id") as string;

describe("a key with a cache", () => {
  for (const stream of [false, true]) {
    test(`gets the answer to an equal request again at no cost${stream ? ", as a stream" : ""}`, async () => {
      const first = await ask({ stream });
      const text = await first.text();
      expect(first.headers.get("x-gateway-cache")).toBe("miss");
      const { balance } = await balanceOf(gateway, account);
      clock.leap(5_000);
      const second = await ask({ stream });
      expect(second.headers.get("x-gateway-cache")).toBe("hit");
      expect(second.headers.get("age")).toBe("5");
      expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
      expect(await second.text()).toBe(text.replaceAll(idOf(first), idOf(second)));
      expect(vendor.calls).toHaveLength(1);
      expect(await balanceOf(gateway, account)).toMatchObject({ balance, held: 0 });
      const { body } = await manage(gateway, `/generations/${idOf(second)}`);
      expect(body["data"]).toMatchObject({ outcome: "cached", total_cost: 0, replay_of: idOf(first) });
    });
  }

  test("asks a provider again for any other request, for another key, and after its time", async () => {
    expect(await askFor()).toBe("miss");
    expect(await askFor({ temperature: 0.5 })).toBe("miss");
    clock.leap(601_000);
    expect(await askFor()).toBe("miss");
    expect(await askFor()).toBe("hit");
  });

  test("has it asked anew by Cache-Control: no-cache, and the new answer is kept", async () => {
    await askFor();
    vendor.perform(healthy("Beta"));
    expect(await askFor({}, { "cache-control": "no-cache" })).toBe("miss");
    const kept = await ask();
    expect(kept.headers.get("x-gateway-cache")).toBe("hit");
    expect(await kept.text()).toContain("Beta");
  });

  test("has nothing read or kept by Cache-Control: no-store", async () => {
    expect(await askFor({}, { "cache-control": "no-store" })).toBe("bypass");
    expect(await askFor()).toBe("miss");
  });

  test("accepts no answer older than max-age", async () => {
    await askFor();
    clock.leap(61_000);
    expect(await askFor({}, { "cache-control": "max-age=60" })).toBe("miss");
    expect(await askFor({}, { "cache-control": "max-age=60" })).toBe("hit");
  });

  test("is not served from the cache under zero data retention", async () => {
    const body = { provider: { zdr: true } };
    expect(await askFor(body)).toBe("bypass");
    expect(await askFor(body)).toBe("bypass");
  });

  test("gets no failure and no broken answer again", async () => {
    vendor.perform((call) => call.respond(400, { error: { message: "no", type: "invalid_request_error" } }));
    expect((await ask()).status).toBe(400);
    vendor.perform(healthy("Alpha"));
    expect(await askFor()).toBe("miss");
  });

  test("gets an answer that is too long to be kept from a provider each time", async () => {
    vendor.perform(healthy("a".repeat(TOO_LONG)));
    expect(await askFor()).toBe("miss");
    expect(await askFor()).toBe("miss");
  });
});

/** The number of requests that the gateway answers at the moment, after clients that wait are watched. */
async function countRunning(): Promise<number | null> {
  clock.leap(50);
  return (await scrape(gateway)).value("gateway_inflight");
}

describe("equal requests at the same time", () => {
  test("ask a provider once, and one of them pays", async () => {
    vendor.perform(async (call) => {
      await call.gate();
      await healthy("Alpha")(call);
    });
    const running = [ask({ stream: true })];
    const call = await vendor.call(0);
    for (let i = 0; i < 5; i++) running.push(ask({ stream: true }));
    call.openGate();
    const answers = await Promise.all(running);
    const did = answers.map((response) => response.headers.get("x-gateway-cache"));
    for (const response of answers) expect(await response.text()).toContain("Alpha");
    expect(did[0]).toBe("miss");
    for (const later of did.slice(1)) expect(["joined", "hit"]).toContain(later as string);
    expect(vendor.calls).toHaveLength(1);
  });

  test("ask a provider again once if the client of the first one leaves, and again if that of the second does", async () => {
    vendor.perform(async (call) => {
      await call.gate();
      await healthy("Alpha")(call);
    });
    const leaders = [new AbortController(), new AbortController()];
    const left = leaders.map(() => Promise.withResolvers<void>());
    const begin = (at: number) => {
      const { signal } = leaders[at] as AbortController;
      ask({}, {}, signal).catch(() => left[at]?.resolve());
    };
    begin(0);
    await vendor.call(0);
    begin(1);
    await eventually("the second request waits", async () => (await countRunning()) === 2);
    const waiting = Array.from({ length: 10 }, () => ask());
    await eventually("all requests wait", async () => (await countRunning()) === 12);
    leaders[0]?.abort();
    await left[0]?.promise;
    await vendor.call(1);
    leaders[1]?.abort();
    await left[1]?.promise;
    (await vendor.call(2)).openGate();
    const answers = await Promise.all(waiting);
    for (const answer of answers) expect([answer.status, await answer.text()].join()).toContain("Alpha");
    expect(vendor.calls).toHaveLength(3);
  });

  test("ask a provider themselves if the one that they waited for fails", async () => {
    let calls = 0;
    vendor.perform(async (call) => {
      calls += 1;
      if (calls > 1) return healthy("Alpha")(call);
      await call.gate();
      await call.respond(400, { error: { message: "no", type: "invalid_request_error" } });
    });
    const first = ask();
    const call = await vendor.call(0);
    const others = [ask(), ask()];
    call.openGate();
    expect((await first).status).toBe(400);
    for (const response of await Promise.all(others)) expect(response.status).toBe(200);
  });

  test("ask a provider themselves if the one that they waited for has no money", async () => {
    const { body } = await manage(gateway, `/accounts/${account}/corrections`, {
      amount: -1,
      note: "none left",
    });
    expect(body["error"]).toBeUndefined();
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(answers.map(({ status }) => status)).toEqual([402, 402, 402]);
  });
});

test("A key without a cache has each request answered by a provider, and no header of a cache.", async () => {
  account = "user_without";
  key = await createKey({});
  await manage(gateway, `/accounts/${account}/credits`, { amount: 1 });
  expect(await askFor()).toBeNull();
  expect(await askFor()).toBeNull();
  expect(vendor.calls).toHaveLength(2);
});
