import type { Fields } from "../../../src/base/json/fields.ts";
import type { Client } from "../formats.ts";
import { ABSENT, type Expected } from "../probe.ts";
import { lookTool } from "../requests/request-case.ts";

/** One feature of answers, as the clients of each API receive it. */
export interface AnswerFeature {
  readonly name: string;
  /** The fields that a client's request must have for it. */
  readonly asks?: Readonly<Partial<Record<Client, Fields>>>;
  /** The expected form in the client's answer, whole or joined from a stream; absent for APIs that cannot express it. */
  readonly seen: Readonly<Partial<Record<Client, Expected | readonly Expected[]>>>;
  /** The reason why an API does not need it. */
  readonly needless?: Readonly<Partial<Record<Client, string>>>;
}

const look = lookTool();
const LOOKS = {
  chat: { tools: [look.chat] },
  responses: { tools: [look.responses] },
  messages: { tools: [look.messages] },
};
const CANNOT_ASK = "clients of this API cannot request it";
const IN_PRICE = "it is included in `cost`";
const IN_RECORD = "the API has no field for it; the generation record has it";
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
    name: "custom tool call",
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
    name: "tool call in a namespace",
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
    name: "reasoning text",
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
    name: "reasoning summary",
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
    name: "reasoning summary in two parts",
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
    name: "signed reasoning",
    seen: {
      chat: { "choices[0].message.reasoning_details[]": { text: TRUE, signature: PROOF } },
      responses: { "output[]": { type: "reasoning", encrypted_content: { signature: PROOF } } },
      messages: { "content[]": { type: "thinking", thinking: TRUE, signature: PROOF } },
    },
  },
  {
    name: "encrypted reasoning",
    seen: {
      chat: { "choices[0].message.reasoning_details[]": { type: "reasoning.encrypted", data: PROOF } },
      responses: { "output[]": { type: "reasoning", encrypted_content: { encrypted: PROOF } } },
      messages: { "content[]": { type: "redacted_thinking", data: { encrypted: PROOF } } },
    },
  },
  {
    name: "thought signature on a call",
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
    name: "thought signature on a text",
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
    name: "thought signature on an image",
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
    name: "citations of web pages",
    seen: {
      chat: { "choices[0].message.annotations[].url_citation.url": "https://example.com/MARKER" },
      responses: { "output[].content[].annotations[].url": "https://example.com/MARKER" },
      messages: { "content[].citations[].url": "https://example.com/MARKER" },
    },
  },
  {
    name: "citations outside of the text",
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
      chat: "its clients know only citations of URLs; the citing text is kept",
      responses: "its clients know only citations of URLs; the citing text is kept",
    },
  },
  {
    name: "refusal text",
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
    name: "finish: stop sequence",
    seen: {
      chat: { "choices[0].finish_reason": "stop" },
      responses: { status: "completed" },
      messages: { stop_reason: "stop_sequence" },
    },
  },
  {
    name: "matched stop sequence",
    seen: { messages: { stop_sequence: "MARKER" } },
    needless: {
      chat: "the API has no field for it",
      responses: "its clients cannot set stop sequences",
    },
  },
  {
    name: "finish: token limit",
    seen: {
      chat: { "choices[0].finish_reason": "length" },
      responses: { status: "incomplete", "incomplete_details.reason": "max_output_tokens" },
      messages: { stop_reason: "max_tokens" },
    },
  },
  {
    name: "finish: content filter",
    seen: {
      chat: { "choices[0].finish_reason": "content_filter" },
      responses: { status: "incomplete", "incomplete_details.reason": "content_filter" },
      messages: { stop_reason: "refusal" },
    },
  },
  {
    name: "finish: refusal",
    seen: {
      chat: { "choices[0].finish_reason": "content_filter" },
      responses: { status: "incomplete", "incomplete_details.reason": "content_filter" },
      messages: { stop_reason: "refusal" },
    },
  },
  {
    name: "finish: pause",
    seen: {
      chat: { "choices[0].finish_reason": "stop", "choices[0].native_finish_reason": "pause_turn" },
      responses: { status: "completed" },
      messages: { stop_reason: "pause_turn" },
    },
  },
  {
    name: "vendor's own finish reason",
    seen: { chat: { "choices[0].native_finish_reason": /^MARKER_END$/ } },
    needless: { responses: IN_RECORD, messages: IN_RECORD },
  },
  {
    name: "token counts",
    seen: {
      chat: { "usage.prompt_tokens": 9_001, "usage.completion_tokens": 501 },
      responses: { "usage.input_tokens": 9_001, "usage.output_tokens": 501 },
      messages: { "usage.input_tokens": 9_001, "usage.output_tokens": 501 },
    },
  },
  {
    name: "cached tokens",
    seen: {
      chat: { "usage.prompt_tokens": 9_001, "usage.prompt_tokens_details.cached_tokens": 7_001 },
      responses: { "usage.input_tokens": 9_001, "usage.input_tokens_details.cached_tokens": 7_001 },
      messages: { "usage.input_tokens": 2_000, "usage.cache_read_input_tokens": 7_001 },
    },
  },
  {
    name: "cache write tokens",
    seen: {
      chat: { "usage.prompt_tokens_details.cache_write_tokens": 1_101 },
      responses: { "usage.input_tokens_details.cache_write_tokens": 1_101 },
      messages: { "usage.cache_creation_input_tokens": 1_101 },
    },
  },
  {
    name: "cache write tokens for an hour",
    seen: { messages: { "usage.cache_creation.ephemeral_1h_input_tokens": 101 } },
    needless: { chat: IN_PRICE, responses: IN_PRICE },
  },
  {
    name: "reasoning tokens",
    seen: {
      chat: { "usage.completion_tokens_details.reasoning_tokens": 301 },
      responses: { "usage.output_tokens_details.reasoning_tokens": 301 },
      messages: { "usage.output_tokens_details.thinking_tokens": 301 },
    },
  },
  {
    name: "audio tokens",
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
    name: "service tier",
    seen: {
      chat: { service_tier: "priority" },
      responses: { service_tier: "priority" },
      messages: { "usage.service_tier": "priority" },
    },
  },
  {
    name: "Anthropic's hosted tool call",
    seen: { messages: { "content[]": { type: "server_tool_use", input: { query: "MARKER" } } } },
    needless: { chat: CANNOT_ASK, responses: CANNOT_ASK },
  },
  {
    name: "OpenAI's hosted tool call",
    seen: { responses: { "output[]": { type: "web_search_call", action: { query: "MARKER" } } } },
    needless: { chat: CANNOT_ASK, messages: CANNOT_ASK },
  },
  {
    name: "generated image",
    seen: {
      chat: { "choices[0].message.images[].image_url.url": "data:image/png;base64,TUFSS0VSaW1hZ2U=" },
      responses: { "output[]": { type: "image_generation_call", result: "TUFSS0VSaW1hZ2U=" } },
      messages: { "content[].source.data": "TUFSS0VSaW1hZ2U=" },
    },
  },
  {
    name: "image of OpenAI's hosted tool",
    seen: {
      chat: { "choices[0].message.images[].image_url.url": "data:image/png;base64,TUFSS0VSaW1hZ2U=" },
      responses: { "output[]": { type: "image_generation_call", result: "TUFSS0VSaW1hZ2U=" } },
      messages: { "content[].source.data": "TUFSS0VSaW1hZ2U=" },
    },
  },
  {
    name: "audio",
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
    name: "unknown fields",
    seen: {
      chat: { unheard_of: "MARKER" },
      responses: { unheard_of: "MARKER" },
      messages: { unheard_of: "MARKER" },
    },
    needless: {
      chat: "only the vendor's own format has it",
      responses: "only the vendor's own format has it",
      messages: "only the vendor's own format has it",
    },
  },
  {
    name: "error in the middle of the stream",
    seen: {
      chat: { "error.message": /MARKER-error/, "choices[0].finish_reason": ABSENT },
      responses: { status: "failed", "error.message": /MARKER-error/ },
      messages: { type: "error", "error.message": /MARKER-error/ },
    },
  },
  {
    name: "incomplete stream",
    seen: {
      chat: { "error.code": 502, "choices[0].finish_reason": ABSENT },
      responses: { status: "failed", error: {} },
      messages: { type: "error", stop_reason: ABSENT },
    },
  },
];
