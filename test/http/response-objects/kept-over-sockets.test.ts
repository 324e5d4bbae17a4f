import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Frame, openSocket, type SocketClient } from "../../support/clients/socket-client.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { speak } from "../../support/vendors/speaking-vendor.ts";
import { startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;
let client: SocketClient;

/** The most that an account keeps here. */
const ACCOUNT_BYTES = 200_000;

beforeAll(async () => {
  vendor = startVendor();
  const model = (id: string, price: string) =>
    `{id: ${id}, context_length: 100000, prices: {prompt: "${price}", completion: "${price}"}}`;
  gateway = await startTestGateway({
    yaml: `
responses: {account_bytes: ${ACCOUNT_BYTES}}
providers:
  chats: {base_url: "${vendor.baseUrl}", api_keys: [sk-0123456789], models: [${model("acme/chat", "0.000001")}, ${model("acme/chat:free", "0")}]}
  messages: {base_url: "${vendor.baseUrl}", api_keys: [sk-0123456789], formats: [anthropic-messages], models: [${model("acme/messages", "0.000001")}]}
  responses: {base_url: "${vendor.baseUrl}", api_keys: [sk-0123456789], formats: [openai-responses], zero_retention: true, models: [${model("acme/responses", "0.000001")}]}`,
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});
beforeEach(async () => {
  vendor.perform(speak({ text: ["Alpha"] }));
  client = await openSocket(gateway);
});
afterEach(() => client.close());

/** Asks for a response over a connection, and returns it. */
async function ask(fields: object, on = client): Promise<Frame> {
  const last = await on.ask({ model: "acme/chat", ...fields });
  expect(last).toMatchObject({ type: "response.completed" });
  return last["response"];
}

async function call(path: string, body?: object) {
  const response = await fetch(`${gateway.base}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Frame };
}

const inputOf = async (id: string): Promise<string[]> =>
  (await call(`/responses/${id}/input_items?order=asc`)).body["data"].map(({ content }: Frame) =>
    typeof content === "string" ? content : content[0].text,
  );

describe("a response that is kept over a WebSocket", () => {
  test("is read over HTTP, and continued on other connections by another vendor's model", async () => {
    const first = await ask({ input: "one", store: true });
    expect(first).toMatchObject({ store: true, previous_response_id: null });
    expect((await call(`/responses/${first["id"]}`)).body).toMatchObject({ id: first["id"], store: true });
    const other = await openSocket(gateway);
    const next = { model: "acme/messages", input: "two", store: true, previous_response_id: first["id"] };
    const second = await ask(next, other);
    expect(second).toMatchObject({ previous_response_id: first["id"] });
    expect(await inputOf(second["id"])).toEqual(["one", "Alpha", "two"]);
    await other.close();
  });

  test("stays in its chain when the connection continues it", async () => {
    const first = await ask({ input: "one", store: true });
    const second = await ask({ input: "two", store: true, previous_response_id: first["id"] });
    const third = await ask({ input: "three", store: false, previous_response_id: second["id"] });
    expect(third).toMatchObject({ store: false, previous_response_id: second["id"] });
    expect(vendor.calls.at(-1)?.body["messages"]).toHaveLength(5);
    expect(await inputOf(second["id"])).toEqual(["one", "Alpha", "two"]);
    expect((await call(`/responses/${third["id"]}`)).status).toBe(404);
  });

  test("has the conversation of the connection, of which nothing was kept before", async () => {
    const first = await ask({ input: "one", store: false });
    const second = await ask({ input: "two", store: true, previous_response_id: first["id"] });
    expect(await inputOf(second["id"])).toEqual(["one", "Alpha", "two"]);
  });

  test("continues a request with store: true for which no model was called", async () => {
    const warm = await ask({ input: "one", store: true, generate: false });
    expect(warm).toMatchObject({ store: false });
    const next = await ask({ input: "two", store: true, previous_response_id: warm["id"] });
    expect(next).toMatchObject({ store: true, previous_response_id: warm["id"] });
    expect(await inputOf(next["id"])).toEqual(["one", "two"]);
    const last = await ask({ input: "three", store: true, previous_response_id: next["id"] });
    expect(await inputOf(last["id"])).toEqual(["one", "two", "Alpha", "three"]);
  });

  test("is continued on its connection if it could not be stored", async () => {
    vendor.perform(speak({ text: ["x".repeat(ACCOUNT_BYTES)] }));
    const first = await ask({ input: "one", store: true });
    expect(first).toMatchObject({ store: false });
    vendor.perform(speak({ text: ["Alpha"] }));
    const second = await ask({ input: "two", previous_response_id: first["id"] });
    expect(second).toMatchObject({ previous_response_id: first["id"] });
    expect(vendor.calls.at(-1)?.body["messages"]).toHaveLength(3);
  });

  test("may belong to a conversation", async () => {
    const { body } = await call("/conversations", {});
    const { id } = await ask({ input: "one", conversation: body["id"] });
    const next = await ask({ input: "two", conversation: body["id"] });
    expect(next).toMatchObject({ conversation: { id: body["id"] }, store: true });
    expect(await inputOf(next["id"])).toEqual(["one", "Alpha", "two"]);
    expect(id).not.toBe(next["id"]);
  });
});

test("a result without its call is rejected, whether the conversation is kept or on its connection", async () => {
  const result = { type: "function_call_output", call_id: "call_gone", output: "here" };
  const kept = await ask({ input: "one", store: true });
  const body = { model: "acme/chat", input: [result], previous_response_id: kept["id"] };
  const error = { param: "input[0].call_id", message: expect.stringContaining("No tool call found") };
  expect(await call("/responses", body)).toMatchObject({ status: 400, body: { error } });
  expect(await client.ask(body)).toMatchObject({ type: "error", status: 400, error });
});

test("a caller without a key continues responses of their connection only", async () => {
  const kept = await ask({ input: "one", store: true });
  const anonymous = await openSocket(gateway, { key: null });
  const own = await ask({ model: "acme/chat:free", input: "one", store: false }, anonymous);
  await ask(
    { model: "acme/chat:free", input: "two", store: false, previous_response_id: own["id"] },
    anonymous,
  );
  const foreign = { model: "acme/chat:free", input: "two", previous_response_id: kept["id"] };
  expect(await anonymous.ask(foreign)).toMatchObject({
    status: 400,
    error: { code: "previous_response_not_found" },
  });
  await anonymous.close();
});

test("a vendor stores the response as well only if it is asked, and never under zero data retention", async () => {
  const storeOf = async (body: object) => {
    const { status } = await call("/responses", { model: "acme/responses", input: "one", ...body });
    expect(status).toBe(200);
    return vendor.calls.at(-1)?.body["store"];
  };
  expect(await storeOf({ store: true })).toBe(false);
  expect(await storeOf({ store: true, provider: { store: true } })).toBe(true);
  expect(await storeOf({ provider: { store: true } })).toBe(true);
  expect(await storeOf({ provider: { store: true, zdr: true } })).toBe(false);
});
