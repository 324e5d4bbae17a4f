import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { CONNECTION_LIMIT_FRAME } from "../../../src/wire/openai-responses/socket/encode-error-frame.ts";
import {
  itemsOf,
  type OpenSite,
  startOpenSite,
  TARGETS,
  TOOL,
  textOf,
  VENDORS,
} from "../../support/open-responses/open-site.ts";
import { findFaults } from "../../support/open-responses/shapes.ts";
import { findBrokenRules, type Json } from "../../support/open-responses/stream-rules.ts";
import { SPOKEN } from "../../support/vendors/scripts/behaviors.ts";

let site: OpenSite;
beforeAll(async () => {
  site = await startOpenSite();
});
afterEach(() => site.disconnect());
afterAll(() => site.stop());

const NOT_FOUND = {
  type: "error",
  status: 400,
  error: { code: "previous_response_not_found", param: "previous_response_id" },
};

describe.each(TARGETS)("a WebSocket to $name", (target) => {
  beforeEach(() => void site.behave(target, "agent"));
  const asking = (fields: object) => ({ model: target.model, store: false, ...fields });
  const lastOf = (frames: readonly Json[]) => frames.at(-1) as Json;

  /** Checks that a frame is an error of the specification. */
  function expectError(frame: Json, expected: object): void {
    expect(findFaults("errorFrame", frame)).toEqual([]);
    expect(frame).toMatchObject(expected);
  }

  test("answers response.create with the events of a stream, and without [DONE]", async () => {
    const client = await site.connect();
    const frames = await client.turn(asking({ input: "Hello!" }));
    expect(findBrokenRules(frames)).toEqual([]);
    expect(lastOf(frames)).toMatchObject({ type: "response.completed", response: { store: false } });
    // The next frame after the terminal event belongs to the next response.
    expect((await client.turn(asking({ input: "Hello!" })))[0]?.["type"]).toBe("response.created");
  });

  test("answers one response after the other, also if both were asked for at once", async () => {
    const client = await site.connect();
    for (const input of ["One", "Two", "Three"])
      client.send({ type: "response.create", ...asking({ input }) });
    const turns = [await client.readTurn(), await client.readTurn(), await client.readTurn()];
    for (const frames of turns) expect(findBrokenRules(frames)).toEqual([]);
    const ids = turns.map((frames) => lastOf(frames)["response"].id);
    expect(new Set(ids).size).toBe(3);
  });

  test("continues its last response, of which nothing is stored", async () => {
    const client = await site.connect();
    const first = await client.ask(asking({ input: "The word is cobalt." }));
    const frames = await client.turn(
      asking({ input: "Which word?", previous_response_id: first["response"].id }),
    );
    expect(findBrokenRules(frames)).toEqual([]);
    const { response } = lastOf(frames);
    expect(response).toMatchObject({ status: "completed", previous_response_id: first["response"].id });
    const seen = target.format === null ? textOf(response) : JSON.stringify(site.vendor.calls.at(-1)?.body);
    expect(seen).toContain("The word is cobalt.");
    expect(seen).toContain(target.format === null ? "assistant: You said" : SPOKEN.join(""));
    const read = await fetch(`${site.gateway.url}/v1/responses/${response.id}`, {
      headers: { authorization: `Bearer ${site.gateway.key}` },
    });
    expect(read.status).toBe(404);
  });

  test("continues its last response with the result of its call", async () => {
    const client = await site.connect();
    const { response } = await client.ask(asking({ input: "Find it.", tools: [TOOL] }));
    const [call] = itemsOf(response, "function_call") as [Json];
    const input = [
      { type: "function_call_output", call_id: call["call_id"], output: "It is here." },
      { type: "message", role: "user", content: "Go on." },
    ];
    const next = await client.ask(asking({ input, tools: [TOOL], previous_response_id: response.id }));
    expect(itemsOf(next["response"], "message")).toHaveLength(1);
  });

  test("rejects an unknown previous_response_id, and goes on", async () => {
    const client = await site.connect();
    const [frame] = await client.turn(asking({ input: "Hi", previous_response_id: "resp_missing" }));
    expectError(frame as Json, NOT_FOUND);
    expect(await client.ask(asking({ input: "Hi" }))).toMatchObject({ type: "response.completed" });
  });

  test("rejects the response of another connection without store, and begins anew with the whole input", async () => {
    const before = await site.connect();
    const { response } = await before.ask(asking({ input: "One" }));
    await before.close();
    const client = await site.connect();
    const [frame] = await client.turn(asking({ input: "Two", previous_response_id: response.id }));
    expectError(frame as Json, NOT_FOUND);
    const whole = [{ type: "message", role: "user", content: "One" }, ...response.output];
    const input = [...whole, { type: "message", role: "user", content: "Two" }];
    expect(await client.ask(asking({ input, previous_response_id: null }))).toMatchObject({
      type: "response.completed",
      response: { previous_response_id: null },
    });
  });

  test("continues the stored response of another connection", async () => {
    const before = await site.connect();
    const { response } = await before.ask(asking({ input: "One", store: true }));
    await before.close();
    const client = await site.connect();
    const more = { input: "Two", store: true, previous_response_id: response.id };
    expect(await client.ask(asking(more))).toMatchObject({
      type: "response.completed",
      response: { store: true, previous_response_id: response.id },
    });
  });

  test("forgets a response after a continuation that was rejected", async () => {
    const client = await site.connect();
    const { response } = await client.ask(asking({ input: "One" }));
    const result = { type: "function_call_output", call_id: "call_missing", output: "none" };
    const [rejected] = await client.turn(asking({ input: [result], previous_response_id: response.id }));
    expectError(rejected as Json, { type: "error", status: 400 });
    const [gone] = await client.turn(asking({ input: "Two", previous_response_id: response.id }));
    expectError(gone as Json, NOT_FOUND);
  });

  test("forgets a response after a continuation at which the model has failed", async () => {
    const client = await site.connect();
    const { response } = await client.ask(asking({ input: "One" }));
    const marker = site.behave(target, "failure");
    const [failed] = await client.turn(asking({ input: `${marker}Two`, previous_response_id: response.id }));
    expectError(failed as Json, { type: "error", status: 502, error: { code: "server_error" } });
    site.behave(target, "agent");
    const [gone] = await client.turn(asking({ input: "Two", previous_response_id: response.id }));
    expectError(gone as Json, NOT_FOUND);
  });

  test("keeps the response if another request has failed", async () => {
    const client = await site.connect();
    const { response } = await client.ask(asking({ input: "One" }));
    await client.turn(asking({ input: "Hi", temperature: "hot" }));
    expect(await client.ask(asking({ input: "Two", previous_response_id: response.id }))).toMatchObject({
      type: "response.completed",
    });
  });

  test("announces a request with generate false, which calls no model, and continues from it", async () => {
    const client = await site.connect();
    const calls = site.vendor.calls.length;
    const frames = await client.turn(asking({ input: "The word is ember.", generate: false }));
    expect(findBrokenRules(frames)).toEqual([]);
    const { response } = lastOf(frames);
    expect(response).toMatchObject({ status: "completed", output: [], usage: { total_tokens: 0 } });
    expect(site.vendor.calls).toHaveLength(calls);
    const next = await client.ask(asking({ input: "Which?", previous_response_id: response.id }));
    const seen =
      target.format === null ? textOf(next["response"]) : JSON.stringify(site.vendor.calls.at(-1)?.body);
    expect(seen).toContain("The word is ember.");
  });

  test.each([
    ["stream", { stream: false }],
    ["stream_options", { stream_options: { include_obfuscation: false } }],
    ["background", { background: true }],
  ])("rejects %s, which belongs to HTTP, and goes on", async (_field, more) => {
    const client = await site.connect();
    const [frame] = await client.turn(asking({ input: "Hi", ...more }));
    expectError(frame as Json, { type: "error", status: 400 });
    expect(await client.ask(asking({ input: "Hi" }))).toMatchObject({ type: "response.completed" });
  });

  test.each([
    ["of another type", { type: "response.cancel" }],
    ["without a type", { input: "Hi" }],
    ["that is no JSON", "{"],
    ["that is no object", "[]"],
    ["of bytes", new Uint8Array([123, 125])],
  ])("rejects a frame %s, and goes on", async (_says, sent) => {
    const client = await site.connect();
    client.send(sent);
    expectError(await client.next(), { type: "error", status: 400 });
    expect(await client.ask(asking({ input: "Hi" }))).toMatchObject({ type: "response.completed" });
  });

  test("sends errors as frames with a status and a code", async () => {
    const client = await site.connect();
    for (const [more, status] of [
      [{ model: "acme/unknown" }, 400],
      [{ input: undefined }, 400],
      [{ input: `${site.behave(target, "limited")}Hi` }, 429],
    ] as const) {
      const [frame] = await client.turn(asking({ input: "Hi", ...more }));
      expectError(frame as Json, { type: "error", status });
    }
  });
});

describe.each(VENDORS)("a WebSocket while $name answers", (target) => {
  test("calls the vendor for the next response only when the first one has ended", async () => {
    site.behave(target, "late-failure");
    const client = await site.connect();
    const body = { type: "response.create", model: target.model, input: "Hi" };
    client.send(body);
    client.send(body);
    const call = await site.vendor.call(0);
    await call.atGate;
    expect(await client.next()).toMatchObject({ type: "response.created" });
    expect(site.vendor.calls).toHaveLength(1);
    call.openGate();
    expect((await client.readTurn()).at(-1)).toMatchObject({ type: "response.failed" });
    expect(await client.next()).toMatchObject({ type: "response.created" });
    expect(site.vendor.calls).toHaveLength(2);
    site.vendor.calls[1]?.openGate();
    await client.readTurn();
  });
});

test("a WebSocket that is 60 minutes old gets an error of the specification", () => {
  const frame = JSON.parse(CONNECTION_LIMIT_FRAME);
  expect(findFaults("errorFrame", frame)).toEqual([]);
  expect(frame).toMatchObject({ error: { code: "websocket_connection_limit_reached" } });
});
