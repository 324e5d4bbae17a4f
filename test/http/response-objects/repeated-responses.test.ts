import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventsOf } from "../../support/clients/response-events.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../../support/money.ts";
import { chunkOf, healthy, startVendor, USAGE, type Vendor } from "../../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;
let key: string;

const yamlOf = (baseUrl: string) => `
providers:
  mine: {base_url: "${baseUrl}", api_keys: [k], models: [{id: acme/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}]}`;

beforeEach(async () => {
  vendor = startVendor(healthy("Alpha"));
  gateway = await startTestGateway({ yaml: yamlOf(vendor.baseUrl) });
  key = await addAccountWithKey(gateway, { id: "user_one" });
  await manage(gateway, "/accounts/user_one/credits", { amount: 10 });
});
afterEach(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

async function call(
  path: string,
  { body, name, method }: { body?: object; name?: string; method?: string } = {},
) {
  const response = await fetch(gateway.base + path, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      authorization: `Bearer ${key}`,
      ...(name === undefined ? {} : { "idempotency-key": name }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { status, headers } = response;
  const text = await response.text();
  return { status, headers, text, body: text.startsWith("{") ? JSON.parse(text) : null };
}

const ask = (name: string, fields: object = {}) =>
  call("/responses", { name, body: { model: "acme/model", input: "Hi", ...fields } });
const newConversation = async () => (await call("/conversations", { body: {} })).body.id as string;
const itemsOf = async (conversation: string) =>
  (await call(`/conversations/${conversation}/items`)).body.data as { readonly id: string }[];
const balance = async () => (await balanceOf(gateway, "user_one")).balance;
const countKept = async () =>
  ((await manage(gateway, "/responses?account_id=user_one")).body["data"] as unknown[]).length;
const recordOf = async (id: string | null) => (await manage(gateway, `/generations/${id}`)).body["data"];
const idOf = (answered: { readonly headers: Headers }) => answered.headers.get("x-gateway-generation-id");
const whenEnded = (id: string) =>
  eventually("the response has ended", async () => {
    const { body } = await call(`/responses/${id}`);
    return body.status === "in_progress" ? null : body;
  });

/** Answers with a beginning, and with the rest once the gate is open. */
async function slowly(one: Parameters<Parameters<Vendor["perform"]>[0]>[0]): Promise<void> {
  if (!one.isStream) {
    await one.gate();
    return healthy("Alpha")(one);
  }
  await one.begin();
  await one.events(chunkOf({ content: "Alpha" }));
  await one.gate();
  await one.events(
    chunkOf({ content: " Beta" }),
    chunkOf({}, "stop"),
    { choices: [], usage: USAGE },
    "[DONE]",
  );
  await one.end();
}

/** Expects the answer of the first request again, with its id, by a generation that costs nothing. */
async function expectRepetition(
  repeated: Awaited<ReturnType<typeof call>>,
  first: { readonly id: string; readonly text: string },
): Promise<void> {
  expect([repeated.status, repeated.text]).toEqual([200, first.text]);
  expect(repeated.headers.get("idempotent-replayed")).toBe("true");
  expect(repeated.headers.get("x-gateway-replay-of")).toBe(first.id);
  expect(idOf(repeated)).not.toBe(first.id);
  expect(await recordOf(idOf(repeated))).toMatchObject({ total_cost: 0, replay_of: first.id, attempts: [] });
}

for (const stream of [false, true]) {
  const how = stream ? " with a stream" : "";

  test(`A repeated request${how} whose response is kept gets the first answer with its id, and stores nothing.`, async () => {
    const first = await ask("order-1", { store: true, stream });
    const spent = await balance();
    const repeated = await ask("order-1", { store: true, stream });
    await expectRepetition(repeated, { id: idOf(first) ?? "", text: first.text });
    expect(first.text).toContain(`"id":"${idOf(first)}"`);
    expect(await countKept()).toBe(1);
    expect(vendor.calls).toHaveLength(1);
    expect(await balance()).toBe(spent);
  });

  test(`A repeated request${how} in a conversation gets the first answer, and adds its turn once.`, async () => {
    const conversation = await newConversation();
    const first = await ask("order-2", { conversation, stream });
    const items = await itemsOf(conversation);
    expect(items).toHaveLength(2);
    const repeated = await ask("order-2", { conversation, stream });
    await expectRepetition(repeated, { id: idOf(first) ?? "", text: first.text });
    expect(await itemsOf(conversation)).toEqual(items);
    expect(vendor.calls).toHaveLength(1);
    const next = await ask("order-3", { conversation, input: "Go on." });
    expect(next.headers.get("idempotent-replayed")).toBeNull();
    expect(await itemsOf(conversation)).toHaveLength(4);
  });

  test(`A request${how} in a conversation that is repeated while it runs gets the first answer, which can be continued at once.`, async () => {
    vendor.perform(slowly);
    const conversation = await newConversation();
    const asking = ask("order-4", { conversation, stream });
    const one = await vendor.call(0);
    await one.atGate;
    const repeating = ask("order-4", { conversation, stream });
    const other = await ask("order-5", { conversation });
    expect([other.status, other.text]).toEqual([409, expect.stringContaining("in use")]);
    one.openGate();
    const [first, repeated] = [await asking, await repeating];
    await expectRepetition(repeated, { id: idOf(first) ?? "", text: first.text });
    expect(await itemsOf(conversation)).toHaveLength(2);
    expect(vendor.calls).toHaveLength(1);
    vendor.perform(healthy("Gamma"));
    expect((await ask("order-6", { previous_response_id: idOf(first) })).status).toBe(200);
  });
}

test("A repeated request that answers a call in a conversation is not checked against the conversation that its first one has extended.", async () => {
  const conversation = await newConversation();
  const item = { type: "function_call", call_id: "call_1", name: "open", arguments: "{}" };
  await call(`/conversations/${conversation}/items`, { body: { items: [item] } });
  const input = [{ type: "function_call_output", call_id: "call_1", output: "done" }];
  const first = await ask("order-7", { conversation, input });
  expect(first.status).toBe(200);
  const repeated = await ask("order-7", { conversation, input });
  expect([repeated.status, repeated.text]).toEqual([200, first.text]);
});

test("A repeated request that continues a response without being kept gets the first answer under its own id, even after the continued response was deleted.", async () => {
  const { body } = await ask("order-8", { store: true });
  const fields = { previous_response_id: body.id, store: false };
  const first = await ask("order-9", fields);
  await call(`/responses/${body.id}`, { method: "DELETE" });
  const repeated = await ask("order-9", fields);
  const id = idOf(repeated) ?? "";
  expect([repeated.status, repeated.text]).toEqual([200, first.text.replaceAll(idOf(first) ?? "", id)]);
});

test("Another request in the same conversation with a used Idempotency-Key is rejected with 409.", async () => {
  const conversation = await newConversation();
  await ask("order-10", { conversation });
  for (const fields of [{ conversation, input: "Other" }, { store: true }]) {
    const other = await ask("order-10", fields);
    expect([other.status, other.text]).toEqual([409, expect.stringContaining("another request")]);
  }
  expect(await itemsOf(conversation)).toHaveLength(2);
});

test("A request in a conversation that failed at no cost may be made again with its Idempotency-Key.", async () => {
  const conversation = await newConversation();
  vendor.perform((one) => one.respond(400, { error: { message: "The vendor says no." } }));
  expect((await ask("order-11", { conversation })).status).toBe(400);
  vendor.perform(healthy("Alpha"));
  await eventually(
    "the key is free again",
    async () => (await ask("order-11", { conversation })).status === 200,
  );
  expect(await itemsOf(conversation)).toHaveLength(2);
});

describe("A background request with an Idempotency-Key", () => {
  const background = true;

  test("that is repeated while it runs, and after its end, gets the first response as it is then.", async () => {
    vendor.perform(slowly);
    const first = await ask("job-1", { background });
    const { id } = first.body;
    const running = await ask("job-1", { background });
    expect([running.status, running.body]).toEqual([200, (await call(`/responses/${id}`)).body]);
    expect(running.body).toMatchObject({ id, status: "in_progress" });
    (await vendor.call(0)).openGate();
    await whenEnded(id);
    const spent = await balance();
    const ended = await ask("job-1", { background });
    expect(ended.body).toMatchObject({ id, status: "completed" });
    await expectRepetition(ended, { id, text: (await call(`/responses/${id}`)).text });
    expect(vendor.calls).toHaveLength(1);
    expect(await countKept()).toBe(1);
    expect(await balance()).toBe(spent);
  });

  test("and a stream that is repeated while it runs, and after its end, gets all events of the first response.", async () => {
    vendor.perform(slowly);
    const asking = ask("job-2", { background, stream: true });
    const one = await vendor.call(0);
    await one.atGate;
    const repeating = ask("job-2", { background, stream: true });
    one.openGate();
    const events = eventsOf((await asking).text);
    expect(events[0].sequence_number).toBe(0);
    expect(eventsOf((await repeating).text)).toEqual(events);
    const again = await ask("job-2", { background, stream: true });
    expect(eventsOf(again.text)).toEqual(events);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(vendor.calls).toHaveLength(1);
  });

  test("in a conversation that is repeated gets the first response, although that uses the conversation.", async () => {
    vendor.perform(slowly);
    const conversation = await newConversation();
    const first = await ask("job-3", { background, conversation });
    const repeated = await ask("job-3", { background, conversation });
    expect(repeated.body).toMatchObject({ id: first.body.id, status: "in_progress" });
    (await vendor.call(0)).openGate();
    await whenEnded(first.body.id);
    expect(await itemsOf(conversation)).toHaveLength(2);
  });

  test("whose vendor fails is not sent again: its repetition gets the failed response.", async () => {
    vendor.perform((one) => one.respond(400, { error: { message: "The vendor says no." } }));
    const first = await ask("job-4", { background });
    const { id } = first.body;
    await whenEnded(id);
    const repeated = await ask("job-4", { background });
    expect(repeated.body).toMatchObject({ id, status: "failed" });
    expect(vendor.calls).toHaveLength(1);
  });

  test("that is rejected before it is accepted may be made again.", async () => {
    const poor = await addAccountWithKey(gateway, { id: "user_poor" });
    [key] = [poor];
    expect((await ask("job-5", { background })).status).toBe(402);
    await manage(gateway, "/accounts/user_poor/credits", { amount: 1 });
    await eventually(
      "the key is free again",
      async () => (await ask("job-5", { background })).status === 200,
    );
    await eventually(
      "the response has ended",
      async () => (await ask("job-5", { background })).body.status === "completed",
    );
  });

  test("that is repeated after its response was deleted gets a 409 with the id of the response, and is not sent again.", async () => {
    const first = await ask("job-6", { background });
    expect([first.status, first.text]).toEqual([200, expect.stringContaining("gen_")]);
    const { id } = first.body;
    await whenEnded(id);
    await call(`/responses/${id}`, { method: "DELETE" });
    const repeated = await ask("job-6", { background });
    expect([repeated.status, repeated.text]).toEqual([409, expect.stringContaining(id)]);
    expect(vendor.calls).toHaveLength(1);
  });

  test("gets the first response also after a restart of the gateway.", async () => {
    const { id } = (await ask("job-7", { background })).body;
    await whenEnded(id);
    const { dataDir, key: firstKey } = gateway;
    await gateway.stop({ keepData: true });
    gateway = await startTestGateway({ yaml: yamlOf(vendor.baseUrl), dataDir, key: firstKey });
    expect((await ask("job-7", { background })).body).toMatchObject({ id, status: "completed" });
    expect(vendor.calls).toHaveLength(1);
  });
});
