import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { COST, fetchRecord, startTwoVendors, type TwoVendors } from "../../faults/two-vendors.ts";
import {
  type Frame,
  openSocket,
  type SocketClient,
  type SocketOptions,
} from "../../support/clients/socket-client.ts";
import { waitFor } from "../../support/event-loop.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { scrape } from "../../support/servers/scrape.ts";
import { closing, healthy, opening, type Play, textOf } from "../../support/vendors/vendor.ts";

const ASK = { model: "acme/alone", input: "Hi" };

let vendors: TwoVendors;
const open: SocketClient[] = [];

beforeAll(async () => {
  vendors = await startTwoVendors("limits: {body_bytes: 20000}");
});
afterAll(() => vendors.stop());
beforeEach(() => {
  vendors.reset();
  vendors.gateway.log.length = 0;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function connect(options?: SocketOptions): Promise<SocketClient> {
  const client = await openSocket(vendors.gateway, options);
  open.push(client);
  return client;
}

const admin = (method: string, path: string, body?: unknown) =>
  callAdmin(vendors.gateway, vendors.gateway.adminKey, method, path, body);

/** Returns a generation as the operator sees it, once it was saved. */
const findGeneration = (id: string) =>
  waitFor(async () => {
    const { status, data } = await admin("GET", `/generations/${id}`);
    return status === 200 ? data : null;
  });

/** Waits for the log line of a request, which is written after its last event. */
const lineOf = (find: (fields: Frame) => boolean) =>
  waitFor(
    () =>
      vendors.gateway.log.find(({ event, fields }) => event === "request" && find(fields))?.fields ?? null,
  );

const typesOf = (frames: readonly Frame[]) => frames.map(({ type }) => type as string);

/** Speaks once the test opens the gate. */
const speakLate: Play = async (call) => {
  await call.begin();
  await call.events(...opening("Alpha"));
  await call.gate();
  await call.events(textOf(" two"), ...closing());
  await call.end();
};

/** Returns a frame without what differs between two answers. */
function withoutIds(frame: Frame): unknown {
  return JSON.parse(JSON.stringify(frame).replace(/gen_\w{26}/g, "gen"));
}

describe("a frame that asks for a response", () => {
  test("is answered with the events that a request over HTTP gets, one in each frame", async () => {
    const client = await connect();
    const frames = await client.turn(ASK);
    const response = await fetch(`${vendors.gateway.base}/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${vendors.gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...ASK, stream: true }),
    });
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
    // A WebSocket has no marker for the end of a stream.
    expect(lines.pop()).toBe("data: [DONE]");
    const events = lines.map((line) => JSON.parse(line.slice("data: ".length)) as Frame);
    expect(frames.map(withoutIds)).toEqual(events.map(withoutIds));
    expect(typesOf(frames).at(-1)).toBe("response.completed");
  });

  test("is a generation of its own, with its record and its exact charge", async () => {
    const tools = createAccountTools(vendors.gateway);
    const account = await tools.user("Socket", { overdraft: null });
    const client = await connect({ key: await tools.key(account) });
    const ids: string[] = [];
    for (let turn = 0; turn < 3; turn++) ids.push((await client.ask(ASK))["response"].id);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect((await findGeneration(id))["total_cost_nanodollars"]).toBe(COST["vendor-a"]);
    const { rows } = await admin("GET", `/accounts/${account}/ledger`);
    expect(rows.map(({ amount_nanodollars }) => amount_nanodollars)).toEqual(
      Array(3).fill(-COST["vendor-a"]),
    );
  });

  test("is logged as a request, with its transport", async () => {
    const client = await connect({ headers: { "user-agent": "codex_cli_rs/0.169.0" } });
    const { response } = await client.ask(ASK);
    expect(await lineOf(({ generation_id }) => generation_id === response.id)).toMatchObject({
      route: "/responses",
      transport: "websocket",
      status: 200,
      streamed: true,
      outcome: "completed",
    });
  });

  test("has the session, the tags and the client of the upgrade", async () => {
    const headers = {
      "user-agent": "codex_cli_rs/0.169.0",
      session_id: "thread-1",
      "x-gateway-tags": "team-a",
    };
    const client = await connect({ headers });
    const { response } = await client.ask(ASK);
    await lineOf(({ generation_id }) => generation_id === response.id);
    expect(await findGeneration(response.id)).toMatchObject({ client: "codex", tags: ["team-a"] });
  });

  test("gets the errors of a request as a frame, with the headers that clients read, and is recorded", async () => {
    const client = await connect();
    const error = await client.ask({ ...ASK, model: "acme/none" });
    expect(error).toMatchObject({
      type: "error",
      status: 400,
      error: { type: "invalid_request_error", code: "model_not_found" },
    });
    const id = error["headers"]["x-request-id"];
    expect((await admin("GET", `/rejections/${id}`)).data).toMatchObject({
      api: "responses",
      requested_model: "acme/none",
      status: 400,
    });
    // The connection goes on.
    expect((await client.ask(ASK))["response"]).toMatchObject({ status: "completed" });
  });

  test("gets a 429 with the time to wait when a rate limit of its key is used up", async () => {
    const tools = createAccountTools(vendors.gateway);
    const limits = { rate_limit: { requests_per_minute: 1 } };
    const key = await tools.key(await tools.user("Limited", { overdraft: null }), limits);
    const client = await connect({ key });
    await client.ask(ASK);
    expect(await client.ask(ASK)).toMatchObject({
      status: 429,
      error: { code: "rate_limit_exceeded", metadata: { limit_source: "key" } },
      headers: { "retry-after": "60", "x-ratelimit-limit-requests": "1" },
    });
  });

  test("gets a 402 when its account has no credits", async () => {
    const tools = createAccountTools(vendors.gateway);
    const client = await connect({ key: await tools.key(await tools.user("Poor", { overdraft: 0 })) });
    expect(await client.ask(ASK)).toMatchObject({ status: 402, error: { code: "insufficient_quota" } });
  });

  test("gets a 401 once its key is revoked, on a connection that stays open", async () => {
    const tools = createAccountTools(vendors.gateway);
    const account = await tools.user("Leaver", { overdraft: null });
    const client = await connect({ key: await tools.key(account) });
    expect((await client.ask(ASK))["response"]).toMatchObject({ status: "completed" });
    const { rows } = await admin("GET", `/keys?account_id=${account}`);
    await admin("DELETE", `/keys/${rows[0]?.id}`);
    const calls = vendors.a.calls.length;
    for (let turn = 0; turn < 2; turn++)
      expect(await client.ask({ ...ASK, stream_id: "main" })).toMatchObject({
        status: 401,
        stream_id: "main",
        error: { code: "invalid_api_key" },
      });
    expect(vendors.a.calls.length).toBe(calls);
  });

  test("gets the failure of a vendor as a frame", async () => {
    vendors.a.perform((call) => call.respond(400, { error: { message: "bad words" } }));
    const client = await connect();
    expect(await client.ask(ASK)).toMatchObject({ type: "error", status: 400, error: { param: null } });
  });

  test("whose answer breaks off gets response.failed, and the connection goes on", async () => {
    vendors.a.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"));
      call.connection.reset();
    });
    const client = await connect();
    expect(await client.ask(ASK)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
    vendors.a.perform(healthy("Alpha"));
    expect((await client.ask(ASK))["response"]).toMatchObject({ status: "completed" });
  });
});

describe("the frames of one connection", () => {
  test("are answered one after the other, in their order", async () => {
    vendors.a.perform(speakLate);
    const client = await connect();
    for (const name of ["one", "two", "three"])
      client.send({ type: "response.create", ...ASK, input: name, stream_id: name });
    for (const [at, name] of ["one", "two", "three"].entries()) {
      const call = await vendors.a.call(at);
      expect(vendors.a.calls).toHaveLength(at + 1);
      call.openGate();
      const frames = await client.readTurn();
      expect(new Set(frames.map(({ stream_id }) => stream_id))).toEqual(new Set([name]));
      expect(JSON.stringify(call.body["messages"])).toContain(name);
    }
  });

  test("wait in a bounded queue, and those beyond it get an error at once", async () => {
    vendors.a.perform(speakLate);
    const client = await connect();
    client.send({ type: "response.create", ...ASK });
    const call = await vendors.a.call(0);
    for (let at = 0; at < 33; at++) client.send({ type: "response.create", ...ASK });
    let frame = await client.next();
    while (frame["type"] !== "error") frame = await client.next();
    expect(frame).toMatchObject({
      status: 429,
      error: { metadata: { limit_source: "key", limit_kind: "waiting_frames", limit: 32 } },
    });
    vendors.a.perform(speakLate);
    call.openGate();
    await client.close();
  });

  test("may be acknowledgements, which get no answer", async () => {
    const client = await connect();
    const { response } = await client.ask(ASK);
    client.send({ type: "response.processed", response_id: response.id });
    expect((await client.turn(ASK))[0]).toMatchObject({ type: "response.created" });
  });

  test.each([
    ["bytes", new Uint8Array([1, 2, 3])],
    ["text that is not JSON", "{"],
    ["an event that is not known", { type: "response.cancel" }],
    ["an answer in one piece", { type: "response.create", ...ASK, stream: false }],
    ["a background response", { type: "response.create", ...ASK, background: true }],
    ["options of a stream", { type: "response.create", ...ASK, stream_options: {} }],
  ])("that are %s get a 400, and the connection goes on", async (_, frame) => {
    const client = await connect();
    client.send(frame);
    expect(await client.next()).toMatchObject({
      type: "error",
      status: 400,
      error: { code: "invalid_request" },
    });
    expect((await client.ask(ASK))["response"]).toMatchObject({ status: "completed" });
  });

  test("close the connection with the code 1009 if one is larger than limits.body_bytes", async () => {
    const client = await connect();
    client.send({ type: "response.create", ...ASK, input: "x".repeat(20_000) });
    expect((await client.closed).code).toBe(1009);
  });

  test("are counted", async () => {
    const client = await connect();
    const before = await scrape(vendors.gateway);
    const frames = await client.turn(ASK);
    const after = await scrape(vendors.gateway);
    const grown = (direction: string) =>
      (after.value("gateway_websocket_frames_total", { direction }) ?? 0) -
      (before.value("gateway_websocket_frames_total", { direction }) ?? 0);
    expect([after.value("gateway_websockets"), grown("received"), grown("sent")]).toEqual([
      1,
      1,
      frames.length,
    ]);
  });
});

describe("a request with generate: false", () => {
  const WARM = { ...ASK, generate: false };

  test("is answered without a call, a record or a charge, and its response can be continued", async () => {
    const client = await connect();
    const frames = await client.turn({ ...WARM, input: "The word is cobalt.", stream: true, store: false });
    expect(typesOf(frames)).toEqual(["response.created", "response.in_progress", "response.completed"]);
    const { response } = frames.at(-1) as Frame;
    expect(response).toMatchObject({ status: "completed", output: [], usage: { total_tokens: 0 } });
    expect(vendors.a.calls).toHaveLength(0);
    expect((await admin("GET", "/generations?limit=100")).rows.map(({ id }) => id)).not.toContain(
      response.id,
    );
    // Codex sends no further items if the first turn has the same input.
    const next = await client.ask({ ...ASK, input: [], previous_response_id: response.id });
    expect(next["response"]).toMatchObject({ status: "completed", previous_response_id: response.id });
    expect((await vendors.a.call(0)).body["messages"]).toEqual([
      { role: "user", content: "The word is cobalt." },
    ]);
    expect(
      await lineOf(({ status, generation_id }) => status === 200 && generation_id === undefined),
    ).toMatchObject({
      transport: "websocket",
      route: "/responses",
    });
  });

  test("may have no input yet", async () => {
    const client = await connect();
    const { response } = await client.ask({ ...WARM, input: [] });
    const next = await client.ask({ ...ASK, previous_response_id: response.id });
    expect(next["response"]).toMatchObject({ status: "completed" });
  });

  test("is checked as any request: its model, its key and its limits", async () => {
    const client = await connect();
    expect(await client.ask({ ...WARM, model: "acme/none" })).toMatchObject({ status: 400 });
    expect(await client.ask({ ...WARM, temperature: "hot" })).toMatchObject({ status: 400 });
    const anonymous = await connect({ key: null });
    expect(await anonymous.ask(WARM)).toMatchObject({ status: 401 });
    const tools = createAccountTools(vendors.gateway);
    const limits = { rate_limit: { requests_per_minute: 1 } };
    const limited = await connect({ key: await tools.key(await tools.user(), limits) });
    expect(await limited.ask(WARM)).toMatchObject({ type: "response.completed" });
    expect(await limited.ask(WARM)).toMatchObject({ status: 429 });
  });
});

test("the record of a frame is what its caller reads of any generation", async () => {
  const client = await connect();
  const { response } = await client.ask(ASK);
  const record = await waitFor(async () => (await fetchRecord(vendors.gateway, response.id)) ?? null);
  expect(record).toMatchObject({ id: response.id, streamed: true, tokens_prompt: 10, tokens_completion: 5 });
});
