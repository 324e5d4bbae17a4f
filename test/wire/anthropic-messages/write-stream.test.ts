import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Fields } from "../../../src/base/json/fields.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/translate/codec.ts";
import { replayAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import type { Answer, AnswerEvent, PartDelta } from "../../../src/wire/canonical/model/answer.ts";
import type { Part } from "../../../src/wire/canonical/model/parts.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";
import { endWith } from "../../support/vendors/answer-end.ts";
import { ASKED, collectBlocks, IDENTITY, parseStream } from "./support.ts";

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
const append = (at: number, delta: PartDelta): AnswerEvent => ({ kind: "part-delta", choice: 0, at, delta });
const text = (at: number, words: string) => append(at, { kind: "text", text: words });
const args = (at: number, json: string) => append(at, { kind: "arguments", text: json });
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

/** Returns the parts that the gateway decodes from a Messages client's next request. */
function decodeSentBack(content: readonly Fields[]): readonly Part[] {
  const body = { model: "m", max_tokens: 1, messages: [{ role: "assistant", content }] };
  const [message] = anthropicMessages.decodeRequest(body).messages;
  return (message?.parts ?? []).map(({ extras: _extras, ...part }) => part);
}

describe("writing a stream for a Messages client", () => {
  test("all events that clients read are sent, with usage in the first and last", () => {
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
        cost_details: {
          upstream_inference_cost: 0.5,
          upstream_inference_prompt_cost: 0.2,
          upstream_inference_completions_cost: 0.3,
        },
        is_byok: false,
      },
      gateway_metadata: { a: 1 },
    });
  });

  test("a stream without content still begins and ends", () => {
    const names = parseStream(write([finish("stop")])).map(({ name }) => name);
    expect(names).toEqual(["message_start", "message_delta", "message_stop"]);
  });

  test("interleaved parts are sent one after another", () => {
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
    expect(collectBlocks(out)).toMatchObject([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "a" },
      { type: "tool_use", id: "c1", input: { x: 1 } },
      { type: "tool_use", id: "c2", input: { y: 2 } },
      { type: "text", text: "b" },
    ]);
    expect(parseStream(out).at(-2)?.data["delta"]).toMatchObject({ stop_reason: "tool_use" });
  });

  test("a text is sent at once although the part before it has not ended", () => {
    const writer = anthropicMessages.createWriter(IDENTITY, ASKED);
    writer.step(start(0, REASONING));
    writer.step(text(0, "hm"));
    expect(writer.step(start(1, TEXT)) + writer.step(text(1, "now"))).toContain("now");
  });

  test("a text stays in one block when the part before it ends", () => {
    const events = [
      start(0, REASONING),
      text(0, "hm"),
      start(1, TEXT),
      text(1, "a"),
      end(0),
      text(1, "b"),
      end(1),
    ];
    expect(collectBlocks(write(events))).toMatchObject([{ thinking: "hm" }, { text: "ab" }]);
  });

  test("open blocks are closed at the end", () => {
    const out = write([start(0, call("c1")), args(0, "{}"), start(1, call("c2")), args(1, "{}")]);
    expect(collectBlocks(out)).toHaveLength(2);
  });

  test("blocks are in order for any interleaving of parts", () => {
    const step = fc.record({ at: fc.nat(4), does: fc.constantFrom("append", "end") });
    const kinds = fc.array(fc.constantFrom<Part>(TEXT, REASONING, call("c")), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(kinds, fc.array(step, { maxLength: 40 }), (parts, steps) => {
        const events: AnswerEvent[] = [];
        const written = parts.map(() => "");
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
            const piece = parts[at]?.kind === "tool-call" ? (written[at] === "" ? "[0" : ",0") : `${at}`;
            written[at] += piece;
            events.push(parts[at]?.kind === "tool-call" ? args(at, piece) : text(at, piece));
          }
        }
        parts.forEach((part, at) => {
          if (part.kind !== "tool-call" || written[at] === "" || ended.has(at)) return;
          events.push(args(at, "]"));
        });
        const raw = write(events.filter((event) => !isBrokenCall(event, parts, ended)));
        const blocks = collectBlocks(raw);
        const words = (kind: string, field: string) =>
          blocks
            .filter(({ type }) => type === kind)
            .map((block) => String(block[field]))
            .join("");
        const expected = (kind: string) =>
          [...written.filter((_, at) => parts[at]?.kind === kind).join("")].sort().join("");
        expect([...words("text", "text")].sort().join("")).toBe(expected("text"));
        expect([...words("thinking", "thinking")].sort().join("")).toBe(expected("reasoning"));
      }),
    );
  });

  test("a failure is sent as an error event with Anthropic's type", () => {
    const writer = anthropicMessages.createWriter(IDENTITY, ASKED);
    expect(parseStream(writer.fail({ message: "gone", code: 503, type: "unavailable" }))).toEqual([
      {
        name: "error",
        data: {
          type: "error",
          error: {
            type: "overloaded_error",
            message: "gone",
            code: 503,
            metadata: { code: "unavailable" },
          },
        },
      },
    ]);
  });
});

