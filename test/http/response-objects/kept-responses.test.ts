import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventsOf } from "../../support/clients/response-events.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../../support/money.ts";
import { chunkOf, healthy, startVendor, USAGE, type Vendor } from "../../support/vendors/vendor.ts";

/** What the vendor answers. */
const ALPHA = "Alpha one two";

let vendor: Vendor;
let gateway: TestGateway;
let key: string;
let otherKey: string;

beforeAll(async () => {
  vendor = startVendor();
  const yaml = `
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], zero_retention: true, models: [{id: acme/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}]}
responses: {chain_bytes: 20000, account_bytes: 120000}
guardrails:
  - {name: secrets, kind: regex, on: request, action: mask, patterns: ["hunter\\\\d"], models: [acme/model]}`;
  gateway = await startTestGateway({ yaml });
  key = await addAccountWithKey(gateway, { id: "user_one" });
  otherKey = await addAccountWithKey(gateway, { id: "user_two" });
  for (const id of ["user_one", "user_two"]) await manage(gateway, `/accounts/${id}/credits`, { amount: 10 });
});
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

interface Call {
  readonly method?: string;
  readonly as?: string;
}

async function call(path: string, body?: object, { method, as = key }: Call = {}) {
  const response = await fetch(gateway.base + path, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith("{") ? JSON.parse(text) : null };
}

const respond = (body: object, options?: Call) =>
  call("/responses", { model: "acme/model", ...body }, options);
/** The messages of the last call of the vendor, as role and text. */
function sentMessages(): [string, unknown][] {
  const { messages } = vendor.calls.at(-1)?.body ?? {};
  return (messages as { role: string; content: unknown }[]).map(({ role, content }) => [role, content]);
}

