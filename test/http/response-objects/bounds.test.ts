import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { healthy, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const CHAIN_BYTES = 20_000;
const ACCOUNT_BYTES = 60_000;
/** What an object or a conversation counts besides its contents. */
const RECORD_BYTES = 1_024;

let vendor: Vendor;
let gateway: TestGateway;
beforeAll(async () => {
  vendor = startVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], zero_retention: true, models: [{id: acme/model, context_length: 128000, prices: {prompt: "0", completion: "0"}}]}
responses: {chain_bytes: ${CHAIN_BYTES}, account_bytes: ${ACCOUNT_BYTES}}`,
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

/** Calls with a key of an account of its own. */
async function openAccount(more: Readonly<Record<string, unknown>> = {}) {
  const tools = createAccountTools(gateway);
  const account = await tools.user("Ada", { overdraft: null, ...more });
  const key = await tools.key(account);
  vendor.perform(healthy("Alpha"));
  const call = async (path: string, body?: object, method = body === undefined ? "GET" : "POST") => {
    const response = await fetch(gateway.base + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text) };
  };
  return {
    call,
    respond: (body: object) => call("/responses", { model: "acme/model", ...body }),
    async usedBytes(): Promise<number> {
      const path = `/responses/usage?account_id=${account}`;
      return Number((await callAdmin(gateway, gateway.adminKey, "GET", path)).data["bytes"]);
    },
  };
}

test("nothing of a conversation is stored for a key whose policy demands zero data retention", async () => {
  const { call, usedBytes } = await openAccount({ policy: { zero_retention: true } });
  const items = [{ role: "user", content: "Secret" }];
  for (const path of ["/conversations", "/conversations/conv_1", "/conversations/conv_1/items"]) {
    const { status, body } = await call(path, { items, metadata: { topic: "secret" } });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining("zero data retention")]);
  }
  expect(await usedBytes()).toBe(0);
});

test("items are added to a conversation up to the bound of a chain", async () => {
  const { call } = await openAccount();
  const { id } = (await call("/conversations", {})).body;
  const add = () =>
    call(`/conversations/${id}/items`, { items: [{ role: "user", content: "a".repeat(12_000) }] });
  expect((await add()).status).toBe(200);
  const { status, body } = await add();
  expect([status, body.error.message]).toEqual([413, expect.stringContaining("responses.chain_bytes")]);
});

test("conversations without items count for their account, which can keep only so many", async () => {
  const { call, usedBytes } = await openAccount();
  const ids: string[] = [];
  const create = async () => {
    const { status, body } = await call("/conversations", { metadata: { topic: "t".repeat(500) } });
    if (status === 200) ids.push(body.id);
    return status;
  };
  while ((await create()) === 200 && ids.length < 100);
  expect(ids.length).toBe(
    Math.floor(ACCOUNT_BYTES / (RECORD_BYTES + `{"topic":"${"t".repeat(500)}"}`.length)),
  );
  expect(await create()).toBe(413);
  for (const id of ids) await call(`/conversations/${id}`, undefined, "DELETE");
  expect(await usedBytes()).toBe(0);
  expect(await create()).toBe(200);
});

test("everything that is stored of a response counts, also its instructions and tools", async () => {
  const { call, respond, usedBytes } = await openAccount();
  const tools = [{ type: "function", name: "t", description: "d".repeat(5_000), parameters: {} }];
  const { body } = await respond({ input: "Hi", instructions: "i".repeat(4_000), tools, store: true });
  expect(await usedBytes()).toBeGreaterThan(RECORD_BYTES + 9_000);
  const next = { input: "Hi", instructions: "i".repeat(9_000), store: true, previous_response_id: body.id };
  const calls = vendor.calls.length;
  expect([(await respond(next)).status, vendor.calls.length]).toEqual([413, calls]);
  await call(`/responses/${body.id}`, undefined, "DELETE");
  expect(await usedBytes()).toBe(0);
});

test("the events of a background response count", async () => {
  const { call, respond, usedBytes } = await openAccount();
  const { body } = await respond({ input: "Hi", background: true });
  await eventually(
    "the end of the response",
    async () => (await call(`/responses/${body.id}`)).body.status === "completed",
  );
  const kept = await respond({ input: "Hi", store: true });
  expect(kept.status).toBe(200);
  const { data } = await callAdmin(gateway, gateway.adminKey, "GET", `/responses/${kept.body.id}`);
  expect(await usedBytes()).toBeGreaterThan(2 * Number(data["bytes"]) + 1_000);
});

test("an input may not become larger than a chain by references to items", async () => {
  const { respond } = await openAccount();
  const item = { type: "message", id: "msg_long", role: "user", content: "a".repeat(8_000) };
  expect((await respond({ input: [item], store: true })).status).toBe(200);
  const refer = (times: number) =>
    respond({ input: Array.from({ length: times }, () => ({ type: "item_reference", id: "msg_long" })) });
  expect((await refer(2)).status).toBe(200);
  const calls = vendor.calls.length;
  const { status, body } = await refer(3);
  expect([status, body.error.param, vendor.calls.length]).toEqual([413, "input", calls]);
});

test("an item whose id is null gets one, by which it is found and deleted", async () => {
  const { call } = await openAccount();
  const items = [{ id: null, role: "user", content: "Grüße" }];
  const { id } = (await call("/conversations", { items })).body;
  const { data } = (await call(`/conversations/${id}/items`)).body;
  expect(data).toMatchObject([{ content: [{ type: "input_text", text: "Grüße" }] }]);
  expect(data[0].id).toMatch(/^msg_/);
  const path = `/conversations/${id}/items/${data[0].id}`;
  expect((await call(path)).body).toEqual(data[0]);
  expect((await call(path, undefined, "DELETE")).status).toBe(200);
  expect((await call(path)).status).toBe(404);
});