/** Leaves out calls that end early, because their arguments are not valid JSON. */
function isBrokenCall(event: AnswerEvent, parts: readonly Part[], ended: ReadonlySet<number>): boolean {
  return event.kind === "part-delta" && parts[event.at]?.kind === "tool-call" && ended.has(event.at);
}

const FOREIGN: readonly (readonly [string, readonly Part[]])[] = [
  [
    "reasoning without a signature",
    [
      { ...REASONING, text: "hm" },
      { kind: "text", text: "a" },
    ],
  ],
  ["signed reasoning", [{ ...REASONING, text: "hm", signature: "s", origin: "google-gemini-v1" }]],
  ["encrypted reasoning", [{ ...REASONING, encrypted: "e", id: "rs_1", origin: "openai-responses-v1" }]],
  [
    "a summary with encrypted reasoning",
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
    "a signature of a call",
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
    "a signature of a text, which may be empty",
    [
      { kind: "text", text: "a", signature: { value: "p", origin: "google-gemini-v1" } },
      { kind: "text", text: "", signature: { value: "q", origin: "google-gemini-v1" } },
    ],
  ],
];

describe("reasoning and signatures of other vendors", () => {
  const answerOf = (parts: readonly Part[]): Answer => ({
    choices: [
      { index: 0, parts, finish: { reason: "stop", native: "stop", stopSequence: null }, logprobs: null },
    ],
    usage: null,
    serviceTier: null,
  });

  test.each(FOREIGN)("a Messages client sends them back: %s", (_name, parts) => {
    const body = anthropicMessages.encodeAnswer(answerOf(parts), {
      identity: IDENTITY,
      end: endWith(null),
      asked: ASKED,
    });
    expect(decodeSentBack(body["content"] as Fields[])).toEqual([...parts]);
    expect(decodeSentBack(collectBlocks(write(replayAnswer(answerOf(parts)))))).toEqual([...parts]);
  });

  test("late signatures of a text and of a call after it are sent back", () => {
    const late = { kind: "part-signature", value: "p", origin: "google-gemini-v1" } as const;
    const out = write([
      start(0, TEXT),
      text(0, "a"),
      append(0, late),
      end(0),
      start(1, call("c")),
      args(1, "{}"),
      append(1, late),
      end(1),
    ]);
    const signature = { value: "p", origin: "google-gemini-v1" };
    expect(decodeSentBack(collectBlocks(out))).toMatchObject([
      { kind: "text", text: "a", signature },
      { kind: "tool-call", id: "c", signature },
    ]);
    expect(out.match(/redacted_thinking/g)).toHaveLength(2);
  });

  test("late signatures of texts return to the texts before them, and one of the last text is left out", () => {
    const late = (value: string) => ({ kind: "part-signature", value, origin: "google-gemini-v1" }) as const;
    const texts = ["a", "b", "c"].flatMap((value, at) => [
      start(at, TEXT),
      text(at, value),
      append(at, late(`of ${value}`)),
      end(at),
    ]);
    const signature = (value: string) => ({ value, origin: "google-gemini-v1" });
    const parts = decodeSentBack(collectBlocks(write(texts)));
    expect(parts).toEqual([
      expect.objectContaining({ kind: "text", text: "a", signature: signature("of a") }),
      expect.objectContaining({ kind: "text", text: "b", signature: signature("of b") }),
      expect.not.objectContaining({ signature: expect.anything() }),
    ]);
  });

  test("a signature is sent back although a text began before it arrived", () => {
    const out = write([
      start(0, { ...REASONING, id: "rs_1", origin: "openai-responses-v1" }),
      text(0, "hm"),
      start(1, TEXT),
      text(1, "a"),
      append(0, { kind: "encrypted", value: "e" }),
      end(0),
      end(1),
    ]);
    const parts = decodeSentBack(collectBlocks(out));
    expect(parts).toContainEqual({ ...REASONING, encrypted: "e", id: "rs_1", origin: "openai-responses-v1" });
  });

  test("they are never sent to an upstream of this format", () => {
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
