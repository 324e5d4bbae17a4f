import type { Fields } from "../../../../src/wire/json/fields.ts";
import { dataEvents, type Vendor, type VendorSayings } from "../vendor.ts";

const USAGE = { prompt_tokens: 9_001, completion_tokens: 501, total_tokens: 9_502 };
const HEAD = { id: "chatcmpl-1", created: 1_700_000_000, model: "gpt-target" };
const PROOF = "TUFSS0VScHJvb2Y=";

interface Said {
  readonly message: Fields;
  readonly deltas: readonly Fields[];
  readonly finish?: string;
  readonly usage?: Fields;
  /** Beside the choices. */
  readonly beside?: Fields;
  /** Beside the message. */
  readonly choice?: Fields;
}

function say({ message, deltas, finish = "stop", usage = {}, beside = {}, choice = {} }: Said): Vendor {
  const counted = { ...USAGE, ...usage };
  const chunk = (delta: Fields, finishReason: string | null, rest: Fields = {}) => ({
    ...HEAD,
    object: "chat.completion.chunk",
    ...beside,
    choices: [{ index: 0, delta, ...rest, finish_reason: finishReason }],
  });
  return {
    whole: {
      ...HEAD,
      object: "chat.completion",
      ...beside,
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: null, ...message },
          ...choice,
          finish_reason: finish,
        },
      ],
      usage: counted,
    },
    stream: dataEvents([
      chunk({ role: "assistant", content: "" }, null),
      ...deltas.map((delta, at) => chunk(delta, null, at === 0 ? choice : {})),
      chunk({}, finish),
      { ...HEAD, object: "chat.completion.chunk", choices: [], usage: counted },
      "[DONE]",
    ]),
  };
}

const hello = (rest: Partial<Said> = {}) =>
  say({
    message: { content: "Hello MARKER ✓" },
    deltas: [{ content: "Hello " }, { content: "MARKER" }, { content: " ✓" }],
    ...rest,
  });

const call = (id: string, place: string) => ({
  id: `call_${id}`,
  type: "function",
  function: { name: "look", arguments: `{"place":"${place}"}` },
});

const reasoning = (detail: Fields, text: string | null): Vendor =>
  say({
    message: {
      content: "Hello",
      ...(text === null ? {} : { reasoning: text }),
      reasoning_details: [{ ...detail, index: 0 }],
    },
    deltas: [
      { ...(text === null ? {} : { reasoning: text }), reasoning_details: [{ ...detail, index: 0 }] },
      { content: "Hello" },
    ],
  });

const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,TUFSS0VSaW1hZ2U=" } };
const LOGPROBS = { content: [{ token: "MARKER", logprob: -0.25, bytes: null, top_logprobs: [] }] };
const CITED = {
  type: "url_citation",
  url_citation: { url: "https://example.com/MARKER", title: "Rain", start_index: 0, end_index: 5 },
};

