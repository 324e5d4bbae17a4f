import type { Fields } from "../../../../src/base/json/fields.ts";
import { typedEvents, type Vendor, type VendorSayings } from "../vendor.ts";

const USAGE = {
  billed_units: { input_tokens: 9_001, output_tokens: 501 },
  "token counts": { input_tokens: 9_001, output_tokens: 501 },
};

interface Rest {
  readonly finish?: string;
  readonly usage?: Fields;
  readonly beside?: Fields;
}

function say(message: Fields, events: readonly Fields[], rest: Rest = {}): Vendor {
  const { finish = "COMPLETE", usage = {}, beside = {} } = rest;
  const counted = { ...USAGE, ...usage };
  return {
    whole: {
      id: "c_1",
      message: { role: "assistant", ...message },
      finish_reason: finish,
      usage: counted,
      ...beside,
    },
    stream: typedEvents([
      { type: "message-start", id: "c_1", delta: { message: { role: "assistant" } } },
      ...events,
      { type: "message-end", delta: { finish_reason: finish, usage: counted } },
    ]),
  };
}

function spoken(index: number, kind: "text" | "thinking", ...pieces: readonly string[]): Fields[] {
  const content = (piece: string, head: Fields) => ({ message: { content: { ...head, [kind]: piece } } });
  return [
    { type: "content-start", index, delta: content("", { type: kind }) },
    ...pieces.map((piece) => ({ type: "content-delta", index, delta: content(piece, {}) })),
    { type: "content-end", index },
  ];
}

const text = (words: string) => ({ content: [{ type: "text", text: words }] });
const hello = (rest: Rest = {}) =>
  say(text("Hello MARKER ✓"), spoken(0, "text", "Hello ", "MARKER", " ✓"), rest);

function calls(...made: readonly (readonly [string, string, Fields])[]): Vendor {
  const list = made.map(([id, name, args]) => ({
    id: `call_${id}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  const events = list.flatMap((call, index) => {
    const json = call.function.arguments;
    const grow = (piece: string) => ({
      type: "tool-call-delta",
      index,
      delta: { message: { tool_calls: { function: { arguments: piece } } } },
    });
    return [
      {
        type: "tool-call-start",
        index,
        delta: { message: { tool_calls: { ...call, function: { ...call.function, arguments: "" } } } },
      },
      grow(json.slice(0, 5)),
      grow(json.slice(5)),
      { type: "tool-call-end", index },
    ];
  });
  return say({ tool_calls: list }, events, { finish: "TOOL_CALL" });
}

const cite = (document: Fields) => {
  const citation = {
    start: 0,
    end: 5,
    text: "MARKER-words",
    type: "TEXT_CONTENT",
    sources: [{ type: "document", id: "doc:1", document }],
  };
  return say({ ...text("Hello"), citations: [citation] }, [
    ...spoken(0, "text", "Hello"),
    { type: "citation-start", index: 0, delta: { message: { citations: citation } } },
    { type: "citation-end", index: 0 },
  ]);
};

export const COHERE_CHAT: VendorSayings = {
  text: hello(),
  "parallel tool calls": calls(["a", "look", { place: "MARKER-a" }], ["b", "look", { place: "MARKER-b" }]),
  "custom tool call": calls(["a", "write", { input: "MARKER" }]),
  "tool call in a namespace": calls(["a", "MARKER__look", { place: "Oslo" }]),
  "reasoning text": say(
    {
      content: [
        { type: "thinking", thinking: "MARKER-thought" },
        { type: "text", text: "Hello" },
      ],
    },
    [...spoken(0, "thinking", "MARKER-", "thought"), ...spoken(1, "text", "Hello")],
  ),
  "citations of web pages": cite({ url: "https://example.com/MARKER", title: "Rain" }),
  "citations of documents": cite({ title: "Weather" }),
  "log probabilities": say(
    text("MARKER"),
    [
      { type: "content-start", index: 0, delta: { message: { content: { type: "text", text: "" } } } },
      {
        type: "content-delta",
        index: 0,
        delta: { message: { content: { text: "MARKER" } } },
        logprobs: { token_ids: [1], text: "MARKER", logprobs: [-0.25] },
      },
      { type: "content-end", index: 0 },
    ],
    { beside: { logprobs: [{ token_ids: [1], text: "MARKER", logprobs: [-0.25] }] } },
  ),
  "finish: stop sequence": hello({ finish: "STOP_SEQUENCE" }),
  "finish: token limit": hello({ finish: "MAX_TOKENS" }),
  "finish: content filter": hello({ finish: "ERROR_TOXIC" }),
  "vendor's own finish reason": hello({ finish: "MARKER_END" }),
  "token counts": hello(),
  "cached tokens": hello({ usage: { cached_tokens: 7_001 } }),
  "error in the middle of the stream": {
    whole: null,
    stream: typedEvents([
      { type: "message-start", id: "c_1", delta: { message: { role: "assistant" } } },
      ...spoken(0, "text", "Hello").slice(0, 2),
      { type: "message-end", delta: { finish_reason: "ERROR", error: "MARKER-error" } },
    ]),
  },
  "incomplete stream": {
    whole: null,
    stream: typedEvents([
      { type: "message-start", id: "c_1", delta: { message: { role: "assistant" } } },
      ...spoken(0, "text", "Hello").slice(0, 2),
    ]),
  },
};
