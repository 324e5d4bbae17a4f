import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/translate/codec.ts";
import type { Answer, AnswerEvent, PartDelta } from "../../../src/wire/canonical/answer.ts";
import { replayAnswer } from "../../../src/wire/canonical/collect-answer.ts";
import type { Part } from "../../../src/wire/canonical/parts.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";
import type { Fields } from "../../../src/wire/json/fields.ts";
import { ASKED, endWith, foldBlocks, IDENTITY, parseStream } from "./support.ts";

const USAGE = {
  ...NO_TOKENS,
  promptTokens: 100,
  completionTokens: 9,
  cachedTokens: 60,
  cacheWriteTokens: 30,
  cacheWrite1hTokens: 10,
};

function write(events: Iterable<AnswerEvent>, metadata: Fields | null = null): string {
  const writer = anthropicMessages.createWriter(IDENTITY, ASKED);
  let out = "";
  for (const event of events) out += writer.step(event);
  return out + writer.end(endWith(USAGE, metadata));
}

const start = (at: number, part: Part): AnswerEvent => ({ kind: "part-start", choice: 0, at, part });
const grow = (at: number, delta: PartDelta): AnswerEvent => ({ kind: "part-delta", choice: 0, at, delta });
const text = (at: number, words: string) => grow(at, { kind: "text", text: words });
const args = (at: number, json: string) => grow(at, { kind: "arguments", text: json });
const end = (at: number): AnswerEvent => ({ kind: "part-end", choice: 0, at });
const finish = (reason: "stop" | "tool-calls" | "length"): AnswerEvent => ({
  kind: "finish",
  choice: 0,
  finish: { reason, native: "STOP", stopSequence: null },
});
const TEXT: Part = { kind: "text", text: "" };
const call = (id: string): Part => ({ kind: "tool-call", id, name: "f", tool: "function", arguments: "" });
const REASONING = {
  kind: "reasoning",
  text: "",
  isSummary: false,
  signature: null,
  encrypted: null,
  id: null,
  origin: null,
} as const;

/** The parts that a Messages client's next request brings back to the hub. */
function bringBack(content: readonly Fields[]): readonly Part[] {
  const body = { model: "m", max_tokens: 1, messages: [{ role: "assistant", content }] };
  const [message] = anthropicMessages.decodeRequest(body).messages;
  return (message?.parts ?? []).map(({ extras: _extras, ...part }) => part);
}

