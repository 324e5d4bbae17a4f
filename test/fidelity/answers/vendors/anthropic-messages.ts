import type { Fields } from "../../../../src/base/json/fields.ts";
import { typedEvents, type Vendor, type VendorSayings } from "../vendor.ts";

const PROOF = "TUFSS0VScHJvb2Y=";
const HEAD = { id: "msg_1", type: "message", role: "assistant", model: "claude-target" };
const START = { input_tokens: 9_001, output_tokens: 1 };

/** A whole block, its start, and its deltas. */
interface Block {
  readonly block: Fields;
  readonly begins: Fields;
  readonly deltas: readonly Fields[];
}

interface Rest {
  readonly stop?: string;
  readonly sequence?: string;
  readonly usage?: Fields;
  readonly counts?: Fields;
  readonly beside?: Fields;
}

function say(blocks: readonly Block[], rest: Rest = {}): Vendor {
  const { stop = "end_turn", sequence = null, usage = {}, counts = {}, beside = {} } = rest;
  const ending = { stop_reason: stop, stop_sequence: sequence };
  const started = { ...START, ...usage };
  const counted = { output_tokens: 501, ...counts };
  return {
    whole: {
      ...HEAD,
      ...beside,
      content: blocks.map(({ block }) => block),
      ...ending,
      usage: { ...started, ...counted },
    },
    stream: typedEvents([
      {
        type: "message_start",
        message: {
          ...HEAD,
          ...beside,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: started,
        },
      },
      ...blocks.flatMap(({ begins, deltas }, index) => [
        { type: "content_block_start", index, content_block: begins },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
      { type: "message_delta", delta: ending, usage: counted },
      { type: "message_stop" },
    ]),
  };
}

function text(pieces: readonly string[], citations: readonly Fields[] = []): Block {
  const cited = citations.length === 0 ? {} : { citations };
  return {
    block: { type: "text", text: pieces.join(""), ...cited },
    begins: { type: "text", text: "", ...(citations.length === 0 ? {} : { citations: [] }) },
    deltas: [
      ...pieces.map((piece) => ({ type: "text_delta", text: piece })),
      ...citations.map((citation) => ({ type: "citations_delta", citation })),
    ],
  };
}

function call(id: string, name: string, input: Fields): Block {
  const head = { type: "tool_use", id: `call_${id}`, name };
  const json = JSON.stringify(input);
  return {
    block: { ...head, input },
    begins: { ...head, input: {} },
    deltas: [
      { type: "input_json_delta", partial_json: "" },
      { type: "input_json_delta", partial_json: json.slice(0, 5) },
      { type: "input_json_delta", partial_json: json.slice(5) },
    ],
  };
}

function thinking(signature: string): Block {
  return {
    block: { type: "thinking", thinking: "MARKER-thought", signature },
    begins: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      { type: "thinking_delta", thinking: "MARKER-" },
      { type: "thinking_delta", thinking: "thought" },
      ...(signature === "" ? [] : [{ type: "signature_delta", signature }]),
    ],
  };
}

const whole = (block: Fields): Block => ({ block, begins: block, deltas: [] });
const hello = (rest: Rest = {}) => say([text(["Hello ", "MARKER", " ✓"])], rest);
const short = text(["Hello"]);

const SEARCH = {
  block: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "MARKER" } },
  begins: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
  deltas: [{ type: "input_json_delta", partial_json: '{"query":"MARKER"}' }],
};

const BEGUN = [
  {
    type: "message_start",
    message: { ...HEAD, content: [], stop_reason: null, stop_sequence: null, usage: START },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
];

export const ANTHROPIC_MESSAGES: VendorSayings = {
  text: hello(),
  "parallel tool calls": say(
    [call("a", "look", { place: "MARKER-a" }), call("b", "look", { place: "MARKER-b" })],
    { stop: "tool_use" },
  ),
  "custom tool call": say([call("a", "write", { input: "MARKER" })], {
    stop: "tool_use",
  }),
  "tool call in a namespace": say([call("a", "MARKER__look", { place: "Oslo" })], {
    stop: "tool_use",
  }),
  "reasoning text": say([thinking(PROOF), short]),
  "signed reasoning": say([thinking(PROOF), short]),
  "encrypted reasoning": say([whole({ type: "redacted_thinking", data: PROOF }), short]),
  "citations of web pages": say([
    text(
      ["Hello"],
      [
        {
          type: "web_search_result_location",
          url: "https://example.com/MARKER",
          title: "Rain",
          cited_text: "rain",
          encrypted_index: "index",
        },
      ],
    ),
  ]),
  "citations of documents": say([
    text(
      ["Hello"],
      [
        {
          type: "char_location",
          document_index: 0,
          document_title: "Weather",
          cited_text: "MARKER-words",
          start_char_index: 0,
          end_char_index: 12,
        },
      ],
    ),
  ]),
  "finish: stop sequence": hello({ stop: "stop_sequence", sequence: "MARKER" }),
  "matched stop sequence": hello({ stop: "stop_sequence", sequence: "MARKER" }),
  "finish: token limit": hello({ stop: "max_tokens" }),
  "finish: refusal": hello({ stop: "refusal" }),
  "finish: pause": hello({ stop: "pause_turn" }),
  "vendor's own finish reason": hello({ stop: "MARKER_END" }),
  "token counts": hello(),
  "cached tokens": hello({ usage: { input_tokens: 2_000, cache_read_input_tokens: 7_001 } }),
  "cache write tokens": hello({ usage: { cache_creation_input_tokens: 1_101 } }),
  "cache write tokens for an hour": hello({
    usage: {
      cache_creation_input_tokens: 1_101,
      cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 101 },
    },
  }),
  "reasoning tokens": hello({ counts: { output_tokens_details: { thinking_tokens: 301 } } }),
  "service tier": hello({ usage: { service_tier: "priority" } }),
  "Anthropic's hosted tool call": say([
    SEARCH,
    whole({ type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }),
    short,
  ]),
  "unknown fields": hello({ beside: { unheard_of: "MARKER" } }),
  "error in the middle of the stream": {
    whole: null,
    stream: typedEvents([
      ...BEGUN,
      { type: "error", error: { type: "overloaded_error", message: "MARKER-error" } },
    ]),
  },
  "incomplete stream": { whole: null, stream: typedEvents(BEGUN) },
};
