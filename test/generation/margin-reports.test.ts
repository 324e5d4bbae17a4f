import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, manage } from "../support/money.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";

const ACCOUNT = "user_margin";

let vendor: RecordingVendor;
let gateway: TestGateway;
let rules: string;
/** A management key of the account. */
let ownKey: string;
/** The records of all requests, as the operator sees them. */
let records: Record<string, unknown>[];

const yaml = () => `
limits: { attempts: 1 }
pricing: { rules: ${rules} }
providers:
  mine: { base_url: "${vendor.baseUrl}", api_keys: [k], models: [{ id: mine/chat, context_length: 200000, prices: {prompt: "0.000001", completion: "0.00001"} }] }
  openai: { base_url: "${vendor.baseUrl}", api_keys: [k] }
`;

/** Sends a request with the tag of its rules, and returns the id of its generation. */
async function ask(key: string, model: string, tag: string): Promise<string> {
  const response = await fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-gateway-tags": tag },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] }),
  });
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get("x-gateway-generation-id") ?? "";
}

beforeAll(async () => {
  vendor = startRecordingVendor();
  rules = "[{ markup_percent: 12.5 }]";
  gateway = await startTestGateway({ yaml: yaml(), readYaml: yaml });
  const key = await addAccountWithKey(gateway, { id: ACCOUNT, overdraft: 10_000_000_000 });
  const made = await manage(gateway, "/keys", { name: "reports", kind: "management", account_id: ACCOUNT });
  ownKey = made.body["key"] as string;
  const ids = [await ask(key, "mine/chat", "before"), await ask(key, "mine/chat", "before")];
  rules = "[{ markup_percent: -40, byok_fee_percent: 1.5 }]";
  expect((await manage(gateway, "/settings/reload", {})).status).toBe(200);
  ids.push(await ask(key, "mine/chat", "after"));
  await manage(gateway, `/accounts/${ACCOUNT}/provider-keys`, {
    provider: "openai",
    key: "own-openai-0123456789",
  });
  ids.push(await ask(key, "openai/gpt-4o", "after"));
  records = await Promise.all(
    ids.map(
      async (id) => (await manage(gateway, `/generations/${id}`)).body["data"] as Record<string, unknown>,
    ),
  );
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

async function report(query: string, key = gateway.adminKey): Promise<Response> {
  return fetch(`${gateway.url}/api/admin/usage?account_id=${ACCOUNT}&${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
}

async function readLines(query: string, key?: string) {
  return ((await (await report(query, key)).json()) as { data: Record<string, unknown>[] }).data;
}

const sumOf = (rows: readonly Record<string, unknown>[], field: string) =>
  rows.reduce((sum, row) => sum + Number(row[field]), 0);

describe("the margin in usage reports", () => {
  test("is the sum over the records, also of a day on which rules changed, and with own provider keys", async () => {
    expect(records.map((record) => record["is_byok"])).toEqual([false, false, false, true]);
    const margin = sumOf(records, "margin_nanodollars");
    for (const groups of ["day", "hour", "model", "provider,outcome", "key", "tag"]) {
      const lines = await readLines(`group_by=${groups}`);
      expect(sumOf(lines, "margin_nanodollars")).toBe(margin);
      expect(sumOf(lines, "cost_nanodollars")).toBe(sumOf(records, "total_cost_nanodollars"));
      const list = sumOf(lines, "upstream_cost_nanodollars");
      expect(list).toBe(Math.round(sumOf(records, "upstream_inference_cost") * 1e9));
      for (const line of lines)
        expect(line["margin_nanodollars"]).toBe(
          Number(line["cost_nanodollars"]) - Number(line["provider_cost_nanodollars"]),
        );
    }
  });

  test("is apart by the tags of requests", async () => {
    const lines = await readLines("group_by=tag");
    const margins = Object.fromEntries(lines.map(({ tag, margin_nanodollars }) => [tag, margin_nanodollars]));
    expect(margins).toEqual({
      before: sumOf(records.slice(0, 2), "margin_nanodollars"),
      after: sumOf(records.slice(2), "margin_nanodollars"),
    });
    expect(margins["before"]).toBeGreaterThan(0);
    expect(margins["after"]).toBeLessThan(0);
  });

  test("does not count what a provider bills to the account itself", async () => {
    const [line] = await readLines("group_by=provider&provider=openai");
    expect(line).toMatchObject({ provider_cost: 0, margin_nanodollars: line?.["cost_nanodollars"] });
    expect(line?.["upstream_cost"]).toBeGreaterThan(0);
  });

  test("is shown to the operator only, and so is what providers bill", async () => {
    for (const line of await readLines("group_by=model", ownKey))
      expect(line).toMatchObject({
        provider_cost: null,
        provider_cost_nanodollars: null,
        margin: null,
        margin_nanodollars: null,
        upstream_cost: line["cost"],
      });
    const headOf = async (key?: string) =>
      (await (await report("group_by=day&format=csv", key)).text()).split("\r\n")[0] ?? "";
    expect(await headOf(ownKey)).not.toMatch(/margin|provider_cost/);
    expect(await headOf()).toBe(`${await headOf(ownKey)},provider_cost,margin`);
  });
});
