import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../support/money.ts";
import { documentOf, healthy, opening, startVendor, textOf, type Vendor } from "../support/vendors/vendor.ts";

/** The cost of the vendor's usage, 10 and 5 tokens, at the prices below. Nanodollars. */
const COST = 10 * 1_000 + 5 * 10_000;
const MODEL = "mine/chat";

let vendor: Vendor;
let gateway: TestGateway;
let made = 0;

function yamlFor(baseUrl: string, more = ""): string {
  return `
${more}
limits: { attempts: 1 }
providers:
  mine:
    base_url: ${baseUrl}
    api_keys: [vendor-key]
    models:
      - { id: ${MODEL}, prices: { prompt: "0.000001", completion: "0.00001" } }
      - { id: mine/vectors, output: embedding, prices: { prompt: "0.000001", completion: "0" } }
`;
}

beforeAll(async () => {
  vendor = startVendor();
  gateway = await startTestGateway({ yaml: yamlFor(vendor.baseUrl) });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});
beforeEach(() => {
  made += 1;
  vendor.perform(healthy("Alpha"));
});
afterEach(async () => {
  await eventually(
    "nothing is held and all adds up",
    async () => (await findLedgerProblems(gateway)).length === 0,
  );
});

function post(
  key: string,
  path: string,
  body: unknown,
  more: RequestInit & { headers?: Record<string, string> } = {},
) {
  return fetch(`${gateway.base}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    ...more,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...more.headers },
  });
}

const CHAT = { model: MODEL, max_tokens: 10, messages: [{ role: "user", content: "Hello!" }] };

function chat(
  key: string,
  more: Record<string, unknown> = {},
  init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
) {
  return post(key, "/chat/completions", { ...CHAT, ...more }, init);
}

interface Refusal {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly metadata: Record<string, number>;
  };
}

/** Returns the hold of a chat request in nanodollars, as the rejection of an account without money names it. */
async function holdOfChat(): Promise<number> {
  return holdOf(await addAccountWithKey(gateway, { id: `user_probe${made}` }), "/chat/completions", CHAT);
}

/** Returns the hold of a request in nanodollars, as it is named to an account without money. */
async function holdOf(key: string, path: string, body: unknown): Promise<number> {
  const { error } = (await (await post(key, path, body)).json()) as Refusal;
  return Math.round(error.metadata["required"]! * 1e9);
}

describe("the prompt part of a hold", () => {
  const FEW = { model: MODEL, max_tokens: 1, messages: [{ role: "user", content: "Hello, world!" }] };
  const schema = { name: "f", type: "json_schema", schema: { type: "object" } };
  const chatTool = { type: "function", function: { name: "f", parameters: { type: "object" } } };
  const item = { type: "message", role: "user", content: "Hello, world!" };
  const response = { model: MODEL, max_output_tokens: 1, input: [item] };

  test.each<[string, string, object, { readonly tools?: readonly object[] }]>([
    ["chat", "/chat/completions", FEW, { tools: [chatTool] }],
    ["chat", "/chat/completions", FEW, { response_format: { type: "json_object" } } as object],
    ["Messages", "/messages", FEW, { tools: [{ name: "f", input_schema: { type: "object" } }] }],
    ["Messages", "/messages", FEW, { output_config: { format: schema } } as object],
    [
      "Responses",
      "/responses",
      response,
      { tools: [{ type: "function", name: "f", parameters: { type: "object" } }] },
    ],
    ["Responses", "/responses", response, { text: { format: { type: "json_object" } } } as object],
  ])(
    "of a %s request is a token for two bytes and 32 more, with a tool or a schema 500 more: %s %j %j",
    async (api, path, plain, more) => {
      const key = await addAccountWithKey(gateway, { id: `user_${api}${made}` });
      // The text has 15 bytes with its quotation marks.
      const bytes = 15 + (more.tools === undefined ? 0 : JSON.stringify(more.tools).length);
      const [answer, perToken] = [10_000, 1_000];
      expect(await holdOf(key, path, plain)).toBe((8 + 32) * perToken + answer);
      expect(await holdOf(key, path, { ...plain, ...more })).toBe(
        (Math.ceil(bytes / 2) + 500) * perToken + answer,
      );
      expect(vendor.calls).toHaveLength(0);
    },
  );
});

describe("an account without credits", () => {
  test.each<[string, string, Record<string, unknown>, (body: Record<string, unknown>) => unknown]>([
    ["chat completions", "/chat/completions", CHAT, ({ error_type }) => error_type],
    ["embeddings", "/embeddings", { model: "mine/vectors", input: "Hello!" }, ({ error_type }) => error_type],
    [
      "messages",
      "/messages",
      CHAT,
      ({ type, error }) => type === "error" && (error as Record<string, unknown>)["type"],
    ],
    [
      "responses",
      "/responses",
      { model: MODEL, max_output_tokens: 16, input: "Hello!" },
      ({ error }) => (error as Record<string, unknown>)["code"],
    ],
  ])(
    "%s answers 402 in its API's error format, and 200 after credits were granted",
    async (name, path, body, readType) => {
      const id = `user_${name.replace(" ", "")}`;
      const key = await addAccountWithKey(gateway, { id });
      const refused = await post(key, path, body);
      const said = (await refused.json()) as Record<string, unknown> & Refusal;
      expect(refused.status).toBe(402);
      expect(readType(said)).toBe(EXPECTED_TYPE[path]!);
      expect(said.error.message).toContain("balance");
      expect(said.error.message).not.toMatch(/rate limit|try again later|overloaded/i);
      expect(vendor.calls).toHaveLength(0);

      await manage(gateway, `/accounts/${id}/credits`, { amount: 1 });
      if (path === "/embeddings")
        vendor.perform((call) =>
          call.respond(200, {
            data: [{ index: 0, embedding: [0.5] }],
            usage: { prompt_tokens: 60, total_tokens: 60 },
          }),
        );
      const answered = await post(key, path, body);
      expect([answered.status, await answered.text()]).toEqual([200, expect.any(String)]);
      expect((await balanceOf(gateway, id)).balance).toBe(1_000_000_000 - 60_000);
    },
  );

  const EXPECTED_TYPE: Record<string, unknown> = {
    "/chat/completions": "insufficient_credits",
    "/embeddings": "insufficient_credits",
    "/messages": "billing_error",
    "/responses": "insufficient_quota",
  };
});

describe("a cost", () => {
  test("the balance is reduced to the nanodollar, and the ledger names the generation", async () => {
    const key = await addAccountWithKey(gateway, { id: "user_exact" });
    await manage(gateway, "/accounts/user_exact/credits", { amount: "0.1", note: "welcome" });
    const answer = await chat(key);
    const generation = answer.headers.get("x-gateway-generation-id");
    const { usage } = (await answer.json()) as { usage: { cost: number } };
    expect(usage.cost).toBe(COST / 1e9);
    expect(await balanceOf(gateway, "user_exact")).toEqual({
      balance: 100_000_000 - COST,
      held: 0,
      available: 100_000_000 - COST,
      grants: [],
    });
    const { body } = await manage(gateway, "/accounts/user_exact/ledger");
    expect(body).toMatchObject({
      data: [
        { kind: "usage", amount_nanodollars: -COST, amount: -COST / 1e9, generation_id: generation },
        { kind: "grant", amount_nanodollars: 100_000_000, note: "welcome", generation_id: null },
      ],
      next: null,
    });
  });

  test("the price lines of the generation add up to the cost", async () => {
    const answer = await chat(gateway.key);
    const id = answer.headers.get("x-gateway-generation-id");
    const shown = await fetch(`${gateway.base}/generation?id=${id}`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    const { data } = (await shown.json()) as { data: Record<string, unknown> };
    expect(data["pricing"]).toEqual([
      { kind: "prompt", tokens: 10, price: "0.000001", cost_nanodollars: "10000" },
      { kind: "completion", tokens: 5, price: "0.00001", cost_nanodollars: "50000" },
    ]);
    expect(data["prices"]).toEqual({ prompt: "0.000001", completion: "0.00001" });
    expect(data["total_cost_nanodollars"]).toBe(COST);
  });
});

/** Sends 500 requests at once while the vendor delays its answers. Returns the number of requests by status. */
async function sendMany(send: () => Promise<Response>, covered: number): Promise<Record<number, number>> {
  vendor.perform(async (call) => {
    await call.gate();
    await call.respond(200, documentOf("Alpha"));
  });
  const statuses: Record<number, number> = {};
  const all = Array.from({ length: 500 }, async () => {
    const response = await send();
    await response.text();
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
  });
  await eventually("all others are refused", () => statuses[402] === 500 - covered);
  await eventually("those covered have reached the vendor", () => vendor.calls.length === covered);
  const holds = (await manage(gateway, "/holds")).body["data"] as unknown[];
  expect(holds).toHaveLength(covered);
  for (const call of vendor.calls) call.openGate();
  await Promise.all(all);
  return statuses;
}

describe("500 concurrent requests of which 10 are covered", () => {
  test("exactly 10 run if the balance covers 10, and the balance never falls below zero", async () => {
    const hold = await holdOfChat();
    const key = await addAccountWithKey(gateway, { id: "user_crowd" });
    await manage(gateway, "/accounts/user_crowd/credits", {
      amount: ((10 * hold + hold - 1) / 1e9).toFixed(9),
    });
    expect(await sendMany(() => chat(key), 10)).toEqual({ 200: 10, 402: 490 });
    const { balance, held } = await balanceOf(gateway, "user_crowd");
    expect([balance, held]).toEqual([11 * hold - 1 - 10 * COST, 0]);
  });

  test("exactly 10 run if the key's limit covers 10", async () => {
    const hold = await holdOfChat();
    const key = await addAccountWithKey(
      gateway,
      { id: "user_key", overdraft: null },
      { spendLimit: 10 * hold },
    );
    expect(await sendMany(() => chat(key), 10)).toEqual({ 200: 10, 402: 490 });
    const own = await fetch(`${gateway.base}/key`, { headers: { authorization: `Bearer ${key}` } });
    expect(await own.json()).toMatchObject({
      data: {
        limit: (10 * hold) / 1e9,
        limit_remaining: (10 * hold - 10 * COST) / 1e9,
        usage_nanodollars: 10 * COST,
      },
    });
  });

  test("exactly 10 run if the member's daily limit covers 10", async () => {
    const hold = await holdOfChat();
    const key = await addAccountWithKey(
      gateway,
      { id: "org_daily", kind: "organization", overdraft: null },
      { userId: "user_member" },
      { userId: "user_member", dailyLimit: 10 * hold },
    );
    expect(await sendMany(() => chat(key), 10)).toEqual({ 200: 10, 402: 490 });
  });

  test("exactly 10 run if the organization's monthly limit covers 10", async () => {
    const hold = await holdOfChat();
    const key = await addAccountWithKey(gateway, {
      id: "org_monthly",
      kind: "organization",
      overdraft: null,
      monthlyLimit: 10 * hold,
    });
    expect(await sendMany(() => chat(key), 10)).toEqual({ 200: 10, 402: 490 });
  });
});

describe("the hold of a request that has ended", () => {
  async function payer(): Promise<{ id: string; key: string }> {
    const id = `user_end${made}`;
    const key = await addAccountWithKey(gateway, { id });
    await manage(gateway, `/accounts/${id}/credits`, { amount: 1 });
    return { id, key };
  }

  const atRest = (id: string) =>
    eventually("its hold is gone", async () => {
      const now = await balanceOf(gateway, id);
      return now.held === 0 ? now.balance : null;
    });

  test.each([true, false])("the hold of a successful request is released, streamed: %p", async (stream) => {
    const { id, key } = await payer();
    await (await chat(key, { stream })).text();
    expect(await atRest(id)).toBe(1_000_000_000 - COST);
  });

  test("the hold of a failed request is released, and the request costs nothing", async () => {
    const { id, key } = await payer();
    vendor.perform((call) => call.respond(500, { error: { message: "broken" } }));
    expect((await chat(key)).status).toBe(502);
    expect(await atRest(id)).toBe(1_000_000_000);
  });

  test("the hold is released when the client leaves during the answer, and what was produced is charged", async () => {
    const { id, key } = await payer();
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha one"), textOf(" two three four"));
      await call.gate();
    });
    const leaving = new AbortController();
    const answer = await chat(key, { stream: true }, { signal: leaving.signal });
    await answer.body!.getReader().read();
    expect((await balanceOf(gateway, id)).held).toBeGreaterThan(0);
    leaving.abort();
    const balance = await atRest(id);
    expect(balance).toBeLessThan(1_000_000_000);
    expect(balance).toBeGreaterThan(1_000_000_000 - 10 * COST);
  });
});

test("holds are released and the ledger is consistent after a vendor that never answers and a shutdown during an answer", async () => {
  const own = startVendor();
  const timers = "timers: { first_token_ms: 50 }\nserver: { drain_ms: 50 }";
  const first = await startTestGateway({ yaml: yamlFor(own.baseUrl, timers) });
  const key = await addAccountWithKey(first, { id: "user_slow" });
  await manage(first, "/accounts/user_slow/credits", { amount: 1 });
  const send = (stream: boolean) =>
    fetch(`${first.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ ...CHAT, stream }),
    });
  own.perform((call) => call.gate());
  expect((await send(true)).status).toBe(503);
  expect(await balanceOf(first, "user_slow")).toMatchObject({ balance: 1_000_000_000, held: 0 });

  own.perform(async (call) => {
    await call.begin();
    await call.events(...opening("Alpha one"), textOf(" two three four"));
    await call.gate();
  });
  const interrupted = await send(true);
  const reader = interrupted.body!.getReader();
  await reader.read();
  await first.stop({ keepData: true });
  own.stop();
  const { dataDir } = first;
  const second = await startTestGateway({ yaml: yamlFor(own.baseUrl, timers), dataDir, key: first.key });
  const { balance, held } = await balanceOf(second, "user_slow");
  expect(held).toBe(0);
  expect(balance).toBeLessThan(1_000_000_000);
  expect(await findLedgerProblems(second)).toEqual([]);
  await second.stop();
});
