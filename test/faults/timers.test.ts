import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { turnEventLoop } from "../support/event-loop.ts";
import { postChat } from "../support/gateway/gateway.ts";
import { chunkOf, opening, textOf } from "../support/vendors/vendor.ts";
import { fetchRecord, PROMPT, startTwoVendors, type TwoVendors } from "./two-vendors.ts";

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors();
});
afterAll(() => vendors.stop());
beforeEach(() => vendors.reset());

const messages = [{ role: "user", content: PROMPT }];

describe("a stream", () => {
  test("that is never silent for a minute is ended when the whole request has taken 15 minutes", async () => {
    const { a, clock, gateway } = vendors;
    a.perform(async (call) => {
      await call.begin();
      await call.events(...opening("0"));
      await call.gate();
    });
    const response = await postChat(gateway, { model: "acme/both", stream: true, messages });
    const reader = response.body!.getReader();
    const nextText = async () => Buffer.from((await reader.read()).value ?? []).toString("utf8");
    await nextText();
    const call = await a.call(0);
    const STEP_MS = 50_000;
    for (let passedMs = STEP_MS; passedMs < 900_000; passedMs += STEP_MS) {
      clock.advance(STEP_MS);
      const word = `[${passedMs}]`;
      await call.events(textOf(word));
      let text = "";
      while (!text.includes(word)) text += await nextText();
      expect(text).not.toContain('"error"');
      await turnEventLoop();
    }
    clock.advance(STEP_MS);
    let end = "";
    for (let text = await nextText(); text !== ""; text = await nextText()) end += text;
    expect(end).toContain('data: {"error":');
    expect(end).not.toContain("[DONE]");
    await call.connection.closed;
    const id = response.headers.get("x-gateway-generation-id") as string;
    expect(await fetchRecord(gateway, id)).toMatchObject({ outcome: "failed", error_type: "unavailable" });
  });

  test("is tried at other candidates no longer than the whole request may take", async () => {
    const { a, b, clock, gateway } = vendors;
    a.perform((call) => call.gate());
    b.perform((call) => call.gate());
    const pending = postChat(gateway, { model: "acme/both", stream: true, messages });
    await (await a.call(0)).atGate;
    clock.advance(119_999);
    await turnEventLoop();
    expect(b.calls).toHaveLength(0);
    clock.advance(1);
    const second = await b.call(0);
    await (await a.call(0)).connection.closed;
    await second.atGate;
    clock.advance(120_000);
    const response = await pending;
    expect(response.status).toBe(503);
    expect(response.headers.get("x-gateway-attempts")).toBe("2");
    await second.connection.closed;
  });

  test("with two choices has one finish reason for each, however often the vendor sends it", async () => {
    const { a, gateway } = vendors;
    const of = (index: number, delta: object, finish: string | null = null) => ({
      ...chunkOf({}),
      choices: [{ index, delta, finish_reason: finish }],
    });
    a.perform(async (call) => {
      await call.begin();
      await call.events(
        of(0, { role: "assistant", content: "one" }),
        of(1, { role: "assistant", content: "two" }),
        of(0, {}, "stop"),
        of(1, { content: " more" }),
        of(0, {}, "stop"),
        of(1, {}, "length"),
        of(1, {}, "stop"),
        "[DONE]",
      );
      await call.end();
    });
    const response = await postChat(gateway, { model: "acme/both", n: 2, stream: true, messages });
    const text = await response.text();
    const chunks = text
      .split("\n\n")
      .filter((block) => block.startsWith("data: {"))
      .map((block) => JSON.parse(block.slice("data: ".length)));
    const finishes = chunks.flatMap((chunk) =>
      chunk.choices
        .filter((choice: { finish_reason: string | null }) => choice.finish_reason !== null)
        .map((choice: { index: number; finish_reason: string }) => [choice.index, choice.finish_reason]),
    );
    expect(finishes).toEqual([
      [0, "stop"],
      [1, "length"],
    ]);
    expect(text).toEndWith("data: [DONE]\n\n");
  });

  test("with two choices is broken if one of them has no finish reason", async () => {
    const { a, gateway } = vendors;
    a.perform(async (call) => {
      await call.begin();
      await call.events(
        { ...chunkOf({}), choices: [{ index: 0, delta: { content: "one" }, finish_reason: "stop" }] },
        { ...chunkOf({}), choices: [{ index: 1, delta: { content: "two" }, finish_reason: null }] },
      );
      await call.gate();
      await call.end();
    });
    const response = await postChat(gateway, { model: "acme/both", n: 2, stream: true, messages });
    (await a.call(0)).openGate();
    const text = await response.text();
    expect(text).toContain('data: {"error":');
    expect(text).not.toContain("[DONE]");
  });
  test("with a finish reason waits 5 seconds for the end marker, and not for the silence deadline", async () => {
    const { a, clock, gateway } = vendors;
    a.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha one"), chunkOf({}, "stop"));
      await call.gate();
    });
    const response = await postChat(gateway, { model: "acme/both", stream: true, messages });
    const reader = response.body!.getReader();
    await reader.read();
    await (await a.call(0)).atGate;
    let text = "";
    const rest = (async () => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        text += Buffer.from(next.value).toString("utf8");
      }
    })();
    await turnEventLoop();
    clock.advance(5_000);
    await rest;
    expect(text).toContain('"finish_reason":"stop"');
    expect(text).toEndWith("data: [DONE]\n\n");
  });
});

describe("a rejection by the vendor", () => {
  test.each([true, false])(
    "whose body never arrives is classified by its status after 3 seconds (stream: %p)",
    async (stream) => {
      const { a, b, clock, gateway } = vendors;
      a.perform(async (call) => {
        await call.begin(500);
        await call.piece('{"error": {"mess');
        await call.gate();
      });
      const pending = postChat(gateway, { model: "acme/both", stream, messages });
      await (await a.call(0)).atGate;
      await turnEventLoop();
      clock.advance(2_999);
      await turnEventLoop();
      expect(b.calls).toHaveLength(0);
      clock.advance(1);
      const response = await pending;
      expect(response.status).toBe(200);
      expect(response.headers.get("x-gateway-provider")).toBe("vendor-b");
      await response.text();
    },
  );
});