describe("a stream for a Messages client", () => {
  test("has the events that clients read, with usage at both ends", () => {
    const events = parseStream(write([start(0, TEXT), text(0, "Hé"), end(0), finish("length")], { a: 1 }));
    expect(events.map(({ name }) => name)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events.every(({ name, data }) => data["type"] === name)).toBe(true);
    expect(events[0]?.data["message"]).toMatchObject({
      id: "gen_test",
      type: "message",
      role: "assistant",
      model: "anthropic/test",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 7, output_tokens: 0 },
    });
    expect(events[4]?.data).toEqual({
      type: "message_delta",
      delta: { stop_reason: "max_tokens", stop_sequence: null },
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 30,
        cache_read_input_tokens: 60,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
        output_tokens: 9,
        cost: 0.25,
        cost_details: { upstream_inference_cost: 0.5 },
        is_byok: false,
      },
      gateway_metadata: { a: 1 },
    });
  });

  test("without a word still begins and ends", () => {
    const names = parseStream(write([finish("stop")])).map(({ name }) => name);
    expect(names).toEqual(["message_start", "message_delta", "message_stop"]);
  });

  test("tells parts that grow at once one after another", () => {
    const events = [
      start(0, REASONING),
      text(0, "hm"),
      start(1, TEXT),
      text(1, "a"),
      start(2, call("c1")),
      args(2, '{"x"'),
      start(3, call("c2")),
      args(3, '{"y":2}'),
      text(1, "b"),
      args(2, ":1}"),
      end(0),
      end(1),
      end(3),
      end(2),
      finish("stop"),
    ];
    const out = write(events);
    expect(foldBlocks(out)).toMatchObject([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "a" },
      { type: "tool_use", id: "c1", input: { x: 1 } },
      { type: "tool_use", id: "c2", input: { y: 2 } },
      { type: "text", text: "b" },
    ]);
    expect(parseStream(out).at(-2)?.data["delta"]).toMatchObject({ stop_reason: "tool_use" });
  });

  test("sends a text at once, although what came before it has no end yet", () => {
    const writer = anthropicMessages.createWriter(IDENTITY, ASKED);
    writer.step(start(0, REASONING));
    writer.step(text(0, "hm"));
    expect(writer.step(start(1, TEXT)) + writer.step(text(1, "now"))).toContain("now");
  });

  test("does not cut a text in two because a part before it has ended", () => {
    const events = [
      start(0, REASONING),
      text(0, "hm"),
      start(1, TEXT),
      text(1, "a"),
      end(0),
      text(1, "b"),
      end(1),
    ];
    expect(foldBlocks(write(events))).toMatchObject([{ thinking: "hm" }, { text: "ab" }]);
  });

  test("closes what the answer left open", () => {
    const out = write([start(0, call("c1")), args(0, "{}"), start(1, call("c2")), args(1, "{}")]);
    expect(foldBlocks(out)).toHaveLength(2);
  });

  test("is in order however many parts grow at once", () => {
    const step = fc.record({ at: fc.nat(4), does: fc.constantFrom("grow", "end") });
    const kinds = fc.array(fc.constantFrom<Part>(TEXT, REASONING, call("c")), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(kinds, fc.array(step, { maxLength: 40 }), (parts, steps) => {
        const events: AnswerEvent[] = [];
        const said = parts.map(() => "");
        const ended = new Set<number>();
        let started = 0;
        for (const { at: wanted, does } of steps) {
          const at = Math.min(wanted, started);
          if (at === started && started < parts.length) events.push(start(started++, parts[at] as Part));
          if (ended.has(at) || at >= started) continue;
          if (does === "end") {
            ended.add(at);
            events.push(end(at));
          } else {
            const piece = parts[at]?.kind === "tool-call" ? (said[at] === "" ? "[0" : ",0") : `${at}`;
            said[at] += piece;
            events.push(parts[at]?.kind === "tool-call" ? args(at, piece) : text(at, piece));
          }
        }
        parts.forEach((part, at) => {
          if (part.kind !== "tool-call" || said[at] === "" || ended.has(at)) return;
          events.push(args(at, "]"));
        });
        const raw = write(events.filter((event) => !isBrokenCall(event, parts, ended)));
        const blocks = foldBlocks(raw);
        const words = (kind: string, field: string) =>
          blocks
            .filter(({ type }) => type === kind)
            .map((block) => String(block[field]))
            .join("");
        const expected = (kind: string) =>
          [...said.filter((_, at) => parts[at]?.kind === kind).join("")].sort().join("");
        expect([...words("text", "text")].sort().join("")).toBe(expected("text"));
        expect([...words("thinking", "thinking")].sort().join("")).toBe(expected("reasoning"));
      }),
    );
  });

  test("ends in an error event with Anthropic's word for it", () => {
    const writer = anthropicMessages.createWriter(IDENTITY, ASKED);
    expect(parseStream(writer.fail({ message: "gone", code: 503, type: "unavailable" }))).toEqual([
      {
        name: "error",
        data: { type: "error", error: { type: "overloaded_error", message: "gone", code: 503 } },
      },
    ]);
  });
});

/** Calls that end early have arguments that nobody can parse; their pieces are left out. */
function isBrokenCall(event: AnswerEvent, parts: readonly Part[], ended: ReadonlySet<number>): boolean {
  return event.kind === "part-delta" && parts[event.at]?.kind === "tool-call" && ended.has(event.at);
}

