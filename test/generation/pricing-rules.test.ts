import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../support/money.ts";
import {
  answerHello,
  type RecordingVendor,
  startRecordingVendor,
} from "../support/vendors/recording-vendor.ts";

const MODEL = "mine/chat";
const MUCH = 10_000_000_000;
const PRICES = `{prompt: "0.000001", completion: "0.00001"}`;
/** What `answerHello` costs at list price: 3 tokens of the prompt and 2 of the answer. Nanodollars. */
const LIST = 3 * 1_000 + 2 * 10_000;

let vendor: RecordingVendor;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: `
limits: { attempts: 1 }
pricing:
  rules:
    - { until: "2020-01-31", markup_percent: 900 }
    - { from: "2900-01-01", markup_percent: 800 }
    - { accounts: [user_own], models: ["mine/*"], prices: { prompt: "0.000004", completion: "0.00005" } }
    - { plans: [pro], providers: [elsewhere], markup_percent: 700 }
    - { plans: [pro], markup_percent: 12.5, byok_fee_percent: "1.5" }
    - { plans: [partner], markup_percent: "-40" }
providers:
  mine: { base_url: "${vendor.baseUrl}", api_keys: [k], models: [{ id: ${MODEL}, context_length: 200000, prices: ${PRICES} }, { id: "${MODEL}:free", context_length: 200000, prices: ${PRICES} }] }
  openai: { base_url: "${vendor.baseUrl}", api_keys: [k] }
`,
  });
});
beforeEach(() => vendor.reset());
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  await vendor.stop();
});

interface Costs {
  readonly status: number;
  /** The `usage` of the answer. */
  readonly usage: {
    readonly cost: number;
    readonly cost_details: { readonly upstream_inference_cost: number };
  };
  /** `GET generation` for the caller, and the same for the operator. */
  readonly seen: Record<string, unknown>;
  readonly managed: Record<string, unknown>;
}

async function ask(key: string, body: Record<string, unknown> = {}): Promise<Costs> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const messages = [{ role: "user", content: "Hello!" }];
  const response = await fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: MODEL, messages, usage: { include: true }, ...body }),
  });
  const { usage } = (await response.json()) as Costs;
  const id = response.headers.get("x-gateway-generation-id");
  const found = await fetch(`${gateway.base}/generation?id=${id}`, { headers });
  const seen = ((await found.json()) as { data: Record<string, unknown> }).data;
  const { body: managed } = await manage(gateway, `/generations/${id}`);
  return { status: response.status, usage, seen, managed: managed["data"] as Record<string, unknown> };
}

/** Creates an account with much money. Its plan and the rest of `fields` are as given. */
async function keyOf(id: string, fields: Record<string, unknown> = {}): Promise<string> {
  return addAccountWithKey(gateway, { id, overdraft: MUCH, ...fields });
}

