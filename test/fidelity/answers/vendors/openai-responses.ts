import { asFields, type Fields } from "../../../../src/base/json/fields.ts";
import { typedEvents, type Vendor, type VendorSayings } from "../vendor.ts";

const USAGE = {
  input_tokens: 9_001,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 501,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 9_502,
};
const PROOF = "TUFSS0VScHJvb2Y=";

/** A complete item, its beginning, and the events between. */
interface Item {
  readonly item: Fields;
  readonly begins: Fields;
  readonly grows: readonly Fields[];
}

function say(items: readonly Item[], rest: Fields = {}): Vendor {
  const response = (fields: Fields) => ({
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    model: "gpt-target",
    status: "in_progress",
    error: null,
    incomplete_details: null,
    output: [],
    ...fields,
  });
  const done = response({
    status: "completed",
    output: items.map(({ item }) => item),
    usage: USAGE,
    ...rest,
  });
  const events = [
    { type: "response.created", response: response({}) },
    { type: "response.in_progress", response: response({}) },
    ...items.flatMap(({ item, begins, grows }, output_index) => [
      { type: "response.output_item.added", output_index, item: begins },
      ...grows.map((event) => ({ ...event, output_index, item_id: item["id"] })),
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: `response.${String(asFields(done)?.["status"])}`, response: done },
  ];
  return {
    whole: done,
    stream: typedEvents(events.map((event, sequence_number) => ({ ...event, sequence_number }))),
  };
}

function message(part: Fields, pieces: readonly string[], extra: readonly Fields[] = []): Item {
  const isRefusal = part["type"] === "refusal";
  const field = isRefusal ? "refusal" : "text";
  const empty = isRefusal ? { type: "refusal", refusal: "" } : { ...TEXT, text: "" };
  const events = isRefusal ? "response.refusal" : "response.output_text";
  const item = { id: "msg_1", type: "message", role: "assistant", status: "completed" };
  const logprobs = part["logprobs"] ?? [];
  return {
    item: { ...item, content: [part] },
    begins: { ...item, status: "in_progress", content: [] },
    grows: [
      { type: "response.content_part.added", content_index: 0, part: empty },
      ...pieces.map((delta) => ({
        type: `${events}.delta`,
        content_index: 0,
        delta,
        ...(isRefusal ? {} : { logprobs }),
      })),
      ...extra,
      { type: `${events}.done`, content_index: 0, [field]: part[field] },
      { type: "response.content_part.done", content_index: 0, part },
    ],
  };
}

const TEXT = { type: "output_text", annotations: [], logprobs: [] };
const hello = (rest: Fields = {}) =>
  say([message({ ...TEXT, text: "Hello MARKER ✓" }, ["Hello ", "MARKER", " ✓"])], rest);
const short = () => message({ ...TEXT, text: "Hello" }, ["Hello"]);

function call(id: string, name: string, text: string, rest: Fields = {}): Item {
  const item = {
    id: `fc_${id}`,
    type: "function_call",
    call_id: `call_${id}`,
    name,
    status: "completed",
    ...rest,
  };
  const cut = Math.floor(text.length / 2);
  return {
    item: { ...item, arguments: text },
    begins: { ...item, status: "in_progress", arguments: "" },
    grows: [
      { type: "response.function_call_arguments.delta", delta: text.slice(0, cut) },
      { type: "response.function_call_arguments.delta", delta: text.slice(cut) },
      { type: "response.function_call_arguments.done", arguments: text },
    ],
  };
}

function reasoning(summaries: readonly string[], encrypted: string | null): Item {
  const head = { id: "rs_1", type: "reasoning" };
  const parts = summaries.map((text) => ({ type: "summary_text", text }));
  const rest = encrypted === null ? {} : { encrypted_content: encrypted };
  const grow = (part: Fields, summary_index: number): Fields[] => {
    const text = String(part["text"]);
    const deltas = [text.slice(0, 3), text.slice(3)];
    return [
      { type: "response.reasoning_summary_part.added", summary_index, part: { ...part, text: "" } },
      ...deltas.map((delta) => ({ type: "response.reasoning_summary_text.delta", summary_index, delta })),
      { type: "response.reasoning_summary_text.done", summary_index, text },
      { type: "response.reasoning_summary_part.done", summary_index, part },
    ];
  };
  return {
    item: { ...head, summary: parts, ...rest },
    begins: { ...head, summary: [] },
    grows: parts.flatMap(grow),
  };
}

function whole(item: Fields): Item {
  return { item, begins: { ...item, status: "in_progress" }, grows: [] };
}

const thoughts = {
  item: {
    id: "rs_1",
    type: "reasoning",
    summary: [],
    content: [{ type: "reasoning_text", text: "MARKER-thought" }],
  },
  begins: { id: "rs_1", type: "reasoning", summary: [] },
  grows: [
    {
      type: "response.content_part.added",
      content_index: 0,
      part: { type: "reasoning_text", text: "" },
    },
    { type: "response.reasoning_text.delta", content_index: 0, delta: "MARKER-thought" },
    { type: "response.reasoning_text.done", content_index: 0, text: "MARKER-thought" },
    {
      type: "response.content_part.done",
      content_index: 0,
      part: { type: "reasoning_text", text: "MARKER-thought" },
    },
  ],
};

const CITED = {
  type: "url_citation",
  url: "https://example.com/MARKER",
  title: "Rain",
  start_index: 0,
  end_index: 5,
};
const LOGPROBS = [{ token: "MARKER", logprob: -0.25, bytes: [], top_logprobs: [] }];

export const OPENAI_RESPONSES: VendorSayings = {
  text: hello(),
  "parallel tool calls": say([
    call("a", "look", '{"place":"MARKER-a"}'),
    call("b", "look", '{"place":"MARKER-b"}'),
  ]),
  "custom tool call": say([
    {
      item: {
        id: "ctc_1",
        type: "custom_tool_call",
        call_id: "call_a",
        name: "write",
        input: "MARKER",
        status: "completed",
      },
      begins: { id: "ctc_1", type: "custom_tool_call", call_id: "call_a", name: "write", input: "" },
      grows: [
        { type: "response.custom_tool_call_input.delta", delta: "MARKER" },
        { type: "response.custom_tool_call_input.done", input: "MARKER" },
      ],
    },
  ]),
  "tool call in a namespace": say([call("a", "look", '{"place":"Oslo"}', { namespace: "MARKER" })]),
  "reasoning text": say([thoughts, short()]),
  "reasoning summary in two parts": say([reasoning(["MARKER-one", "MARKER-two"], null), short()]),
  "reasoning summary": say([reasoning(["MARKER-thought"], null), short()]),
  "encrypted reasoning": say([reasoning([], PROOF), short()]),
  "citations of web pages": say([
    message(
      { ...TEXT, text: "Hello", annotations: [CITED] },
      ["Hello"],
      [
        {
          type: "response.output_text.annotation.added",
          content_index: 0,
          annotation_index: 0,
          annotation: CITED,
        },
      ],
    ),
  ]),
  "refusal text": say([message({ type: "refusal", refusal: "MARKER-no" }, ["MARKER-", "no"])]),
  "log probabilities": say([message({ ...TEXT, text: "MARKER", logprobs: LOGPROBS }, ["MARKER"])]),
  "finish: token limit": hello({
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
  }),
  "finish: content filter": hello({ status: "incomplete", incomplete_details: { reason: "content_filter" } }),
  "token counts": hello(),
  "cached tokens": hello({ usage: { ...USAGE, input_tokens_details: { cached_tokens: 7_001 } } }),
  "reasoning tokens": hello({ usage: { ...USAGE, output_tokens_details: { reasoning_tokens: 301 } } }),
  "service tier": hello({ service_tier: "priority" }),
  "OpenAI's hosted tool call": say([
    whole({
      id: "ws_1",
      type: "web_search_call",
      status: "completed",
      action: { type: "search", query: "MARKER" },
    }),
    short(),
  ]),
  "image of OpenAI's hosted tool": say([
    whole({ id: "ig_1", type: "image_generation_call", status: "completed", result: "TUFSS0VSaW1hZ2U=" }),
    short(),
  ]),
  "unknown fields": hello({ unheard_of: "MARKER" }),
  "error in the middle of the stream": {
    whole: null,
    stream: typedEvents([
      { type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: short().begins },
      ...short()
        .grows.slice(0, 2)
        .map((event) => ({ ...event, output_index: 0, item_id: "msg_1" })),
      {
        type: "response.failed",
        response: {
          id: "resp_1",
          status: "failed",
          error: { code: "server_error", message: "MARKER-error" },
          output: [],
        },
      },
    ]),
  },
  "incomplete stream": {
    whole: null,
    stream: typedEvents([
      { type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: short().begins },
      ...short()
        .grows.slice(0, 2)
        .map((event) => ({ ...event, output_index: 0, item_id: "msg_1" })),
    ]),
  },
};
