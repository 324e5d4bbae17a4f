import { describe, expect, test } from "bun:test";
import type { Fields } from "../../../src/base/json/fields.ts";
import { ByteOutput } from "../../../src/base/text/byte-output.ts";
import { relayMessagesAnswer } from "../../../src/wire/anthropic-messages/passthrough/relay-response.ts";
import { MessagesRelay } from "../../../src/wire/anthropic-messages/passthrough/relay-stream.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/translate/codec.ts";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import { endWith } from "../../support/vendors/answer-end.ts";
import { ASKED, collectBlocks, IDENTITY, parseStream, readAll, stream } from "./support.ts";

const START: Fields = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 5, output_tokens: 1 },
    new: 1,
  },
};
const TEXT: readonly Fields[] = [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "ping" },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: 'Hé "you"' } },
  { type: "content_block_stop", index: 0 },
];
const DELTA: Fields = {
  type: "message_delta",
  delta: { stop_reason: "end_turn", stop_sequence: null, container: { id: "c" } },
  usage: { output_tokens: 4, server_tool_use: { web_search_requests: 1 } },
  context_management: { applied_edits: [] },
};
const STOP: Fields = { type: "message_stop" };

function relay(text: string, identity = IDENTITY) {
  const relay = new MessagesRelay(identity, ASKED.estimatedPromptTokens);
  const out = relay.step(text) + relay.end();
  return { relay, out };
}

/** Prints JSON as Python does. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${spaced(member)}`);
  return `{${members.join(", ")}}`;
}

/** Returns an object, and the objects in it, with their members in the opposite order. */
function reverse(value: object): object {
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(
    entries.map(([name, member]) => [name, typeof member === "object" ? reverse(member) : member]),
  );
}

