import type { Fields } from "../../../../src/base/json/fields.ts";
import { dataEvents, type Vendor, type VendorSayings } from "../vendor.ts";

const USAGE = { prompt_tokens: 9_001, completion_tokens: 501, total_tokens: 9_502 };
const HEAD = { id: "chatcmpl-1", created: 1_700_000_000, model: "gpt-target" };
const PROOF = "TUFSS0VScHJvb2Y=";

interface Said {
  readonly message: Fields;
  readonly deltas: readonly Fields[];
  readonly finish?: string;
  readonly usage?: Fields;
  /** Fields next to the choices. */
  readonly beside?: Fields;
  /** Fields next to the message. */
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
  "custom tool call": say({
    message: { tool_calls: [{ id: "call_a", type: "custom", custom: { name: "write", input: "MARKER" } }] },
    deltas: [
      { tool_calls: [{ index: 0, id: "call_a", type: "custom", custom: { name: "write", input: "" } }] },
      { tool_calls: [{ index: 0, custom: { input: "MARKER" } }] },
    ],
    finish: "tool_calls",
  }),
  "tool call in a namespace": say({
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
  "reasoning text": say({
    message: { content: "Hello", reasoning_content: "MARKER-thought" },
    deltas: [{ reasoning_content: "MARKER-" }, { reasoning_content: "thought" }, { content: "Hello" }],
  }),
  "reasoning summary": reasoning(
    { type: "reasoning.summary", summary: "MARKER-thought", format: "unknown" },
    "MARKER-thought",
  ),
  "signed reasoning": reasoning(
    { type: "reasoning.text", text: "MARKER-thought", signature: PROOF, format: "anthropic-claude-v1" },
    "MARKER-thought",
  ),
  "encrypted reasoning": reasoning(
    { type: "reasoning.encrypted", data: PROOF, format: "openai-responses-v1", id: "rs_1" },
    null,
  ),
  "thought signature on a call": say({
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
  "citations of web pages": say({
    message: { content: "Hello", annotations: [CITED] },
    deltas: [{ content: "Hello" }, { annotations: [CITED] }],
  }),
  "citations outside of the text": say({
    message: { content: "Hello[1]" },
    deltas: [{ content: "Hello" }, { content: "[1]" }],
    beside: { citations: ["https://example.com/MARKER"] },
  }),
  "refusal text": say({
    message: { refusal: "MARKER-no" },
    deltas: [{ refusal: "MARKER-" }, { refusal: "no" }],
  }),
  "log probabilities": say({
    message: { content: "MARKER" },
    deltas: [{ content: "MARKER" }],
    choice: { logprobs: LOGPROBS },
  }),
  "finish: token limit": hello({ finish: "length" }),
  "finish: content filter": hello({ finish: "content_filter" }),
  "vendor's own finish reason": hello({ finish: "MARKER_END" }),
  "token counts": hello(),
  "cached tokens": hello({ usage: { prompt_tokens_details: { cached_tokens: 7_001 } } }),
  "cache write tokens": hello({ usage: { prompt_tokens_details: { cache_write_tokens: 1_101 } } }),
  "reasoning tokens": hello({ usage: { completion_tokens_details: { reasoning_tokens: 301 } } }),
  "audio tokens": hello({
    usage: {
      prompt_tokens_details: { audio_tokens: 41 },
      completion_tokens_details: { audio_tokens: 42 },
    },
  }),
  "service tier": hello({ beside: { service_tier: "priority" } }),
  "generated image": say({
    message: { content: "Look:", images: [IMAGE] },
    deltas: [{ content: "Look:" }, { images: [IMAGE] }],
  }),
  audio: say({
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
  "unknown fields": hello({ beside: { unheard_of: "MARKER" } }),
  "error in the middle of the stream": {
    whole: null,
    stream: dataEvents([
      { ...HEAD, choices: [{ index: 0, delta: { role: "assistant", content: "Hello" } }] },
      { error: { message: "MARKER-error", type: "server_error", code: 500 } },
    ]),
  },
  "incomplete stream": {
    whole: null,
    stream: dataEvents([
      { ...HEAD, choices: [{ index: 0, delta: { role: "assistant", content: "Hello" } }] },
      { ...HEAD, choices: [{ index: 0, delta: { content: " wor" } }] },
    ]),
  },
};
