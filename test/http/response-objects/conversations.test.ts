import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Stores } from "../../../src/app/stores/stores.ts";
import { DAY_MS } from "../../../src/base/time/time.ts";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { chunkOf, healthy, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;
let stores: Stores;
let account: string;
let key: string;
beforeAll(async () => {
  vendor = startVendor(healthy("Alpha"));
  gateway = await startTestGateway({
    yaml: `
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}]}`,
  });
  stores = await openTestStores(gateway.dataDir);
  const tools = createAccountTools(gateway);
  account = await tools.user("Ada", { overdraft: null });
  key = await tools.key(account);
});
afterAll(async () => {
  await stores.close();
  await gateway.stop();
  vendor.stop();
});

async function call(path: string, body?: object, method = body === undefined ? "GET" : "POST") {
  const response = await fetch(gateway.base + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text) };
}

const respond = (body: object) => call("/responses", { model: "acme/model", ...body });
const userItem = (content: string, id?: string) => ({
  role: "user",
  content,
  ...(id === undefined ? {} : { id }),
});
const listItems = async (id: string) => (await call(`/conversations/${id}/items?order=asc`)).body.data;

async function usedBytes(): Promise<number> {
  const { data } = await callAdmin(
    gateway,
    gateway.adminKey,
    "GET",
    `/responses/usage?account_id=${account}`,
  );
  return Number(data["bytes"]);
}

async function whenEnded(id: string): Promise<string> {
  return eventually("the end of the response", async () => {
    const { status } = (await call(`/responses/${id}`)).body;
    return status === "in_progress" ? null : status;
  });
}

test("items that are deleted at the same time are all gone", async () => {
  const items = Array.from({ length: 6 }, (_, n) => userItem(`text ${n}`));
  const { id } = (await call("/conversations", { items })).body;
  const ids = (await listItems(id)).map((item: { readonly id: string }) => item.id);
  const deleted = await Promise.all(
    ids.slice(0, 5).map((item: string) => call(`/conversations/${id}/items/${item}`, undefined, "DELETE")),
  );
  expect(deleted.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(await listItems(id)).toMatchObject([{ id: ids[5] }]);
});

test("a deleted conversation leaves nothing of the items that were added to it", async () => {
  const before = await usedBytes();
  const { id } = (await call("/conversations", { items: [userItem("Secret", "msg_secret")] })).body;
  await call(`/conversations/${id}/items`, { items: [userItem("More")] });
  expect((await call(`/conversations/${id}`, undefined, "DELETE")).status).toBe(200);
  expect(await usedBytes()).toBe(before);
  await respond({ input: [{ type: "item_reference", id: "msg_secret" }, userItem("Hi")] });
  expect(JSON.stringify(vendor.calls.at(-1)?.body)).not.toContain("Secret");
});

test("an item is found in its conversation, although another conversation has it too", async () => {
  const create = async () => (await call("/conversations", { items: [userItem("Hi", "msg_both")] })).body.id;
  const [first, second] = [await create(), await create()];
  expect((await call(`/conversations/${first}/items/msg_both`)).status).toBe(200);
  expect((await call(`/conversations/${first}/items/msg_both`, undefined, "DELETE")).status).toBe(200);
  expect([await listItems(first), (await listItems(second)).length]).toEqual([[], 1]);
});

test("an item with a very long id is kept", async () => {
  const long = "x".repeat(8_000);
  const created = await call("/conversations", { items: [userItem("Hi", long)] });
  expect(created.status).toBe(200);
  expect(await listItems(created.body.id)).toMatchObject([{ id: long }]);
  const kept = await respond({ input: [{ type: "message", ...userItem("Hi", long) }], store: true });
  expect([kept.status, kept.body.store]).toEqual([200, true]);
});

test("background responses that fail or are cancelled add nothing to their conversation", async () => {
  const { id } = (await call("/conversations", {})).body;
  vendor.perform((one) => one.respond(400, { error: { message: "no" } }));
  const failing = (await respond({ input: "One", conversation: id, background: true })).body;
  expect(await whenEnded(failing.id)).toBe("failed");
  vendor.perform(async (one) => {
    await one.begin();
    await one.events(chunkOf({ content: "Half" }));
    await one.gate();
  });
  const cancelled = (await respond({ input: "Two", conversation: id, background: true })).body;
  await (await vendor.call(0)).atGate;
  await call(`/responses/${cancelled.id}/cancel`, {});
  expect(await whenEnded(cancelled.id)).toBe("cancelled");
  vendor.perform(healthy("Alpha"));
  expect(await listItems(id)).toEqual([]);
  const next = (await respond({ input: "Three", conversation: id })).body;
  expect(vendor.calls.at(-1)?.body["messages"]).toMatchObject([{ role: "user", content: "Three" }]);
  expect((await call(`/responses/${next.id}/input_items`)).body.data).toHaveLength(1);
  expect((await call(`/responses/${cancelled.id}/input_items`)).body.data).toHaveLength(1);
});

test("a chain lives on when it is used, also by a request that is not kept", async () => {
  const { body } = await respond({ input: "One", store: true });
  const expiresAt = async () => (await stores.responses.findHead(body.id, 0))?.expiresAt ?? 0;
  await stores.responses.limitExpiry(Date.now() + DAY_MS, 1_000);
  expect((await respond({ input: "Two", previous_response_id: body.id })).status).toBe(200);
  expect(await expiresAt()).toBeGreaterThan(Date.now() + 29 * DAY_MS);
});
