import type { Fields } from "../../../../src/wire/json/fields.ts";
import { typedEvents, type Vendor, type VendorSayings } from "../vendor.ts";

const USAGE = {
  billed_units: { input_tokens: 9_001, output_tokens: 501 },
  tokens: { input_tokens: 9_001, output_tokens: 501 },
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
  "a call of a tool that takes free text": calls(["a", "write", { input: "MARKER" }]),
  "a call of a tool in a namespace": calls(["a", "MARKER__look", { place: "Oslo" }]),
  "reasoning in words": say(
    {
      content: [
        { type: "thinking", thinking: "MARKER-thought" },
        { type: "text", text: "Hello" },
      ],
    },
    [...spoken(0, "thinking", "MARKER-", "thought"), ...spoken(1, "text", "Hello")],
  ),
  "citations of pages": cite({ url: "https://example.com/MARKER", title: "Rain" }),
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
  "the end: a stop sequence": hello({ finish: "STOP_SEQUENCE" }),
  "the end: the bound": hello({ finish: "MAX_TOKENS" }),
  "the end: a filter": hello({ finish: "ERROR_TOXIC" }),
  "the vendor's own word for the end": hello({ finish: "MARKER_END" }),
  tokens: hello(),
  "tokens from the cache": hello({ usage: { cached_tokens: 7_001 } }),
  "an error in the middle": {
    whole: null,
    stream: typedEvents([
      { type: "message-start", id: "c_1", delta: { message: { role: "assistant" } } },
      ...spoken(0, "text", "Hello").slice(0, 2),
      { type: "message-end", delta: { finish_reason: "ERROR", error: "MARKER-error" } },
    ]),
  },
  "a stream that breaks off": {
    whole: null,
    stream: typedEvents([
      { type: "message-start", id: "c_1", delta: { message: { role: "assistant" } } },
      ...spoken(0, "text", "Hello").slice(0, 2),
    ]),
  },
};