describe("a mark-up", () => {
  test("is charged on top of the list price, and only the operator sees it apart", async () => {
    const { usage, seen, managed } = await ask(await keyOf("user_marked", { plan: "pro" }));
    const paid = LIST * 1.125;
    expect(usage).toMatchObject({ cost: paid / 1e9, cost_details: { upstream_inference_cost: paid / 1e9 } });
    expect(seen).toMatchObject({
      total_cost_nanodollars: paid,
      upstream_inference_cost: paid / 1e9,
      prices: { prompt: "0.000001125", completion: "0.00001125" },
      list_prices: null,
      margin_nanodollars: null,
    });
    expect(managed).toMatchObject({
      total_cost_nanodollars: paid,
      upstream_inference_cost: LIST / 1e9,
      list_prices: { prompt: "0.000001", completion: "0.00001" },
      margin_nanodollars: paid - LIST,
    });
    expect(await balanceOf(gateway, "user_marked")).toMatchObject({ balance: -paid, held: 0 });
  });

  test("has price lines that sum to what is charged", async () => {
    const { seen } = await ask(await keyOf("user_lines", { plan: "pro" }));
    const lines = seen["pricing"] as { cost_nanodollars: string }[];
    const sum = lines.reduce((all, { cost_nanodollars }) => all + Number(cost_nanodollars), 0);
    expect(sum).toBe(seen["total_cost_nanodollars"] as number);
  });

  test("counts in the hold, so that no more is charged than was held", async () => {
    const required = async (id: string, plan: string | null) => {
      const key = await addAccountWithKey(gateway, { id, plan });
      const response = await fetch(`${gateway.base}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: MODEL, max_tokens: 100, messages: [{ role: "user", content: "Hi" }] }),
      });
      expect(response.status).toBe(402);
      const { error } = (await response.json()) as { error: { metadata: { required: number } } };
      return Math.round(error.metadata.required * 1e9);
    };
    expect(await required("user_poor_pro", "pro")).toBe((await required("user_poor", null)) * 1.125);
  });

  test("can be a discount", async () => {
    const { managed } = await ask(await keyOf("user_partner", { plan: "partner" }));
    expect(managed).toMatchObject({ total_cost_nanodollars: LIST * 0.6, margin_nanodollars: LIST * -0.4 });
  });

  test("does not apply to other plans, to free models, and on other days", async () => {
    const plain = await ask(await keyOf("user_plain"));
    expect(plain.managed).toMatchObject({ total_cost_nanodollars: LIST, margin_nanodollars: 0 });
    const free = await ask(await keyOf("user_free", { plan: "pro" }), { model: `${MODEL}:free` });
    expect(free.managed).toMatchObject({ total_cost_nanodollars: 0 });
  });

  test("is part of the price that max_price of a request bounds", async () => {
    const provider = { max_price: { prompt: 1.1, completion: 11 } };
    expect((await ask(await keyOf("user_bound"), { provider })).status).toBe(200);
    expect((await ask(await keyOf("user_bound_pro", { plan: "pro" }), { provider })).status).not.toBe(200);
  });
});

test("Own prices replace those of the provider for the accounts of their rule.", async () => {
  const { managed } = await ask(await keyOf("user_own", { plan: "pro" }));
  const paid = 3 * 4_000 + 2 * 50_000;
  expect(managed).toMatchObject({
    total_cost_nanodollars: paid,
    upstream_inference_cost: LIST / 1e9,
    margin_nanodollars: paid - LIST,
  });
});

test("Usage reports show list prices to the operator, and to the account what it has paid.", async () => {
  const id = "user_report";
  await ask(await keyOf(id, { plan: "pro" }));
  const made = await manage(gateway, "/keys", { name: "reports", kind: "management", account_id: id });
  const own = made.body["key"] as string;
  const reportFor = async (key: string) => {
    const response = await fetch(`${gateway.url}/api/admin/usage?group_by=model&account_id=${id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return ((await response.json()) as { data: Record<string, unknown>[] }).data[0];
  };
  const paid = LIST * 1.125;
  expect(await reportFor(gateway.adminKey)).toMatchObject({
    cost_nanodollars: paid,
    upstream_cost_nanodollars: LIST,
    provider_cost_nanodollars: LIST,
    margin_nanodollars: paid - LIST,
  });
  expect(await reportFor(own)).toMatchObject({ cost_nanodollars: paid, upstream_cost_nanodollars: paid });
});

test("A model list with a key has the prices that its account pays.", async () => {
  const priceOf = async (key: string) => {
    const response = await fetch(`${gateway.base}/models`, { headers: { authorization: `Bearer ${key}` } });
    const { data } = (await response.json()) as { data: { id: string; pricing: { prompt: string } }[] };
    return data.find(({ id }) => id === MODEL)?.pricing.prompt;
  };
  expect(await priceOf(await keyOf("user_list_pro", { plan: "pro" }))).toBe("0.000001125");
  expect(await priceOf(await keyOf("user_list"))).toBe("0.000001");
});

describe("a fee for BYOK keys", () => {
  async function withByok(id: string, fields: Record<string, unknown>): Promise<string> {
    const key = await addAccountWithKey(gateway, { id, ...fields });
    const added = await manage(gateway, `/accounts/${id}/provider-keys`, {
      provider: "openai",
      key: "own-openai-0123456789",
    });
    expect(added.status).toBe(201);
    return key;
  }

  test("is charged as a share of what the provider bills", async () => {
    vendor.reset(answerHello);
    const key = await withByok("user_fee", { plan: "pro", overdraft: MUCH });
    const { usage, managed, seen } = await ask(key, { model: "openai/gpt-4o" });
    const list = Math.round((seen["upstream_inference_cost"] as number) * 1e9);
    const fee = Math.round(list * 0.015);
    expect(fee).toBeGreaterThan(0);
    expect(managed).toMatchObject({ is_byok: true, total_cost_nanodollars: fee, margin_nanodollars: fee });
    expect(usage.cost).toBe(fee / 1e9);
  });

  test("needs money, without which the request is rejected with 402", async () => {
    const key = await withByok("user_fee_poor", { plan: "pro" });
    expect((await askStatus(key)).status).toBe(402);
    const free = await withByok("user_no_fee", {});
    expect((await askStatus(free)).status).toBe(200);
  });

  function askStatus(key: string): Promise<Response> {
    return fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "openai/gpt-4o", messages: [{ role: "user", content: "Hi" }] }),
    });
  }
});

function setPlan(id: string, plan: unknown, secret = gateway.adminKey): Promise<Response> {
  return fetch(`${gateway.url}/api/admin/users/${id}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ plan }),
  });
}

test("The operator sets an account's plan, which applies to its next request.", async () => {
  const key = await keyOf("user_moves");
  expect((await ask(key)).managed).toMatchObject({ total_cost_nanodollars: LIST });
  const changed = await setPlan("user_moves", "pro");
  expect(changed.status).toBe(200);
  expect(await changed.json()).toMatchObject({ data: { plan: "pro" } });
  expect((await ask(key)).managed).toMatchObject({ total_cost_nanodollars: LIST * 1.125 });
});

test("A user cannot set the own plan.", async () => {
  const secret = await addAccountWithKey(
    gateway,
    { id: "user_sly" },
    { kind: "management", userId: "user_sly" },
  );
  expect((await setPlan("user_sly", "partner", secret)).status).toBe(403);
});

test("A plan's name that no rule can have is rejected with the field's name.", async () => {
  await keyOf("user_misspelt");
  const response = await setPlan("user_misspelt", "Pro Plan");
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("plan");
});
