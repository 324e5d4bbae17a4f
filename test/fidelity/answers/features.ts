import type { Fields } from "../../../src/wire/json/fields.ts";
import type { Client } from "../formats.ts";
import { ABSENT, type Expected } from "../probe.ts";
import { lookTool } from "../requests/request-case.ts";

/** One thing that an answer may say, as the clients of each API get it. */
export interface AnswerFeature {
  readonly name: string;
  /** What the client has to ask for it, over hello. */
  readonly asks?: Readonly<Partial<Record<Client, Fields>>>;
  /** What the client's answer holds, whole or put together from a stream; an API without a form for it is not named. */
  readonly seen: Readonly<Partial<Record<Client, Expected | readonly Expected[]>>>;
  /** Why an API has no form for it, or needs none. */
  readonly needless?: Readonly<Partial<Record<Client, string>>>;
}

const look = lookTool();
const LOOKS = {
  chat: { tools: [look.chat] },
  responses: { tools: [look.responses] },
  messages: { tools: [look.messages] },
};
const CANNOT_ASK = "no client of this API can ask for it";
const IN_PRICE = "the price, in `cost`, holds it";
const IN_RECORD = "the API has no place for it; the gateway's record of the generation has";
const TRUE = /^MARKER-thought$/;
const PROOF = "TUFSS0VScHJvb2Y=";