describe("relaying a Messages stream", () => {
  test("only id, model, price and metadata are changed", () => {
    const { relay: passed, out } = relay(stream(START, ...TEXT, DELTA, STOP));
    expect(passed.finish()).toEqual({ client: "stop", native: "end_turn" });
    const events = parseStream(out + passed.encodeEnd(endWith(passed.usage, { a: 1 }))).map(
      ({ data }) => data,
    );
    expect(events[0]?.["message"]).toMatchObject({
      id: "gen_test",
      model: "anthropic/test",
      new: 1,
      usage: { input_tokens: 5 },
    });
    expect(events.slice(1, 5)).toEqual([...TEXT]);
    expect(events[5]).toMatchObject({
      delta: { stop_reason: "end_turn", container: { id: "c" } },
      usage: { input_tokens: 5, output_tokens: 4, server_tool_use: { web_search_requests: 1 }, cost: 0.25 },
      context_management: { applied_edits: [] },
      gateway_metadata: { a: 1 },
    });
    expect(events[6]).toEqual(STOP);
    expect(passed.usage).toMatchObject({ promptTokens: 5, completionTokens: 4 });
    expect(passed.producedBytes).toBeGreaterThan(5);
  });

  test("tool calls get the client's ids back, and missing ids are made", () => {
    const call = (index: number, id: string) => ({
      type: "content_block_start",
      index,
      content_block: { type: "tool_use", id, name: "f", input: {}, caller: { type: "direct" } },
    });
    const stop = (index: number) => ({ type: "content_block_stop", index });
    const identity = { ...IDENTITY, originalIds: new Map([["sent", "mine.1"]]) };
    const { out } = relay(
      stream(START, call(0, "sent"), stop(0), call(1, "other"), stop(1), call(2, ""), stop(2)),
      identity,
    );
    expect(collectBlocks(out).map((block) => [block["id"], block["caller"]])).toEqual([
      ["mine.1", { type: "direct" }],
      ["other", { type: "direct" }],
      ["call_made", { type: "direct" }],
    ]);
  });

  test.each<[string, readonly Fields[], string]>([
    ["whole", [START, ...TEXT, DELTA, STOP], "complete"],
    ["without its end marker", [START, ...TEXT, DELTA], "complete"],
    ["without a stop reason", [START, ...TEXT, STOP], "complete"],
    ["cut off after text", [START, ...TEXT], "unfinished"],
    ["cut off before any text", [START], "unfinished"],
    ["without events", [], "unfinished"],
    [
      "finished without text",
      [{ type: "message_start", message: {} }, { ...DELTA, usage: {} }, STOP],
      "empty",
    ],
    ["a refusal without text", [START, { ...DELTA, delta: { stop_reason: "refusal" } }, STOP], "complete"],
    [
      "with an error event",
      [START, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
      "failed",
    ],
    ["restarted after text", [START, ...TEXT, START], "failed"],
    ["with a repeated start", [START, START, ...TEXT, DELTA, STOP], "complete"],
  ])("the end of a stream is classified: %s", (_name, events, ending) => {
    expect(relay(stream(...events)).relay.classifyEnd()).toBe(ending as never);
  });

  test("an error event has the vendor's meaning, in the relay and in the reader", () => {
    const text = stream(START, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
    expect(relay(text).relay.error).toMatchObject({ meaning: "overloaded", message: "Overloaded" });
    const events = readAll(anthropicMessages.createReader(), [text]);
    expect(events.at(-1)).toMatchObject({ kind: "error", error: { meaning: "overloaded" } });
  });

  test("a stream with an event that is not JSON has failed", () => {
    expect(relay(`${stream(START)}event: content_block_start\ndata: {oops\n\n`).relay.classifyEnd()).toBe(
      "failed",
    );
  });

  test("a signature does not count as a token", () => {
    const thinking = [
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "thinking", thinking: "", signature: "" },
      },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "abc" } },
    ];
    expect(relay(stream(START, ...thinking)).relay.sawToken).toBe(false);
    expect(relay(stream(START, ...TEXT.slice(0, 3))).relay.sawToken).toBe(true);
  });

  /** Ways to print an event. */
  const SPELLINGS: readonly (readonly [string, (event: Fields) => string])[] = [
    ["without white space", (event) => JSON.stringify(event)],
    ["with a space after each comma and colon", (event) => spaced(event)],
    ["with fields in the opposite order", (event) => JSON.stringify(reverse(event))],
    ["with a field behind its delta", (event) => JSON.stringify({ ...event, p: "a" })],
  ];

  const textDelta = (value: string) => ({ type: "text_delta", text: value });
  test.each(SPELLINGS)(
    "the text of a delta counts as a token, and nothing else, if it is printed %s",
    (_, print) => {
      const read = (delta: Fields) => {
        const event = { type: "content_block_delta", index: 0, delta };
        const begin = stream(START, TEXT[0] as Fields);
        const end = stream({ ...DELTA, usage: {} }, STOP);
        const named = `event: content_block_delta\ndata: ${print(event)}\n\n`;
        const { sawToken, producedBytes } = relay(begin + named).relay;
        return [sawToken, producedBytes, relay(begin + named + end).relay.classifyEnd()];
      };
      expect(read(textDelta("Hello"))).toEqual([true, 5, "complete"]);
      expect(read(textDelta(""))).toEqual([false, 0, "empty"]);
      expect(read({ type: "signature_delta", signature: "abc" })).toEqual([false, 3, "empty"]);
      expect(read({ type: "input_json_delta", partial_json: "{}" })).toEqual([true, 2, "complete"]);
      const [sawArguments, size] = read({ type: "input_json_delta", partial_json: '{"city":' });
      expect(sawArguments).toBe(true);
      expect(size).toBeWithin(8, 11);
      const [sawCitation] = read({ type: "citations_delta", citation: { type: "page_location", start: 1 } });
      expect(sawCitation).toBe(true);
    },
  );

  test("a delta without a text is passed on, and is no token", () => {
    const bare = [{ type: "text_delta", text: null }, null, "text"].map((delta) => ({
      type: "content_block_delta",
      index: 0,
      delta,
    }));
    const { relay: passed, out } = relay(stream(START, ...bare));
    expect([passed.sawToken, passed.producedBytes]).toEqual([false, 0]);
    expect(
      parseStream(out)
        .map(({ data }) => data)
        .slice(1),
    ).toEqual(bare);
  });

  test("a block that the vendor left open is closed", () => {
    const { relay: passed, out } = relay(stream(START, ...TEXT.slice(0, 3), DELTA, STOP));
    const names = parseStream(out + passed.encodeEnd(endWith(null))).map(({ name }) => name);
    expect(names.slice(-3)).toEqual(["content_block_stop", "message_delta", "message_stop"]);
  });

  test("events without names and with fields in another order are read", () => {
    const events = [START, ...TEXT, DELTA, STOP].map((event) =>
      Object.fromEntries(Object.entries(event).reverse()),
    );
    const bare = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const { relay: passed, out } = relay(Buffer.from(bare).toString("latin1"));
    expect([passed.classifyEnd(), collectBlocks(out)]).toEqual([
      "complete",
      [{ type: "text", text: 'Hé "you"' }],
    ]);
  });
});

describe("reading a Messages stream", () => {
  const open = (content_block: Fields): Fields => ({ type: "content_block_start", index: 0, content_block });
  const call = (id: string) => open({ type: "tool_use", id, name: "f", input: {} });
  const append = (delta: Fields): Fields => ({ type: "content_block_delta", index: 0, delta });

  test("a block ends where the next one begins with its index, and at the end of the stream", () => {
    const text = append({ type: "text_delta", text: "a" });
    const input = append({ type: "input_json_delta", partial_json: '{"b":1}' });
    const blocks = [open({ type: "text", text: "" }), text, call("c1"), call("c2"), input];
    const events = readAll(anthropicMessages.createReader(), [stream(START, ...blocks, DELTA, STOP)]);
    const places = events.filter(({ kind }) => kind === "part-start" || kind === "part-end");
    expect(places.map((event) => [event.kind, "at" in event && event.at])).toEqual([
      ["part-start", 0],
      ["part-end", 0],
      ["part-start", 1],
      ["part-end", 1],
      ["part-start", 2],
      ["part-end", 2],
    ]);
    expect(collectAnswer(events).choices[0]?.parts).toMatchObject([
      { kind: "text", text: "a" },
      { kind: "tool-call", id: "c1", arguments: "{}" },
      { kind: "tool-call", id: "c2", arguments: '{"b":1}' },
    ]);
  });
});