const FOREIGN: readonly (readonly [string, readonly Part[]])[] = [
  [
    "reasoning without a proof",
    [
      { ...REASONING, text: "hm" },
      { kind: "text", text: "a" },
    ],
  ],
  ["signed reasoning", [{ ...REASONING, text: "hm", signature: "s", origin: "google-gemini-v1" }]],
  ["encrypted reasoning", [{ ...REASONING, encrypted: "e", id: "rs_1", origin: "openai-responses-v1" }]],
  [
    "a summary with what is encrypted",
    [
      {
        ...REASONING,
        text: "hm",
        isSummary: true,
        encrypted: "e",
        id: "rs_1",
        origin: "openai-responses-v1",
      },
    ],
  ],
  [
    "a proof on a call",
    [
      { kind: "text", text: "a" },
      {
        kind: "tool-call",
        id: "c",
        name: "f",
        tool: "function",
        arguments: '{"x":1}',
        signature: { value: "p", origin: "google-gemini-v1" },
      },
    ],
  ],
  [
    "a proof on a text, which may be empty",
    [
      { kind: "text", text: "a", signature: { value: "p", origin: "google-gemini-v1" } },
      { kind: "text", text: "", signature: { value: "q", origin: "google-gemini-v1" } },
    ],
  ],
];

describe("what another vendor wants back", () => {
  const answerOf = (parts: readonly Part[]): Answer => ({
    choices: [
      { index: 0, parts, finish: { reason: "stop", native: "stop", stopSequence: null }, logprobs: null },
    ],
    usage: null,
    serviceTier: null,
  });

  test.each(FOREIGN)("comes back from a Messages client: %s", (_name, parts) => {
    const body = anthropicMessages.encodeAnswer(answerOf(parts), {
      identity: IDENTITY,
      end: endWith(null),
      asked: ASKED,
    });
    expect(bringBack(body["content"] as Fields[])).toEqual([...parts]);
    expect(bringBack(foldBlocks(write(replayAnswer(answerOf(parts)))))).toEqual([...parts]);
  });

  test("comes back although it came late, on a call; on a text it is left out", () => {
    const proof = { kind: "part-signature", value: "p", origin: "google-gemini-v1" } as const;
    const out = write([
      start(0, TEXT),
      text(0, "a"),
      grow(0, proof),
      end(0),
      start(1, call("c")),
      args(1, "{}"),
      grow(1, proof),
      end(1),
    ]);
    const signature = { value: "p", origin: "google-gemini-v1" };
    expect(bringBack(foldBlocks(out))).toMatchObject([
      { kind: "text", text: "a" },
      { kind: "tool-call", id: "c", signature },
    ]);
    expect(out.match(/redacted_thinking/g)).toHaveLength(1);
  });

  test("comes back although a text had begun before it was there", () => {
    const out = write([
      start(0, { ...REASONING, id: "rs_1", origin: "openai-responses-v1" }),
      text(0, "hm"),
      start(1, TEXT),
      text(1, "a"),
      grow(0, { kind: "encrypted", value: "e" }),
      end(0),
      end(1),
    ]);
    const parts = bringBack(foldBlocks(out));
    expect(parts).toContainEqual({ ...REASONING, encrypted: "e", id: "rs_1", origin: "openai-responses-v1" });
  });

  test("never reaches an upstream of this format", () => {
    const parts = FOREIGN.flatMap(([, list]) => list);
    const body = anthropicMessages.encodeAnswer(answerOf(parts), {
      identity: IDENTITY,
      end: endWith(null),
      asked: ASKED,
    });
    const request = anthropicMessages.decodeRequest({
      model: "m",
      max_tokens: 1,
      messages: [{ role: "assistant", content: body["content"] }],
    });
    const target = { name: "m", maxOutputTokens: null, reasoning: null };
    expect(JSON.stringify(anthropicMessages.encodeRequest(request, target).body)).not.toContain("thinking");
  });
});
