import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Frame, openSocket, type SocketClient } from "../../support/clients/socket-client.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createTestHealth } from "../../support/gateway/test-health.ts";
import { scrape } from "../../support/servers/scrape.ts";
import { speak } from "../../support/vendors/speaking-vendor.ts";
import { healthy, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const health = createTestHealth();
let vendor: Vendor;
let gateway: TestGateway;
let client: SocketClient;

/** The most that a conversation and all conversations together may have here. Bytes. */
const CHAIN_BYTES = 20_000;
const ALL_BYTES = 50_000;

beforeAll(async () => {
  vendor = startVendor();
  const model = (id: string) =>
    `{id: ${id}, context_length: 100000, prices: {prompt: "0.000001", completion: "0.000002"}}`;
  gateway = await startTestGateway({
    health: health.health,
    repeats: 0,
    yaml: `
responses: {chain_bytes: ${CHAIN_BYTES}, websocket_bytes: ${ALL_BYTES}}
limits: {body_bytes: 40000}
providers:
  chats: {base_url: "${vendor.baseUrl}", api_keys: [sk-0123456789], models: [${model("acme/chat")}]}
  messages: {base_url: "${vendor.baseUrl}", api_keys: [sk-0123456789], formats: [anthropic-messages], models: [${model("acme/messages")}]}
  responses: {base_url: "${vendor.baseUrl}", api_keys: [sk-0123456789], formats: [openai-responses], models: [${model("acme/responses")}]}`,
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});
beforeEach(async () => {
  health.reset();
  vendor.perform(speak({ text: ["Alpha ", "one"] }));
  client = await openSocket(gateway);
});
afterEach(() => client.close());

const ASK = { model: "acme/chat", store: false };
const TOOLS = [{ type: "function", name: "find", parameters: { type: "object", properties: {} } }];
const NOT_FOUND = {
  type: "error",
  status: 400,
  error: { code: "previous_response_not_found", param: "previous_response_id" },
};

const begin = async (input: unknown = "one", more: object = {}): Promise<string> => {
  const { response } = await client.ask({ ...ASK, input, ...more });
  expect(response).toMatchObject({ status: "completed", previous_response_id: null });
  return response.id;
};

const go = (previous: string, input: unknown = "two", more: object = {}): Promise<Frame> =>
  client.ask({ ...ASK, previous_response_id: previous, input, ...more });

const lastCall = (): Frame => vendor.calls.at(-1)?.body as Frame;

describe("a request that continues a response of its connection", () => {
  test("is sent with the whole conversation, and says what it continues", async () => {
    let id = await begin();
    for (const word of ["two", "three", "four"]) {
      const frames = await client.turn({ ...ASK, previous_response_id: id, input: word });
      const ofResponse = frames.filter(({ response }) => response !== undefined);
      expect(ofResponse.map(({ response }) => response.previous_response_id)).toEqual(Array(3).fill(id));
      id = frames.at(-1)?.["response"].id;
    }
    const said = { role: "assistant", content: "Alpha one" };
    const asked = (content: string) => ({ role: "user", content });
    expect(lastCall()["messages"]).toEqual([
      ...["one", "two", "three"].flatMap((word) => [asked(word), said]),
      asked("four"),
    ]);
  });

  test("is forwarded byte by byte to a vendor of the same format", async () => {
    vendor.perform(speak({ reasoning: ["Hm"], text: ["Alpha"] }));
    const responses = { model: "acme/responses" };
    const first = (await client.ask({ ...ASK, ...responses, input: "ü" }))["response"];
    const added = '{ "role":"user", "content":[{"type":"input_text", "text":"\\u00fc"}] }';
    client.send(
      `{"type":"response.create","store":false,"model":"acme/responses","previous_response_id":"${first.id}","input":[ ${added} ]}`,
    );
    const { response } = (await client.readTurn()).at(-1) as Frame;
    expect(response).toMatchObject({ status: "completed", previous_response_id: first.id });
    expect(lastCall()["input"]).toEqual([
      { type: "message", role: "user", content: "ü" },
      ...first.output,
      JSON.parse(added),
    ]);
    expect(Object.keys(lastCall())).not.toContain("previous_response_id");
    expect(Object.keys(lastCall())).not.toContain("type");
  });

  test("may answer the calls of the response, whatever the format of its vendor", async () => {
    for (const model of ["acme/chat", "acme/messages", "acme/responses"]) {
      vendor.perform(speak({ call: ['{"q":', "1}"] }));
      const { response } = await client.ask({ ...ASK, model, input: "Find it", tools: TOOLS });
      const call = response.output.find(({ type }: Frame) => type === "function_call");
      expect(call).toMatchObject({ name: "find", arguments: '{"q":1}' });
      vendor.perform(speak({ text: ["Found"] }));
      const result = { type: "function_call_output", call_id: call.call_id, output: "here" };
      expect(await go(response.id, [result], { model, tools: TOOLS })).toMatchObject({
        type: "response.completed",
      });
      expect(JSON.stringify(lastCall())).toContain("here");
    }
  });

  test("may name another model, of another vendor's format", async () => {
    const id = await begin("one", { model: "acme/responses" });
    expect(await go(id, "two", { model: "acme/messages" })).toMatchObject({ type: "response.completed" });
    expect(lastCall()["messages"].map(({ role }: Frame) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("is charged for the whole conversation, as a request that sends it", async () => {
    const id = await begin();
    const { response } = await go(id);
    expect(response.usage).toMatchObject({ input_tokens: 10, output_tokens: 5, cost: 0.00002 });
  });

  test("may continue an answer that was cut off at its limit of tokens", async () => {
    vendor.perform(async (call) => {
      await call.begin();
      await call.events({
        id: "x",
        choices: [{ index: 0, delta: { role: "assistant", content: "Alp" }, finish_reason: null }],
      });
      await call.events({ id: "x", choices: [{ index: 0, delta: {}, finish_reason: "length" }] }, "[DONE]");
      await call.end();
    });
    const cut = await client.ask({ ...ASK, input: "one" });
    expect(cut["type"]).toBe("response.incomplete");
    vendor.perform(healthy("Alpha"));
    expect(await go(cut["response"].id)).toMatchObject({ type: "response.completed" });
    expect(lastCall()["messages"][1]).toEqual({ role: "assistant", content: "Alp" });
  });

  test("of another stream branches off, and both branches go on", async () => {
    const root = await begin("one", { stream_id: "planner" });
    const branch = (await go(root, "find gaps", { stream_id: "critic" }))["response"].id;
    const main = (await go(root, "add steps", { stream_id: "planner" }))["response"].id;
    expect(await go(branch, "more gaps", { stream_id: "critic" })).toMatchObject({
      stream_id: "critic",
      type: "response.completed",
    });
    expect(await go(main, "more steps", { stream_id: "planner" })).toMatchObject({
      stream_id: "planner",
      type: "response.completed",
    });
    expect(JSON.stringify(lastCall())).not.toContain("gaps");
    expect(await go(root, "too late", { stream_id: "planner" })).toMatchObject(NOT_FOUND);
  });
});

describe("a response cannot be continued", () => {
  test("if no response has its id", async () => {
    const error = await go("gen_unknown");
    expect(error).toMatchObject(NOT_FOUND);
    expect(error["error"].message).toContain("Previous response with id 'gen_unknown' not found.");
    expect(vendor.calls).toHaveLength(0);
  });

  test("on another connection", async () => {
    const id = await begin();
    const other = await openSocket(gateway);
    expect(await other.ask({ ...ASK, previous_response_id: id, input: "two" })).toMatchObject(NOT_FOUND);
    const whole = [
      { role: "user", content: "one" },
      { role: "user", content: "two" },
    ];
    expect(await other.ask({ ...ASK, input: whole })).toMatchObject({ type: "response.completed" });
    await other.close();
  });

  test("over HTTP", async () => {
    const id = await begin();
    const response = await fetch(`${gateway.base}/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...ASK, previous_response_id: id, input: "two" }),
    });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining("previous_response_id"),
    ]);
  });

  test("once another response has replaced it", async () => {
    const first = await begin();
    await begin("other");
    expect(await go(first)).toMatchObject(NOT_FOUND);
  });

  test("after a request that continued it has failed", async () => {
    const failures = [
      // Rejected by the gateway.
      () => go(id, [{ type: "function_call_output", call_id: "call_lost", output: "x" }]),
      () => go(id, "two", { temperature: "hot" }),
      () => go(id, "two", { model: "acme/none" }),
      // Rejected by the vendor, before and in its answer.
      () => go(id, "two", { model: "acme/messages" }),
      () => go(id),
    ];
    let id = "";
    for (const failure of failures) {
      vendor.perform(healthy("Alpha"));
      id = await begin();
      vendor.perform((call) =>
        call.head.includes("/messages") ? call.respond(400, { error: { message: "no" } }) : breakOff(call),
      );
      expect(["error", "response.failed"]).toContain((await failure())["type"]);
      vendor.perform(healthy("Alpha"));
      expect(await go(id)).toMatchObject(NOT_FOUND);
      health.reset();
    }
  });

  test("if its conversation is larger than responses.chain_bytes", async () => {
    const id = await begin("x".repeat(CHAIN_BYTES));
    expect(await go(id)).toMatchObject(NOT_FOUND);
  });

  test("once newer responses of other connections need its memory", async () => {
    const clients = await Promise.all(Array.from({ length: 4 }, () => openSocket(gateway)));
    const ids: string[] = [];
    for (const one of clients)
      ids.push((await one.ask({ ...ASK, input: "x".repeat(15_000) }))["response"].id);
    const held = (await scrape(gateway)).value("gateway_websocket_memory_bytes") ?? 0;
    expect(held).toBeGreaterThan(45_000);
    expect(held).toBeLessThan(ALL_BYTES);
    const answers = await Promise.all(
      clients.map((one, at) => one.ask({ ...ASK, input: "y", previous_response_id: ids[at] })),
    );
    expect(answers.map(({ type }) => type)).toEqual(["error", ...Array(3).fill("response.completed")]);
    await Promise.all(clients.map((one) => one.close()));
  });

  test("if the joined request is larger than limits.body_bytes", async () => {
    const id = await begin("x".repeat(19_000));
    expect(await go(id, "y".repeat(22_000))).toMatchObject({ status: 413 });
  });
});

test("a failed request that began a new conversation leaves the last response as it was", async () => {
  const id = await begin();
  expect(await client.ask({ ...ASK, model: "acme/none", input: "x" })).toMatchObject({ status: 400 });
  expect(await go(id)).toMatchObject({ type: "response.completed" });
});

test("a result without a call is rejected with its field, and no vendor is called", async () => {
  const id = await begin();
  const calls = vendor.calls.length;
  const lost = { type: "function_call_output", call_id: "call_lost", output: "x" };
  expect(await go(id, [lost])).toMatchObject({
    type: "error",
    status: 400,
    error: { type: "invalid_request_error", param: "input[0].call_id" },
  });
  expect(vendor.calls.length).toBe(calls);
});

/** Breaks an answer off in the middle. */
async function breakOff(call: Vendor["calls"][number]): Promise<void> {
  await call.begin();
  await call.events({
    id: "x",
    choices: [{ index: 0, delta: { role: "assistant", content: "Alp" }, finish_reason: null }],
  });
  call.connection.reset();
}