describe("token counters in several events of a Messages stream", () => {
  test.each<[string, Fields, Fields, Fields]>([
    [
      "input tokens in the first event, output tokens in the last",
      { input_tokens: 5, output_tokens: 1 },
      { output_tokens: 9 },
      { promptTokens: 5, completionTokens: 9 },
    ],
    [
      "zeros in the last event",
      { input_tokens: 5 },
      { input_tokens: 0, output_tokens: 9 },
      { promptTokens: 5, completionTokens: 9 },
    ],
    [
      "a corrected count in the last event",
      { input_tokens: 43 },
      { input_tokens: 61, output_tokens: 2 },
      { promptTokens: 61 },
    ],
    [
      "a cache read in the last event",
      { input_tokens: 100 },
      { input_tokens: 0, cache_read_input_tokens: 90, cache_creation_input_tokens: 10, output_tokens: 1 },
      { promptTokens: 100, cachedTokens: 90, cacheWriteTokens: 10 },
    ],
    [
      "a cache write of one hour",
      {
        input_tokens: 1,
        cache_creation_input_tokens: 8,
        cache_creation: { ephemeral_1h_input_tokens: 6, ephemeral_5m_input_tokens: 2 },
      },
      { output_tokens: 1 },
      { promptTokens: 9, cacheWriteTokens: 8, cacheWrite1hTokens: 6 },
    ],
    [
      "a compaction before the answer",
      { input_tokens: 900 },
      {
        input_tokens: 50,
        output_tokens: 7,
        iterations: [
          { type: "compaction", input_tokens: 900, output_tokens: 30 },
          { type: "message", input_tokens: 50, output_tokens: 7 },
        ],
      },
      { promptTokens: 950, completionTokens: 37 },
    ],
  ])("%s", (_name, first, last, expected) => {
    const text = stream(
      { type: "message_start", message: { usage: first } },
      ...TEXT,
      { ...DELTA, usage: last },
      STOP,
    );
    expect(relay(text).relay.usage).toMatchObject(expected);
    expect(collectAnswer(readAll(anthropicMessages.createReader(), [text])).usage).toMatchObject(expected);
  });
});

describe("copying the bytes of a Messages stream", () => {
  const delta = `event: content_block_delta\ndata: ${JSON.stringify(TEXT[2])}\n\n`;

  test.each([
    ["at the begin of a piece", "", ""],
    ["between other events", stream({ type: "ping" }), stream(STOP)],
  ])("an event with a delta is copied whole %s", (_where, before, after) => {
    const relay = new MessagesRelay(IDENTITY, 5);
    const out = new ByteOutput();
    const [from, end] = [Buffer.byteLength(before), Buffer.byteLength(before + delta)];
    expect(relay.copyEvent(Buffer.from(before + delta + after), from, out)).toBe(end);
    expect(Buffer.from(out.take()).toString("utf8")).toBe(delta);
    expect([relay.sawToken, relay.producedBytes > 0]).toEqual([true, true]);
  });

  test("an event that has not arrived whole, and one without a delta, is left to be read", () => {
    const relay = new MessagesRelay(IDENTITY, 5);
    const out = new ByteOutput();
    expect(relay.copyEvent(Buffer.from(delta.slice(0, -1)), 0, out)).toBe(0);
    expect(relay.copyEvent(Buffer.from(stream(STOP)), 0, out)).toBe(0);
    expect(out.take().length).toBe(0);
  });
});

describe("relaying a whole Messages answer", () => {
  test.each<[string, string]>([
    ["is not JSON", "<html>"],
    ["has no content", '{"type":"message"}'],
    ["is an error with status 200", '{"type":"error","error":{"type":"api_error","message":"x"}}'],
  ])("a body is an error if it %s", (_name, text) => {
    expect(relayMessagesAnswer(text, IDENTITY).kind).toBe("error");
  });

  test("an answer without content is empty even if tokens were counted", () => {
    const empty =
      '{"content":[{"type":"text","text":""}],"stop_reason":"end_turn","usage":{"output_tokens":2}}';
    expect(relayMessagesAnswer(empty, IDENTITY)).toMatchObject({ kind: "answer", isEmpty: true });
    const refused = empty.replace("end_turn", "refusal");
    expect(relayMessagesAnswer(refused, IDENTITY)).toMatchObject({ kind: "answer", isEmpty: false });
  });

  test("tool calls get the client's ids back", () => {
    const body = {
      content: [{ type: "tool_use", id: "sent", name: "f", input: { a: 1 } }],
      stop_reason: "tool_use",
      usage: { output_tokens: 1 },
    };
    const read = relayMessagesAnswer(JSON.stringify(body), {
      ...IDENTITY,
      originalIds: new Map([["sent", "mine"]]),
    });
    if (read.kind === "error") throw new Error(read.error.message);
    expect(JSON.parse(read.encode(endWith(read.usage)))).toMatchObject({
      content: [{ id: "mine", input: { a: 1 } }],
    });
  });
});