export const OPENAI_CHAT: VendorSayings = {
  text: hello(),
  "parallel tool calls": say({
    message: { tool_calls: [call("a", "MARKER-a"), call("b", "MARKER-b")] },
    deltas: [
      {
        tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "look", arguments: "" } }],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"place"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':"MARKER-a"}' } }] },
      {
        tool_calls: [{ index: 1, id: "call_b", type: "function", function: { name: "look", arguments: "" } }],
      },
      { tool_calls: [{ index: 1, function: { arguments: '{"place":"MARKER-b"}' } }] },
    ],
    finish: "tool_calls",
  }),
  "a call of a tool that takes free text": say({
    message: { tool_calls: [{ id: "call_a", type: "custom", custom: { name: "write", input: "MARKER" } }] },
    deltas: [
      { tool_calls: [{ index: 0, id: "call_a", type: "custom", custom: { name: "write", input: "" } }] },
      { tool_calls: [{ index: 0, custom: { input: "MARKER" } }] },
    ],
    finish: "tool_calls",
  }),
  "a call of a tool in a namespace": say({
    message: {
      tool_calls: [
        { id: "call_a", type: "function", function: { name: "MARKER__look", arguments: '{"place":"Oslo"}' } },
      ],
    },
    deltas: [
      {
        tool_calls: [
          { index: 0, id: "call_a", type: "function", function: { name: "MARKER__look", arguments: "" } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"place":"Oslo"}' } }] },
    ],
    finish: "tool_calls",
  }),
  "reasoning in words": say({
    message: { content: "Hello", reasoning_content: "MARKER-thought" },
    deltas: [{ reasoning_content: "MARKER-" }, { reasoning_content: "thought" }, { content: "Hello" }],
  }),
  "reasoning in a summary": reasoning(
    { type: "reasoning.summary", summary: "MARKER-thought", format: "unknown" },
    "MARKER-thought",
  ),
  "reasoning with a signature": reasoning(
    { type: "reasoning.text", text: "MARKER-thought", signature: PROOF, format: "anthropic-claude-v1" },
    "MARKER-thought",
  ),
  "reasoning that only the vendor can read": reasoning(
    { type: "reasoning.encrypted", data: PROOF, format: "openai-responses-v1", id: "rs_1" },
    null,
  ),
  "a thought signature on a call": say({
    message: {
      tool_calls: [{ ...call("a", "Oslo"), extra_content: { google: { thought_signature: PROOF } } }],
    },
    deltas: [
      {
        tool_calls: [
          { index: 0, ...call("a", "Oslo"), extra_content: { google: { thought_signature: PROOF } } },
        ],
      },
    ],
    finish: "tool_calls",
  }),
  "citations of pages": say({
    message: { content: "Hello", annotations: [CITED] },
    deltas: [{ content: "Hello" }, { annotations: [CITED] }],
  }),
  "citations listed beside the answer": say({
    message: { content: "Hello[1]" },
    deltas: [{ content: "Hello" }, { content: "[1]" }],
    beside: { citations: ["https://example.com/MARKER"] },
  }),
  "a refusal in words": say({
    message: { refusal: "MARKER-no" },
    deltas: [{ refusal: "MARKER-" }, { refusal: "no" }],
  }),
  "log probabilities": say({
    message: { content: "MARKER" },
    deltas: [{ content: "MARKER" }],
    choice: { logprobs: LOGPROBS },
  }),
  "the end: the bound": hello({ finish: "length" }),
  "the end: a filter": hello({ finish: "content_filter" }),
  "the vendor's own word for the end": hello({ finish: "MARKER_END" }),
  tokens: hello(),
  "tokens from the cache": hello({ usage: { prompt_tokens_details: { cached_tokens: 7_001 } } }),
  "tokens written to the cache": hello({ usage: { prompt_tokens_details: { cache_write_tokens: 1_101 } } }),
  "tokens of reasoning": hello({ usage: { completion_tokens_details: { reasoning_tokens: 301 } } }),
  "tokens of audio": hello({
    usage: {
      prompt_tokens_details: { audio_tokens: 41 },
      completion_tokens_details: { audio_tokens: 42 },
    },
  }),
  "the service tier": hello({ beside: { service_tier: "priority" } }),
  "an image": say({
    message: { content: "Look:", images: [IMAGE] },
    deltas: [{ content: "Look:" }, { images: [IMAGE] }],
  }),
  speech: say({
    message: { audio: { id: "audio_1", data: "TUFSS0VSYXVkaW8=", transcript: "Hello MARKER" } },
    deltas: [
      { audio: { id: "audio_1", transcript: "Hello " } },
      { audio: { data: "TUFSS0VSYXVkaW8=", transcript: "MARKER" } },
    ],
  }),
  "several choices": {
    whole: {
      ...HEAD,
      object: "chat.completion",
      choices: [
        { index: 0, message: { role: "assistant", content: "MARKER-first" }, finish_reason: "stop" },
        { index: 1, message: { role: "assistant", content: "MARKER-second" }, finish_reason: "length" },
      ],
      usage: USAGE,
    },
    stream: dataEvents([
      { ...HEAD, choices: [{ index: 1, delta: { role: "assistant", content: "MARKER-" } }] },
      { ...HEAD, choices: [{ index: 0, delta: { role: "assistant", content: "MARKER-first" } }] },
      { ...HEAD, choices: [{ index: 1, delta: { content: "second" }, finish_reason: "length" }] },
      { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...HEAD, choices: [], usage: USAGE },
      "[DONE]",
    ]),
  },
  "unknown fields of the answer": hello({ beside: { unheard_of: "MARKER" } }),
  "an error in the middle": {
    whole: null,
    stream: dataEvents([
      { ...HEAD, choices: [{ index: 0, delta: { role: "assistant", content: "Hello" } }] },
      { error: { message: "MARKER-error", type: "server_error", code: 500 } },
    ]),
  },
  "a stream that breaks off": {
    whole: null,
    stream: dataEvents([
      { ...HEAD, choices: [{ index: 0, delta: { role: "assistant", content: "Hello" } }] },
      { ...HEAD, choices: [{ index: 0, delta: { content: " wor" } }] },
    ]),
  },
};