export const FEATURES: readonly AnswerFeature[] = [
  {
    name: "text",
    seen: {
      chat: { "choices[0].message.content": "Hello MARKER ✓", "choices[0].finish_reason": "stop" },
      responses: { "output[].content[].text": "Hello MARKER ✓", status: "completed" },
      messages: { "content[].text": "Hello MARKER ✓", stop_reason: "end_turn" },
    },
  },
  {
    name: "parallel tool calls",
    asks: LOOKS,
    seen: {
      chat: {
        "choices[0].message.tool_calls": [
          {
            id: "call_a",
            type: "function",
            function: { name: "look", arguments: /^\{"place": ?"MARKER-a"\}$/ },
          },
          {
            id: "call_b",
            type: "function",
            function: { name: "look", arguments: /^\{"place": ?"MARKER-b"\}$/ },
          },
        ],
        "choices[0].finish_reason": "tool_calls",
      },
      responses: {
        output: [
          { type: "function_call", call_id: "call_a", name: "look", arguments: /^\{"place": ?"MARKER-a"\}$/ },
          { type: "function_call", call_id: "call_b", name: "look", arguments: /^\{"place": ?"MARKER-b"\}$/ },
        ],
        status: "completed",
      },
      messages: {
        content: [
          { type: "tool_use", id: "call_a", name: "look", input: { place: "MARKER-a" } },
          { type: "tool_use", id: "call_b", name: "look", input: { place: "MARKER-b" } },
        ],
        stop_reason: "tool_use",
      },
    },
  },
  {
    name: "a call of a tool that takes free text",
    asks: {
      chat: { tools: [{ type: "custom", custom: { name: "write" } }] },
      responses: { tools: [{ type: "custom", name: "write" }] },
    },
    seen: {
      chat: {
        "choices[0].message.tool_calls": [
          { id: "call_a", type: "custom", custom: { name: "write", input: "MARKER" } },
        ],
      },
      responses: {
        output: [{ type: "custom_tool_call", call_id: "call_a", name: "write", input: "MARKER" }],
      },
    },
    needless: { messages: CANNOT_ASK },
  },
  {
    name: "a call of a tool in a namespace",
    asks: {
      responses: {
        tools: [{ type: "namespace", name: "MARKER", description: "", tools: [look.responses] }],
      },
    },
    seen: {
      responses: {
        output: [{ type: "function_call", call_id: "call_a", name: "look", namespace: "MARKER" }],
      },
    },
    needless: { chat: CANNOT_ASK, messages: CANNOT_ASK },
  },
  {
    name: "reasoning in words",
    seen: {
      chat: {
        "choices[0].message.reasoning": TRUE,
        "choices[0].message.reasoning_content": TRUE,
        "choices[0].message.reasoning_details[].text": TRUE,
      },
      responses: [{ "output[].summary[].text": TRUE }, { "output[].content[].text": TRUE }],
      messages: { "content[].thinking": TRUE },
    },
  },
  {
    name: "reasoning in a summary",
    seen: {
      chat: {
        "choices[0].message.reasoning": TRUE,
        "choices[0].message.reasoning_details[]": { type: "reasoning.summary", summary: TRUE },
      },
      responses: { "output[].summary[].text": TRUE },
      messages: { "content[].thinking": TRUE },
    },
  },
  {
    name: "a summary in two parts",
    seen: {
      chat: {
        "choices[0].message.reasoning": "MARKER-one\n\nMARKER-two",
        "choices[0].message.reasoning_content": "MARKER-one\n\nMARKER-two",
        "choices[0].message.reasoning_details[0].summary": "MARKER-one",
        "choices[0].message.reasoning_details[1].summary": "MARKER-two",
      },
      responses: { "output[0].summary[0].text": "MARKER-one", "output[0].summary[1].text": "MARKER-two" },
      messages: { "content[0].thinking": "MARKER-one", "content[1].thinking": "MARKER-two" },
    },
  },
  {
    name: "reasoning with a signature",
    seen: {
      chat: { "choices[0].message.reasoning_details[]": { text: TRUE, signature: PROOF } },
      responses: { "output[]": { type: "reasoning", encrypted_content: { signature: PROOF } } },
      messages: { "content[]": { type: "thinking", thinking: TRUE, signature: PROOF } },
    },
  },
  {
    name: "reasoning that only the vendor can read",
    seen: {
      chat: { "choices[0].message.reasoning_details[]": { type: "reasoning.encrypted", data: PROOF } },
      responses: { "output[]": { type: "reasoning", encrypted_content: { encrypted: PROOF } } },
      messages: { "content[]": { type: "redacted_thinking", data: { encrypted: PROOF } } },
    },
  },
  {
    name: "a thought signature on a call",
    asks: LOOKS,
    seen: {
      chat: { "choices[0].message.tool_calls[0].extra_content.google.thought_signature": PROOF },
      responses: {
        "output[]": { type: "reasoning", encrypted_content: { signature: PROOF, id: "proof:call:call_a" } },
      },
      messages: {
        "content[]": { type: "redacted_thinking", data: { signature: PROOF, id: "proof:call:call_a" } },
      },
    },
  },
  {
    name: "a thought signature on a text",
    seen: {
      chat: {
        "choices[0].message.extra_content.google.thought_signature": PROOF,
        "choices[0].message.reasoning_details[]": { type: "reasoning.encrypted", data: PROOF },
      },
      responses: {
        "output[]": { type: "reasoning", encrypted_content: { signature: PROOF, id: "proof:text-behind" } },
      },
      messages: {
        "content[]": { type: "redacted_thinking", data: { signature: PROOF, id: "proof:next-text" } },
      },
    },
  },
  {
    name: "a thought signature on an image",
    seen: {
      chat: { "choices[0].message.images[].extra_content.google.thought_signature": PROOF },
      responses: {
        "output[]": { type: "reasoning", encrypted_content: { signature: PROOF, id: "proof:image-behind" } },
      },
      messages: {
        "content[]": { type: "redacted_thinking", data: { signature: PROOF, id: "proof:next-image" } },
      },
    },
  },
  {
    name: "citations of pages",
    seen: {
      chat: { "choices[0].message.annotations[].url_citation.url": "https://example.com/MARKER" },
      responses: { "output[].content[].annotations[].url": "https://example.com/MARKER" },
      messages: { "content[].citations[].url": "https://example.com/MARKER" },
    },
  },
  {
    name: "citations listed beside the answer",
    seen: {
      chat: { "citations[]": "https://example.com/MARKER" },
      responses: { "output[].content[].annotations[].url": "https://example.com/MARKER" },
      messages: { "content[].citations[].url": "https://example.com/MARKER" },
    },
  },
  {
    name: "citations of documents",
    seen: { messages: { "content[].citations[]": { cited_text: "MARKER-words" } } },
    needless: {
      chat: "its clients know citations of addresses only; the text that cites is there",
      responses: "its clients know citations of addresses only; the text that cites is there",
    },
  },
  {
    name: "a refusal in words",
    seen: {
      chat: { "choices[0].message.refusal": "MARKER-no" },
      responses: { "output[].content[].refusal": "MARKER-no" },
      messages: { "content[].text": "MARKER-no" },
    },
  },
  {
    name: "log probabilities",
    asks: {
      chat: { logprobs: true },
      responses: { top_logprobs: 1, include: ["message.output_text.logprobs"] },
    },
    seen: {
      chat: { "choices[0].logprobs.content[]": { token: "MARKER", logprob: -0.25 } },
      responses: { "output[].content[].logprobs[]": { token: "MARKER", logprob: -0.25 } },
    },
    needless: { messages: CANNOT_ASK },
  },
  {
    name: "the end: a stop sequence",
    seen: {
      chat: { "choices[0].finish_reason": "stop" },
      responses: { status: "completed" },
      messages: { stop_reason: "stop_sequence" },
    },
  },
  {
    name: "which stop sequence it was",
    seen: { messages: { stop_sequence: "MARKER" } },
    needless: {
      chat: "the API does not say which",
      responses: "its clients cannot set stop sequences",
    },
  },
  {
    name: "the end: the bound",
    seen: {
      chat: { "choices[0].finish_reason": "length" },
      responses: { status: "incomplete", "incomplete_details.reason": "max_output_tokens" },
      messages: { stop_reason: "max_tokens" },
    },
  },
  {
    name: "the end: a filter",
    seen: {
      chat: { "choices[0].finish_reason": "content_filter" },
      responses: { status: "incomplete", "incomplete_details.reason": "content_filter" },
      messages: { stop_reason: "refusal" },
    },
  },
  {
    name: "the end: the model declines",
    seen: {
      chat: { "choices[0].finish_reason": "content_filter" },
      responses: { status: "incomplete", "incomplete_details.reason": "content_filter" },
      messages: { stop_reason: "refusal" },
    },
  },
  {
    name: "the end: a pause, to be gone on from",
    seen: {
      chat: { "choices[0].finish_reason": "stop", "choices[0].native_finish_reason": "pause_turn" },
      responses: { status: "completed" },
      messages: { stop_reason: "pause_turn" },
    },
  },
  {
    name: "the vendor's own word for the end",
    seen: { chat: { "choices[0].native_finish_reason": /^MARKER_END$/ } },
    needless: { responses: IN_RECORD, messages: IN_RECORD },
  },
  {
    name: "tokens",
    seen: {
      chat: { "usage.prompt_tokens": 9_001, "usage.completion_tokens": 501 },
      responses: { "usage.input_tokens": 9_001, "usage.output_tokens": 501 },
      messages: { "usage.input_tokens": 9_001, "usage.output_tokens": 501 },
    },
  },
  {
    name: "tokens from the cache",
    seen: {
      chat: { "usage.prompt_tokens": 9_001, "usage.prompt_tokens_details.cached_tokens": 7_001 },
      responses: { "usage.input_tokens": 9_001, "usage.input_tokens_details.cached_tokens": 7_001 },
      messages: { "usage.input_tokens": 2_000, "usage.cache_read_input_tokens": 7_001 },
    },
  },
  {
    name: "tokens written to the cache",
    seen: {
      chat: { "usage.prompt_tokens_details.cache_write_tokens": 1_101 },
      responses: { "usage.input_tokens_details.cache_write_tokens": 1_101 },
      messages: { "usage.cache_creation_input_tokens": 1_101 },
    },
  },
  {
    name: "tokens written to the cache for an hour",
    seen: { messages: { "usage.cache_creation.ephemeral_1h_input_tokens": 101 } },
    needless: { chat: IN_PRICE, responses: IN_PRICE },
  },
  {
    name: "tokens of reasoning",
    seen: {
      chat: { "usage.completion_tokens_details.reasoning_tokens": 301 },
      responses: { "usage.output_tokens_details.reasoning_tokens": 301 },
      messages: { "usage.output_tokens_details.thinking_tokens": 301 },
    },
  },
  {
    name: "tokens of audio",
    seen: {
      chat: {
        "usage.prompt_tokens_details.audio_tokens": 41,
        "usage.completion_tokens_details.audio_tokens": 42,
      },
      responses: {
        "usage.input_tokens_details.audio_tokens": 41,
        "usage.output_tokens_details.audio_tokens": 42,
      },
    },
    needless: { messages: CANNOT_ASK },
  },
  {
    name: "the service tier",
    seen: {
      chat: { service_tier: "priority" },
      responses: { service_tier: "priority" },
      messages: { "usage.service_tier": "priority" },
    },
  },
  {
    name: "what a tool of Anthropic's did",
    seen: { messages: { "content[]": { type: "server_tool_use", input: { query: "MARKER" } } } },
    needless: { chat: CANNOT_ASK, responses: CANNOT_ASK },
  },
  {
    name: "what a tool of OpenAI's did",
    seen: { responses: { "output[]": { type: "web_search_call", action: { query: "MARKER" } } } },
    needless: { chat: CANNOT_ASK, messages: CANNOT_ASK },
  },
  {
    name: "an image",
    seen: {
      chat: { "choices[0].message.images[].image_url.url": "data:image/png;base64,TUFSS0VSaW1hZ2U=" },
      responses: { "output[]": { type: "image_generation_call", result: "TUFSS0VSaW1hZ2U=" } },
      messages: { "content[].source.data": "TUFSS0VSaW1hZ2U=" },
    },
  },
  {
    name: "an image that a tool of OpenAI's drew",
    seen: {
      chat: { "choices[0].message.images[].image_url.url": "data:image/png;base64,TUFSS0VSaW1hZ2U=" },
      responses: { "output[]": { type: "image_generation_call", result: "TUFSS0VSaW1hZ2U=" } },
      messages: { "content[].source.data": "TUFSS0VSaW1hZ2U=" },
    },
  },
  {
    name: "speech",
    seen: { chat: { "choices[0].message.audio": { data: "TUFSS0VSYXVkaW8=", transcript: "Hello MARKER" } } },
    needless: { responses: CANNOT_ASK, messages: CANNOT_ASK },
  },
  {
    name: "several choices",
    asks: { chat: { n: 2 } },
    seen: {
      chat: {
        choices: [
          { index: 0, message: { content: "MARKER-first" }, finish_reason: "stop" },
          { index: 1, message: { content: "MARKER-second" }, finish_reason: "length" },
        ],
      },
    },
    needless: { responses: CANNOT_ASK, messages: CANNOT_ASK },
  },
  {
    name: "unknown fields of the answer",
    seen: {
      chat: { unheard_of: "MARKER" },
      responses: { unheard_of: "MARKER" },
      messages: { unheard_of: "MARKER" },
    },
    needless: {
      chat: "only the vendor's own format knows it",
      responses: "only the vendor's own format knows it",
      messages: "only the vendor's own format knows it",
    },
  },
  {
    name: "an error in the middle",
    seen: {
      chat: { "error.message": /MARKER-error/, "choices[0].finish_reason": ABSENT },
      responses: { status: "failed", "error.message": /MARKER-error/ },
      messages: { type: "error", "error.message": /MARKER-error/ },
    },
  },
  {
    name: "a stream that breaks off",
    seen: {
      chat: { "error.code": 502, "choices[0].finish_reason": ABSENT },
      responses: { status: "failed", error: {} },
      messages: { type: "error", stop_reason: ABSENT },
    },
  },
];
