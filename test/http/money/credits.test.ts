import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS } from "../../../src/base/time/time.ts";
import { createKey } from "../../../src/core/accounts/manage/manage-keys.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  addAccountWithKey,
  balanceOf,
  findLedgerProblems,
  manage,
  withStoresOf,
} from "../../support/money.ts";
import { createTestClock } from "../../support/test-clock.ts";

const SECRET = "a-webhook-secret-for-tests-0123456789";
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: `billing: { webhook_secret: ${SECRET} }\nsandbox: on` });
});
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
});

function chat(key: string): Promise<Response> {
  return fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: "sandbox/echo",
      max_tokens: 20,
      messages: [{ role: "user", content: "Hello!" }],
    }),
  });
}

/** Makes a generation that costs something, and returns its id and its cost in nanodollars. */
async function spend(key: string): Promise<{ id: string; cost: number }> {
  const answer = await chat(key);
  expect(answer.status).toBe(200);
  const { usage } = (await answer.json()) as { usage: { cost: number } };
  const cost = Math.round(usage.cost * 1e9);
  expect(cost).toBeGreaterThan(1);
  return { id: answer.headers.get("x-gateway-generation-id")!, cost };
}

describe("a grant", () => {
  test("is added at once and only once per id, and its id cannot be reused for another amount", async () => {
    await addAccountWithKey(gateway, { id: "user_grant" });
    const grant = { amount: "1.000000001", note: "hello", id: "promo-7" };
    const first = await manage(gateway, "/accounts/user_grant/credits", grant);
    expect(first).toMatchObject({
      status: 201,
      body: {
        data: { id: "grant:promo-7", kind: "grant", amount_nanodollars: 1_000_000_001, note: "hello" },
      },
    });
    expect(await manage(gateway, "/accounts/user_grant/credits", grant)).toEqual({ ...first, status: 200 });
    expect((await balanceOf(gateway, "user_grant")).balance).toBe(1_000_000_001);
    const other = await manage(gateway, "/accounts/user_grant/credits", { ...grant, amount: 2 });
    expect([other.status, JSON.stringify(other.body)]).toEqual([400, expect.stringContaining("1.000000001")]);
    const twice = [{ amount: 1 }, { amount: 1 }].map((body) =>
      manage(gateway, "/accounts/user_grant/credits", body),
    );
    for (const { status } of await Promise.all(twice)) expect(status).toBe(201);
    expect((await balanceOf(gateway, "user_grant")).balance).toBe(3_000_000_001);
  });

  test.each<[string, string, unknown, number, RegExp]>([
    ["to an unknown account", "user_none", { amount: 1 }, 404, /account/],
    ["of zero", "acct_default", { amount: 0 }, 400, /amount/],
    ["of a negative amount", "acct_default", { amount: -1 }, 400, /amount/],
    ["finer than a nanodollar", "acct_default", { amount: "0.0000000001" }, 400, /amount/],
    ["whose amount is not a number", "acct_default", { amount: "many" }, 400, /amount/],
    ["without an amount", "acct_default", { note: "x" }, 400, /amount/],
    [
      "whose expiry time has passed",
      "acct_default",
      { amount: 1, expires_at: "2020-01-01T00:00:00Z" },
      400,
      /expires_at/,
    ],
    ["with an unknown field", "acct_default", { amount: 1, amout: 2 }, 400, /amout/],
    ["with invalid characters in its id", "acct_default", { amount: 1, id: "a b" }, 400, /id/],
  ])("%s is rejected", async (_what, account, body, status, words) => {
    const answer = await manage(gateway, `/accounts/${account}/credits`, body);
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringMatching(words)]);
  });

  test("with an expiry time is spent first, is listed with its remaining amount, and expires at that time", async () => {
    const time = { now: Date.parse("2030-01-01T00:00:00Z") };
    const timers: (() => void)[] = [];
    const tick = () => {
      for (const timer of timers) timer();
    };
    const never = { cancel: () => {} };
    const clock = {
      now: () => time.now,
      precise: () => time.now,
      after: () => never,
      every: (_ms: number, callback: () => void) => {
        timers.push(callback);
        return never;
      },
    };
    const own = await startTestGateway({ clock, yaml: "sandbox: on" });
    const key = await addAccountWithKey(own, { id: "user_ends" });
    const give = (body: unknown) => manage(own, "/accounts/user_ends/credits", body);
    const endMs = Date.parse("2030-01-02T00:00:00Z");
    await addAccountWithKey(own, { id: "user_marker" });
    for (const at of [endMs - 1, endMs + 1, endMs + 2])
      await manage(own, "/accounts/user_marker/credits", {
        amount: 1,
        expires_at: new Date(at).toISOString(),
      });
    /** Sets the time and waits for a sweep, which is done when the marker grant of that time has expired. */
    const sweepAt = async (at: number) => {
      const { balance } = await balanceOf(own, "user_marker");
      time.now = at;
      await eventually("the expiry of a marker grant", async () => {
        tick();
        return (await balanceOf(own, "user_marker")).balance < balance;
      });
    };
    await give({ amount: 2, id: "stays" });
    await give({ amount: 1, id: "later", expires_at: "2030-02-01T00:00:00Z" });
    await give({ amount: 1, id: "soon", expires_at: "2030-01-02T00:00:00Z" });
    const answer = await fetch(`${own.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }] }),
    });
    const { usage } = (await answer.json()) as { usage: { cost: number } };
    const cost = Math.round(usage.cost * 1e9);
    expect(await balanceOf(own, "user_ends")).toMatchObject({
      balance: 4_000_000_000 - cost,
      grants: [
        { id: "grant:soon", left_nanodollars: 1_000_000_000 - cost },
        { id: "grant:later", left_nanodollars: 1_000_000_000 },
      ],
    });

    await sweepAt(endMs - 1);
    expect((await balanceOf(own, "user_ends")).balance).toBe(4_000_000_000 - cost);
    time.now = endMs;
    await eventually("the expiry of the grant", async () => {
      tick();
      return (await balanceOf(own, "user_ends")).balance === 3_000_000_000;
    });
    for (const at of [endMs + 1, endMs + 2]) {
      await sweepAt(at);
      expect(await balanceOf(own, "user_ends")).toMatchObject({
        balance: 3_000_000_000,
        held: 0,
        grants: [{ id: "grant:later", left_nanodollars: 1_000_000_000 }],
      });
    }
    const { body } = await manage(own, "/accounts/user_ends/ledger?kind=expiry");
    expect(body).toMatchObject({
      data: [{ id: "expiry:grant:soon", amount_nanodollars: -(1_000_000_000 - cost) }],
      next: null,
    });
    // The hold of the last expiry is released after its balance has changed.
    await eventually("the end of the sweep", async () => (await findLedgerProblems(own)).length === 0);
    await own.stop();
  });
});

describe("a refund", () => {
  test("returns at most the cost of the generation, in one or several parts, and each part once", async () => {
    const key = await addAccountWithKey(gateway, { id: "user_refund" });
    await manage(gateway, "/accounts/user_refund/credits", { amount: 1 });
    const { id, cost } = await spend(key);
    const refund = (body: unknown) => manage(gateway, `/generations/${id}/refund`, body);
    const part = { amount: "0.000000001", id: "one", note: "sorry" };
    expect((await refund(part)).status).toBe(201);
    expect((await refund(part)).status).toBe(200);
    expect((await refund({ ...part, amount: "0.000000002" })).status).toBe(400);
    const tooMuch = await refund({ amount: (cost / 1e9).toFixed(9), id: "two" });
    expect([tooMuch.status, JSON.stringify(tooMuch.body)]).toEqual([400, expect.stringContaining("amount")]);
    const rest = await refund({});
    expect(rest).toMatchObject({
      status: 201,
      body: {
        data: { kind: "refund", generation_id: id, amount_nanodollars: cost - 1, account_id: "user_refund" },
      },
    });
    expect((await refund({})).status).toBe(200);
    expect((await refund({ id: "three" })).status).toBe(400);
    expect((await balanceOf(gateway, "user_refund")).balance).toBe(1_000_000_000);
  });

  test("requested many times concurrently is made once", async () => {
    const key = await addAccountWithKey(gateway, { id: "user_refunds" });
    await manage(gateway, "/accounts/user_refunds/credits", { amount: 1 });
    const { id } = await spend(key);
    const all = Array.from({ length: 20 }, (_, i) =>
      manage(gateway, `/generations/${id}/refund`, { id: `r${i}` }),
    );
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect((await balanceOf(gateway, "user_refunds")).balance).toBe(1_000_000_000);
  });

  test.each(["gen_none", "grant:promo-7"])(
    "of an id that is not a charged generation is rejected with 404: %s",
    async (id) => {
      expect((await manage(gateway, `/generations/${id}/refund`, {})).status).toBe(404);
    },
  );
});

test("a correction needs a note and raises or lowers a balance, even below zero", async () => {
  await addAccountWithKey(gateway, { id: "user_correct" });
  const correct = (body: unknown) => manage(gateway, "/accounts/user_correct/corrections", body);
  expect((await correct({ amount: "-0.5" })).status).toBe(400);
  expect((await correct({ amount: 0, note: "x" })).status).toBe(400);
  expect(await correct({ amount: "-0.5", note: "x", id: "c1" })).toMatchObject({
    status: 201,
    body: { data: { amount_nanodollars: -500_000_000 } },
  });
  expect((await correct({ amount: "-0.5", note: "x", id: "c1" })).status).toBe(200);
  await correct({ amount: 2, note: "y" });
  expect((await balanceOf(gateway, "user_correct")).balance).toBe(1_500_000_000);
});

describe("a payment", () => {
  const PAYMENT = { id: "pay_1", account_id: "user_pays", amount: "25.00", currency: "usd" };

  function sign(body: string, { secret = SECRET, time = Math.floor(Date.now() / 1000) } = {}): string {
    return `t=${time},v1=${new Bun.CryptoHasher("sha256", secret).update(`${time}.${body}`).digest("hex")}`;
  }

  async function pay(body: unknown, signature?: string | null, to = gateway) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const header = signature === undefined ? sign(text) : signature;
    const response = await fetch(`${to.url}/api/payments/webhook`, {
      method: "POST",
      headers: header === null ? {} : { "x-gateway-signature": header },
      body: text,
    });
    return { status: response.status, text: await response.text() };
  }

  beforeAll(async () => {
    await addAccountWithKey(gateway, { id: "user_pays" });
  });

  test("is credited once, however often its webhook is delivered", async () => {
    const all = Array.from({ length: 10 }, () => pay(PAYMENT));
    const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(9).fill(200), 201]);
    expect((await balanceOf(gateway, "user_pays")).balance).toBe(25_000_000_000);
    expect((await pay({ ...PAYMENT, amount: 26 })).status).toBe(400);
  });

  test("is accepted if one of several signatures is valid", async () => {
    const text = JSON.stringify({ ...PAYMENT, id: "pay_2" });
    const [time, right] = sign(text).split(",");
    expect((await pay(text, `${time},v1=${"0".repeat(64)},v0=x,${right}`)).status).toBe(201);
  });

  const text = JSON.stringify({ ...PAYMENT, id: "pay_forged" });
  test.each<[string, () => string | null]>([
    ["without a signature", () => null],
    ["with an empty signature", () => ""],
    ["whose signature has no timestamp", () => sign(text).split(",")[1]!],
    ["signed with another secret", () => sign(text, { secret: "x".repeat(32) })],
    ["whose signature is for another body", () => sign(`${text} `)],
    [
      "whose signature is for another timestamp",
      () => sign(text).replace(/t=(\d+)/, (_, time) => `t=${Number(time) + 1}`),
    ],
    ["signed more than five minutes ago", () => sign(text, { time: Math.floor(Date.now() / 1000) - 310 })],
    [
      "signed with a timestamp in the future",
      () => sign(text, { time: Math.floor(Date.now() / 1000) + 310 }),
    ],
    ["with a truncated signature", () => sign(text).slice(0, -2)],
  ])("%s is rejected with 401", async (_what, signature) => {
    expect((await pay(text, signature())).status).toBe(401);
  });

  test.each<[string, unknown, number]>([
    ["for an unknown account", { ...PAYMENT, id: "p", account_id: "user_none" }, 404],
    ["in euros", { ...PAYMENT, id: "p", currency: "eur" }, 400],
    ["of zero", { ...PAYMENT, id: "p", amount: 0 }, 400],
    ["without an id", { ...PAYMENT, id: undefined }, 400],
    ["with an unknown field", { ...PAYMENT, id: "p", tax: 1 }, 400],
    ["that is not valid JSON", "{", 400],
  ])("%s is rejected although its signature is valid", async (_what, body, status) => {
    expect((await pay(body)).status).toBe(status);
  });

  test("is answered with 404 if no webhook secret is configured", async () => {
    const without = await startTestGateway();
    expect((await pay(PAYMENT, undefined, without)).status).toBe(404);
    await without.stop();
  });

  test("is accepted from the example script in docs/payments.md", async () => {
    await addAccountWithKey(gateway, { id: "user_docs" });
    const page = readFileSync(join(import.meta.dir, "../../../docs/payments.md"), "utf8");
    const script = /```sh\n([\s\S]*?)```/.exec(page)![1]!;
    const shell = Bun.spawn(["bash", "-eu", "-c", script], {
      env: {
        PATH: process.env["PATH"] ?? "",
        GATEWAY_URL: gateway.url,
        GATEWAY_WEBHOOK_SECRET: SECRET,
        ACCOUNT_ID: "user_docs",
      },
      stdout: "pipe",
    });
    expect(await new Response(shell.stdout).json()).toMatchObject({ data: { kind: "purchase", amount: 25 } });
    expect((await balanceOf(gateway, "user_docs")).balance).toBe(25_000_000_000);
  });
});

test("the ledger is listed in pages, newest first, and can be filtered by kind", async () => {
  const key = await addAccountWithKey(gateway, { id: "user_pages" });
  for (let i = 1; i <= 5; i++) await manage(gateway, "/accounts/user_pages/credits", { amount: i });
  await spend(key);
  const read = async (query: string) => {
    const { body } = await manage(gateway, `/accounts/user_pages/ledger${query}`);
    const data = body["data"] as { kind: string; amount: number }[];
    return { data, next: body["next"] as string | null };
  };
  const first = await read("?limit=3");
  expect(first.data.map(({ kind }) => kind)).toEqual(["usage", "grant", "grant"]);
  const second = await read(`?limit=3&after=${first.next}`);
  expect(second.data.map(({ amount }) => amount)).toEqual([3, 2, 1]);
  expect(second.next).toBeNull();
  expect((await read("?kind=usage")).data).toHaveLength(1);
  expect((await read("?kind=grant&limit=2")).data.map(({ amount }) => amount)).toEqual([5, 4]);
  expect((await read("?kind=refund")).data).toEqual([]);
  for (const query of ["limit=0", "limit=101", "limit=x", "kind=gift", "after=x", "page=2"])
    expect((await manage(gateway, `/accounts/user_pages/ledger?${query}`)).status).toBe(400);
});

describe("the ledger of some days", () => {
  const FIRST = Date.UTC(2026, 0, 1);
  const amountsOf = async (of: TestGateway, query: string) => {
    const { body } = await manage(of, `/accounts/user_days/ledger?${query}`);
    return (body["data"] as { amount: number }[]).map(({ amount }) => amount);
  };

  test("has the transfers of these days only, page by page, whatever other accounts do", async () => {
    const clock = createTestClock(FIRST);
    const own = await startTestGateway({ clock });
    try {
      for (const id of ["user_days", "user_others"]) await addAccountWithKey(own, { id });
      for (let day = 1; day <= 5; day++) {
        for (const amount of [day, day + 10]) await manage(own, "/accounts/user_days/credits", { amount });
        await manage(own, "/accounts/user_others/credits", { amount: 100 });
        clock.leap(DAY_MS);
      }
      expect(await amountsOf(own, "from=2026-01-02&to=2026-01-03")).toEqual([13, 3, 12, 2]);
      expect(await amountsOf(own, "to=2026-01-01")).toEqual([11, 1]);
      expect(await amountsOf(own, "from=2026-01-05")).toEqual([15, 5]);
      expect(await amountsOf(own, "from=2026-01-02&to=2026-01-02&kind=usage")).toEqual([]);
      for (const none of ["from=2026-02-01", "to=2025-12-31"]) expect(await amountsOf(own, none)).toEqual([]);
      const first = await manage(own, "/accounts/user_days/ledger?from=2026-01-02&to=2026-01-03&limit=3");
      const rest = `from=2026-01-02&to=2026-01-03&limit=3&after=${first.body["next"]}`;
      expect(await amountsOf(own, rest)).toEqual([2]);
      expect((await manage(own, `/accounts/user_days/ledger?${rest}`)).body["next"]).toBeNull();
    } finally {
      await own.stop();
    }
  });

  test.each(["from=2026-01-03&to=2026-01-02", "from=yesterday", "to=2026-02-30"])(
    "is rejected with the invalid query '%s'",
    async (query) => {
      await addAccountWithKey(gateway, { id: `user_${query.length}` });
      const { status } = await manage(gateway, `/accounts/user_${query.length}/ledger?${query}`);
      expect(status).toBe(400);
    },
  );
});

describe("the usage report", () => {
  const usage = (query: string, headers: Record<string, string> = {}, key = gateway.adminKey) =>
    fetch(`${gateway.url}/api/admin/usage${query}`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
    });

  test.each(["hour", "day", "model", "provider", "key", "user", "account", "outcome"])(
    "by %s adds up to the charges",
    async (group) => {
      const key = await addAccountWithKey(gateway, { id: `user_by${group}` });
      await manage(gateway, `/accounts/user_by${group}/credits`, { amount: 1 });
      const { cost } = await spend(key);
      const { data } = (await (await usage(`?group_by=${group}&account_id=user_by${group}`)).json()) as {
        data: Record<string, unknown>[];
      };
      expect(data).toEqual([
        expect.objectContaining({
          requests: 1,
          errors: 0,
          cost_nanodollars: cost,
          tokens_prompt: expect.any(Number),
        }),
      ]);
      expect(data[0]).toHaveProperty(group);
    },
  );

  test("is CSV if requested by query parameter or by the accept header", async () => {
    for (const answer of [await usage("?format=csv"), await usage("", { accept: "text/csv" })]) {
      expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
      const [heading, row] = (await answer.text()).split("\r\n");
      expect(heading).toStartWith("day,requests,errors,tokens_prompt");
      expect(row).toMatch(/^\d{4}-\d\d-\d\d,\d+,/);
    }
  });

  test("of an account is visible to its ownKey management key only, and not to its inference keys", async () => {
    const inference = await addAccountWithKey(gateway, { id: "user_sees" });
    await manage(gateway, "/accounts/user_sees/credits", { amount: 1 });
    await spend(inference);
    const ownKey = await withStoresOf(gateway, async (stores) => {
      const wanted = {
        name: "m",
        kind: "management",
        expiresAt: null,
        accountId: "user_sees",
        userId: "user_sees",
      } as const;
      return (await createKey(stores, wanted)).secret;
    });
    const { data } = (await (await usage("?group_by=account", {}, ownKey)).json()) as {
      data: { account: string }[];
    };
    expect(data.map(({ account }) => account)).toEqual(["user_sees"]);
    expect((await usage("?account_id=user_pays", {}, ownKey)).status).toBe(404);
    expect((await usage("", {}, inference)).status).toBe(403);
    const get = async (path: string) =>
      (await fetch(`${gateway.url}/api/admin${path}`, { headers: { authorization: `Bearer ${ownKey}` } }))
        .status;
    expect(await get("/accounts/user_sees/balance")).toBe(200);
    expect(await get("/accounts/user_pays/balance")).toBe(404);
    expect(await get("/accounts/user_pays/ledger")).toBe(404);
    for (const path of ["/holds", "/ledger/check"]) expect(await get(path)).toBe(403);
  });

  test.each([
    "from=2026-01-02&to=2026-01-01",
    "from=2020-01-01&to=2026-01-01",
    "from=yesterday",
    "from=2026-01-01T10:30:00Z",
    "from=2026-01-01T10:00:00",
    "from=2026-01-01T10:00:00Z&to=2026-01-01T10:00:00Z",
    "group_by=day,day",
    "group_by=hour,model,provider,key",
    "group_by=day,",
    "group_by=mood",
    "format=xml",
    "days=3",
  ])("with the invalid query '%s' is rejected", async (query) => {
    expect((await usage(`?${query}`)).status).toBe(400);
  });
});

describe("the endpoints that describe the calling key", () => {
  test.each(["/api/gateway", "/api/gateway/v1", "/api/v1", "/v1"])(
    "include key, credits and activity below %s",
    async (prefix) => {
      const id = `user_self${prefix.length}`;
      const key = await addAccountWithKey(gateway, { id, name: "Ada" });
      await manage(gateway, `/accounts/${id}/credits`, { amount: 3 });
      const { id: generation, cost } = await spend(key);
      await manage(gateway, `/generations/${generation}/refund`, { amount: "0.000000001" });
      const ask = async (path: string) => {
        const response = await fetch(`${gateway.url}${prefix}${path}`, {
          headers: { authorization: `Bearer ${key}` },
        });
        return ((await response.json()) as { data: unknown }).data;
      };
      expect(await ask("/key")).toMatchObject({
        name: "k",
        limit: null,
        usage_nanodollars: cost,
        account: { id, kind: "user", name: "Ada" },
      });
      const used = (cost - 1) / 1e9;
      expect(await ask("/credits")).toEqual({
        balance: (3_000_000_000 - cost + 1) / 1e9,
        balance_nanodollars: 3_000_000_000 - cost + 1,
        held: 0,
        total_granted: 3,
        total_purchased: 0,
        total_used: used,
        total_credits: 3,
        total_usage: used,
      });
      expect(await ask("/activity")).toEqual([
        expect.objectContaining({
          date: new Date().toISOString().slice(0, 10),
          requests: 1,
          cost_nanodollars: cost,
        }),
      ]);
    },
  );

  test.each(["/key", "/credits", "/activity"])(
    "reject a request without an inference key: %s",
    async (path) => {
      expect((await fetch(gateway.base + path)).status).toBe(401);
      const asOperator = { headers: { authorization: `Bearer ${gateway.adminKey}` } };
      expect((await fetch(gateway.base + path, asOperator)).status).toBe(403);
    },
  );
});