describe("a response with store: true", () => {
  test("says so, and is read by its id with its items, until it is deleted", async () => {
    vendor.perform(healthy("Alpha"));
    const { status, body } = await respond({ input: "Hi", store: true, metadata: { topic: "greeting" } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      store: true,
      status: "completed",
      previous_response_id: null,
      background: false,
    });
    const read = await call(`/responses/${body.id}`);
    expect(read.body).toEqual({ ...body });
    const items = await call(`/responses/${body.id}/input_items`);
    expect(items.body).toMatchObject({
      object: "list",
      has_more: false,
      data: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
    });
    expect(items.body.data[0].id).toMatch(/^msg_/);
    expect((await call(`/responses/${body.id}`, undefined, { method: "DELETE" })).body).toEqual({
      id: body.id,
      object: "response",
      deleted: true,
    });
    expect((await call(`/responses/${body.id}`)).status).toBe(404);
    expect((await respond({ input: "Again", previous_response_id: body.id })).body.error).toMatchObject({
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
  });

  test("is continued: the vendor gets the whole conversation, and the chain may branch", async () => {
    vendor.perform(healthy("Alpha"));
    const one = (await respond({ input: "One", store: true, instructions: "Be brief." })).body;
    const two = (await respond({ input: "Two", store: true, previous_response_id: one.id, stream: true }))
      .text;
    const ended = eventsOf(two).at(-1);
    expect(ended).toMatchObject({
      type: "response.completed",
      response: { previous_response_id: one.id, store: true },
    });
    expect(sentMessages()).toEqual([
      ["user", "One"],
      ["assistant", ALPHA],
      ["user", "Two"],
    ]);
    await respond({ input: "Three", previous_response_id: ended.response.id });
    expect(sentMessages().map(([, text]) => text)).toEqual(["One", ALPHA, "Two", ALPHA, "Three"]);
    await respond({ input: "Other", previous_response_id: one.id });
    expect(sentMessages().map(([, text]) => text)).toEqual(["One", ALPHA, "Other"]);
    const context = await call(`/responses/${ended.response.id}/input_items?order=asc`);
    expect(context.body.data.map((item: { role: string }) => item.role)).toEqual([
      "user",
      "assistant",
      "user",
    ]);
  });

  test("is charged for the joined input as any request, once", async () => {
    vendor.perform(healthy("Alpha"));
    const { balance: before } = await balanceOf(gateway, "user_one");
    const { body } = await respond({ input: "Hi", store: true });
    expect(body.usage).toMatchObject({ input_tokens: USAGE.prompt_tokens, cost: 0.00006 });
    expect(before - (await balanceOf(gateway, "user_one")).balance).toBe(60_000);
  });

  test("keeps what guardrails have masked, and not what they have hidden", async () => {
    vendor.perform(healthy("Alpha"));
    const { body } = await respond({
      input: [{ role: "user", content: "My password is hunter2" }],
      store: true,
    });
    const items = await call(`/responses/${body.id}/input_items`);
    expect(items.text).toContain("My password is");
    expect(items.text).not.toContain("hunter2");
  });

  test.each([
    ["an item that asks for a compaction", { type: "compaction_trigger" }],
    ["a reference to an unknown item", { type: "item_reference", id: "msg_unknown" }],
  ])("keeps the masked items of an input that ends with %s, which is not kept", async (_, last) => {
    vendor.perform(healthy("Alpha"));
    const input = [
      { role: "user", content: "My password is hunter2" },
      { role: "user", content: "Remember it" },
      last,
    ];
    const { body } = await respond({ input, store: true });
    const { data } = (await call(`/responses/${body.id}/input_items?order=asc`)).body;
    expect(data.map(({ content }: { content: [{ text: string }] }) => content[0].text)).toEqual([
      expect.stringMatching(/^My password is (?!hunter)/),
      "Remember it",
    ]);
  });

  test("is not kept if the vendor fails, and the answer says nothing of it", async () => {
    vendor.perform((one) => one.respond(500, { error: { message: "no" } }));
    expect((await respond({ input: "Hi", store: true })).status).toBeGreaterThanOrEqual(500);
  });
});

describe("a request without state", () => {
  test("is not kept, and cannot be continued", async () => {
    vendor.perform(healthy("Alpha"));
    const { body } = await respond({ input: "Hi" });
    expect(body.store).toBe(false);
    expect((await call(`/responses/${body.id}`)).status).toBe(404);
    expect((await respond({ input: "Hi", previous_response_id: body.id })).status).toBe(400);
  });
});

describe("isolation", () => {
  test("no other account reads, continues, lists or deletes a response, a conversation or an item", async () => {
    vendor.perform(healthy("Alpha"));
    const { body } = await respond({ input: "Secret", store: true });
    const conversation = (await call("/conversations", { items: [{ role: "user", content: "Secret" }] }))
      .body;
    const [item] = (await call(`/conversations/${conversation.id}/items`)).body.data;
    const as = otherKey;
    const paths: readonly (readonly [string, string, object?])[] = [
      ["GET", `/responses/${body.id}`],
      ["GET", `/responses/${body.id}?stream=true`],
      ["DELETE", `/responses/${body.id}`],
      ["POST", `/responses/${body.id}/cancel`, {}],
      ["GET", `/responses/${body.id}/input_items`],
      ["GET", `/conversations/${conversation.id}`],
      ["POST", `/conversations/${conversation.id}`, { metadata: {} }],
      ["DELETE", `/conversations/${conversation.id}`],
      ["GET", `/conversations/${conversation.id}/items`],
      ["POST", `/conversations/${conversation.id}/items`, { items: [{ role: "user", content: "x" }] }],
      ["GET", `/conversations/${conversation.id}/items/${item.id}`],
      ["DELETE", `/conversations/${conversation.id}/items/${item.id}`],
    ];
    for (const [method, path, sent] of paths) {
      const answer = await call(path, sent, { method, as });
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.text).not.toContain("Secret");
    }
    expect((await respond({ input: "x", previous_response_id: body.id }, { as })).status).toBe(400);
    expect((await respond({ input: "x", conversation: conversation.id }, { as })).status).toBe(404);
    await respond(
      {
        input: [
          { type: "item_reference", id: item.id },
          { role: "user", content: "x" },
        ],
      },
      { as },
    );
    expect(JSON.stringify(vendor.calls.at(-1)?.body)).not.toContain("Secret");
    expect((await call(`/responses/${body.id}`)).status).toBe(200);
  });

  test("a caller without a key gets a 401 that says what to do", async () => {
    const response = await fetch(`${gateway.base}/responses`, {
      method: "POST",
      body: JSON.stringify({ model: "sandbox/echo:free", input: "Hi", store: true }),
    });
    expect(response.status).toBe(401);
  });
});

describe("limits of what is kept", () => {
  test("a chain that would be longer than its bound is rejected before the vendor is called", async () => {
    vendor.perform(healthy("Alpha"));
    const { body } = await respond({ input: "a".repeat(15_000), store: true });
    const calls = vendor.calls.length;
    const more = await respond({ input: "b".repeat(6_000), store: true, previous_response_id: body.id });
    expect([more.status, vendor.calls.length]).toEqual([413, calls]);
    expect(more.body.error.message).toContain("responses.chain_bytes");
  });

  test("an account that has reached its bound keeps nothing more until something is deleted", async () => {
    vendor.perform(healthy("Alpha"));
    const kept: string[] = [];
    let status = 200;
    while (status === 200 && kept.length < 10) {
      const answer = await respond({ input: "a".repeat(14_000), store: true }, { as: otherKey });
      status = answer.status;
      if (status === 200) kept.push(answer.body.id);
    }
    expect([status, kept.length]).toEqual([413, 7]);
    await call(`/responses/${kept[0]}`, undefined, { method: "DELETE", as: otherKey });
    expect((await respond({ input: "Hi", store: true }, { as: otherKey })).status).toBe(200);
  });

  test("nothing is kept under zero data retention", async () => {
    for (const fields of [{ store: true }, { background: true }, { conversation: "conv_1" }]) {
      const answer = await respond({ input: "Hi", provider: { zdr: true }, ...fields });
      expect([answer.status, answer.body.error.param]).toEqual([400, Object.keys(fields)[0]]);
    }
  });
});

describe("a conversation", () => {
  test("is created, read, changed and deleted", async () => {
    const created = (await call("/conversations", { metadata: { topic: "demo" } })).body;
    expect(created).toMatchObject({ object: "conversation", metadata: { topic: "demo" } });
    expect((await call(`/conversations/${created.id}`)).body).toEqual(created);
    const changed = await call(`/conversations/${created.id}`, { metadata: { topic: "other" } });
    expect(changed.body.metadata).toEqual({ topic: "other" });
    const deleted = await call(`/conversations/${created.id}`, undefined, { method: "DELETE" });
    expect(deleted.body).toEqual({ id: created.id, object: "conversation.deleted", deleted: true });
    expect((await call(`/conversations/${created.id}`)).status).toBe(404);
  });

  test("collects the items of its responses and those that are added, in their order", async () => {
    vendor.perform(healthy("Alpha"));
    const { id } = (await call("/conversations", { items: [{ role: "developer", content: "Be brief." }] }))
      .body;
    const one = await respond({ input: "One", conversation: id });
    expect(one.body).toMatchObject({ conversation: { id }, store: true });
    await call(`/conversations/${id}/items`, { items: [{ role: "user", content: "Added" }] });
    await respond({ input: "Two", conversation: { id }, stream: true });
    const texts = sentMessages().map(([, text]) => text);
    expect(texts).toEqual(["Be brief.", "One", ALPHA, "Added", "Two"]);
    const list = (await call(`/conversations/${id}/items?order=asc&limit=100`)).body;
    expect(list.data).toHaveLength(6);
    const page = (await call(`/conversations/${id}/items?order=asc&limit=2&after=${list.data[1].id}`)).body;
    expect([page.data.length, page.has_more, page.first_id]).toEqual([2, true, list.data[2].id]);
    await call(`/conversations/${id}/items/${list.data[3].id}`, undefined, { method: "DELETE" });
    expect((await call(`/conversations/${id}/items/${list.data[3].id}`)).status).toBe(404);
    await respond({ input: "Three", conversation: id });
    expect(sentMessages().map(([, text]) => text)).not.toContain("Added");
  });

  test("keeps the rest of its history when a response is deleted from its middle", async () => {
    vendor.perform(healthy("Alpha"));
    const { id } = (await call("/conversations", {})).body;
    await respond({ input: "One", conversation: id });
    const second = (await respond({ input: "Two", conversation: id })).body;
    const third = (await respond({ input: "Three", conversation: id })).body;
    await call(`/responses/${second.id}`, undefined, { method: "DELETE" });
    await respond({ input: "Four", conversation: id });
    expect(sentMessages().map(([, text]) => text)).toEqual(["One", ALPHA, "Three", ALPHA, "Four"]);
    const input = (await call(`/responses/${third.id}/input_items?order=asc`)).body.data;
    expect(input).toHaveLength(3);
  });

  test("lists each message with its type, its status and its content as parts, however it was sent", async () => {
    const items = [
      { role: "user", content: "One" },
      { role: "assistant", content: "Two" },
      { role: "user", content: [{ type: "input_text", text: "Three" }] },
    ];
    const { id } = (await call("/conversations", { items })).body;
    const { data } = (await call(`/conversations/${id}/items?order=asc`)).body;
    const message = { id: expect.stringMatching(/^msg_/), type: "message", status: "completed" };
    expect(data).toEqual([
      { ...message, role: "user", content: [{ type: "input_text", text: "One" }] },
      { ...message, role: "assistant", content: [{ type: "output_text", text: "Two", annotations: [] }] },
      { ...message, role: "user", content: [{ type: "input_text", text: "Three" }] },
    ]);
    expect((await call(`/conversations/${id}/items/${data[0].id}`)).body).toEqual(data[0]);
    // Vendors get them as they were sent.
    vendor.perform(healthy("Alpha"));
    await respond({ input: "Four", conversation: id });
    expect(sentMessages().map(([, text]) => text)).toEqual(["One", "Two", "Three", "Four"]);
  });

  test("is used by one response at a time", async () => {
    const { id } = (await call("/conversations", {})).body;
    vendor.perform(async (one) => {
      await one.gate();
      await healthy("Alpha")(one);
    });
    const first = respond({ input: "One", conversation: id });
    const waiting = await vendor.call(0);
    await waiting.atGate;
    expect((await respond({ input: "Two", conversation: id })).status).toBe(409);
    waiting.openGate();
    expect((await first).status).toBe(200);
    vendor.perform(healthy("Beta"));
    expect((await respond({ input: "Two", conversation: id })).status).toBe(200);
  });

  test("is free again after a response that failed or whose client has left", async () => {
    const { id } = (await call("/conversations", {})).body;
    vendor.perform((one) => one.respond(400, { error: { message: "no" } }));
    expect((await respond({ input: "One", conversation: id })).status).toBe(400);
    vendor.perform(async (one) => {
      await one.begin();
      await one.events(chunkOf({ content: "Al" }));
      await one.gate();
    });
    const controller = new AbortController();
    const stream = await fetch(`${gateway.base}/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "acme/model", input: "Two", conversation: id, stream: true }),
      signal: controller.signal,
    });
    await stream.body?.getReader().read();
    controller.abort();
    await (await vendor.call(0)).connection.closed;
    vendor.perform(healthy("Beta"));
    let status = 409;
    for (let tries = 0; tries < 100 && status === 409; tries++)
      ({ status } = await respond({ input: "Three", conversation: id }));
    expect(status).toBe(200);
    const list = (await call(`/conversations/${id}/items?order=asc`)).body.data;
    expect(list.map((item: { role: string }) => item.role)).toEqual(["user", "assistant"]);
  });
});

describe("a compaction", () => {
  test("of a model that has none is a handover that any model reads again", async () => {
    vendor.perform(healthy("We agreed on Tuesday."));
    const input = [
      { role: "user", content: "Launch on Tuesday." },
      { role: "assistant", content: "Noted." },
    ];
    const { status, body } = await call("/responses/compact", { model: "acme/model", input });
    expect([status, body.object, body.output.length]).toEqual([200, "response.compaction", 1]);
    const [item] = body.output;
    expect(item.type).toBe("compaction");
    expect(item.encrypted_content).toMatch(/^gwc1\./);
    expect(JSON.stringify(item)).not.toContain("Tuesday");
    vendor.perform(healthy("Alpha"));
    await respond({ input: [item, { role: "user", content: "When?" }] });
    expect(JSON.stringify(sentMessages()[0])).toContain("We agreed on Tuesday.");
    const other = await respond({ input: [item, { role: "user", content: "When?" }] }, { as: otherKey });
    expect([other.status, other.body.error.param]).toEqual([400, "input"]);
  });

  test("that Anthropic has made is a text for other vendors, and one that OpenAI has made is an error", async () => {
    vendor.perform(healthy("Alpha"));
    const content = [{ type: "compaction", content: "We agreed on Tuesday." }];
    const messages = [
      { role: "user", content: "Go on." },
      { role: "assistant", content },
      { role: "user", content: "When?" },
    ];
    expect((await call("/messages", { model: "acme/model", max_tokens: 100, messages })).status).toBe(200);
    expect(JSON.stringify(sentMessages()[1])).toContain("We agreed on Tuesday.");
    const input = [
      { type: "compaction", encrypted_content: "abc" },
      { role: "user", content: "When?" },
    ];
    const { status, body } = await respond({ input });
    expect([status, body.error.message]).toEqual([
      400,
      expect.stringContaining("only the vendor which made"),
    ]);
  });

  test("with a trigger is streamed as one item, as Codex expects", async () => {
    vendor.perform(healthy("Handover."));
    const input = [{ type: "message", role: "user", content: "Hi" }, { type: "compaction_trigger" }];
    const { text } = await respond({ input, stream: true, store: false });
    const events = eventsOf(text);
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([0, 1, 2, 3, 4]);
    expect(events.at(-1).response.output).toMatchObject([{ type: "compaction" }]);
  });

  test("in a chain stands for everything before it", async () => {
    vendor.perform(healthy("Handover."));
    const one = (await respond({ input: "One", store: true })).body;
    const compacted = (
      await respond({ input: [{ type: "compaction_trigger" }], store: true, previous_response_id: one.id })
    ).body;
    expect(compacted.output).toMatchObject([{ type: "compaction" }]);
    await respond({ input: "Two", previous_response_id: compacted.id });
    expect(JSON.stringify(sentMessages())).not.toContain("One");
    expect(JSON.stringify(sentMessages()[0])).toContain("Handover.");
  });

  test("without a handover is an error", async () => {
    const choice = { index: 0, finish_reason: "length", message: { role: "assistant", content: "We ag" } };
    vendor.perform((one) => one.respond(200, { choices: [choice], usage: USAGE }));
    expect((await call("/responses/compact", { model: "acme/model", input: "Hi" })).status).toBe(502);
  });
});
