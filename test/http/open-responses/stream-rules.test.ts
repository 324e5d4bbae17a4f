import { describe, expect, test } from "bun:test";
import { findFaults } from "../../support/open-responses/shapes.ts";
import { findBrokenRules, type Json } from "../../support/open-responses/stream-rules.ts";

const RESPONSE: Json = {
  id: "resp_1",
  object: "response",
  created_at: 10,
  completed_at: null,
  status: "in_progress",
  incomplete_details: null,
  model: "m",
  previous_response_id: null,
  instructions: null,
  output: [],
  error: null,
  tools: [],
  tool_choice: "auto",
  truncation: "disabled",
  parallel_tool_calls: true,
  text: { format: { type: "text" } },
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  reasoning: null,
  usage: null,
  max_output_tokens: null,
  max_tool_calls: null,
  store: false,
  background: false,
  service_tier: "default",
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
};
const PART = { type: "output_text", text: "AB", annotations: [] };
const MESSAGE = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [PART] };
const CALL = {
  id: "fc_1",
  type: "function_call",
  call_id: "call_1",
  name: "find",
  arguments: "{}",
  status: "completed",
};
const IN_MESSAGE = { item_id: "msg_1", output_index: 0, content_index: 0 };
const IN_CALL = { item_id: "fc_1", output_index: 1 };

const CREATED = 0;
const MESSAGE_ADDED = 2;
const PART_ADDED = 3;
const FIRST_DELTA = 4;
const SECOND_DELTA = 5;
const TEXT_DONE = 6;
const PART_DONE = 7;
const MESSAGE_DONE = 8;
const CALL_ADDED = 9;
const CALL_DELTA = 10;
const CALL_DONE = 12;
const COMPLETED = 13;

/** A stream that keeps all rules: a message in two pieces, and a call. */
const STREAM: readonly Json[] = [
  { type: "response.created", response: RESPONSE },
  { type: "response.in_progress", response: RESPONSE },
  {
    type: "response.output_item.added",
    output_index: 0,
    item: { ...MESSAGE, status: "in_progress", content: [] },
  },
  { type: "response.content_part.added", ...IN_MESSAGE, part: { ...PART, text: "" } },
  { type: "response.output_text.delta", ...IN_MESSAGE, delta: "A" },
  { type: "response.output_text.delta", ...IN_MESSAGE, delta: "B" },
  { type: "response.output_text.done", ...IN_MESSAGE, text: "AB" },
  { type: "response.content_part.done", ...IN_MESSAGE, part: PART },
  { type: "response.output_item.done", output_index: 0, item: MESSAGE },
  {
    type: "response.output_item.added",
    output_index: 1,
    item: { ...CALL, status: "in_progress", arguments: "" },
  },
  { type: "response.function_call_arguments.delta", ...IN_CALL, delta: "{}" },
  { type: "response.function_call_arguments.done", ...IN_CALL, arguments: "{}" },
  { type: "response.output_item.done", output_index: 1, item: CALL },
  {
    type: "response.completed",
    response: { ...RESPONSE, status: "completed", completed_at: 11, output: [MESSAGE, CALL] },
  },
];

const number = (events: readonly Json[]): readonly Json[] =>
  events.map((event, sequence_number) => ({ sequence_number, ...event }));

const without = (...indexes: readonly number[]) => STREAM.filter((_, at) => !indexes.includes(at));
const change = (index: number, fields: object) =>
  STREAM.map((event, at) => (at === index ? { ...event, ...fields } : event));
const swap = (first: number, second: number) =>
  STREAM.with(first, STREAM[second]!).with(second, STREAM[first]!);
const endWith = (fields: object) =>
  change(COMPLETED, { response: { ...STREAM[COMPLETED]?.["response"], ...fields } });

const BROKEN: readonly (readonly [says: string, events: readonly Json[]])[] = [
  ["without response.created", without(CREATED)],
  ["without a terminal event", without(COMPLETED)],
  ["with an event after the terminal one", [...STREAM, STREAM[FIRST_DELTA]!]],
  ["with a sequence number twice", change(FIRST_DELTA, { sequence_number: PART_ADDED })],
  ["whose item was not added", without(MESSAGE_ADDED)],
  ["whose item is not done", without(MESSAGE_DONE)],
  ["whose item is completed when it is added", change(MESSAGE_ADDED, { item: { ...MESSAGE, content: [] } })],
  [
    "whose item has content when it is added",
    change(MESSAGE_ADDED, { item: { ...MESSAGE, status: "in_progress" } }),
  ],
  ["whose item changes its id", change(MESSAGE_DONE, { item: { ...MESSAGE, id: "msg_2" } })],
  [
    "whose item is in progress when it is done",
    change(MESSAGE_DONE, { item: { ...MESSAGE, status: "in_progress" } }),
  ],
  ["whose item is at another index", change(CALL_ADDED, { output_index: 2 })],
  ["whose part was not added", without(PART_ADDED)],
  ["whose part is not done", without(PART_DONE)],
  ["whose part is at another index", change(PART_ADDED, { content_index: 1 })],
  ["whose delta comes before its part", swap(PART_ADDED, FIRST_DELTA)],
  ["whose delta is lost", without(SECOND_DELTA)],
  ["whose delta belongs to an item that is done", swap(SECOND_DELTA, MESSAGE_DONE)],
  ["whose text is not done", without(TEXT_DONE)],
  ["whose text differs from its deltas", change(TEXT_DONE, { text: "A" })],
  ["whose part is done before its text", swap(TEXT_DONE, PART_DONE)],
  ["whose arguments are lost", without(CALL_DELTA)],
  ["whose call is not done", without(CALL_DONE)],
  ["with an event of an unknown type", change(FIRST_DELTA, { type: "response.text.delta" })],
  ["whose event lacks a field", change(FIRST_DELTA, { delta: undefined })],
  ["with the id of another response", endWith({ id: "resp_2" })],
  ["whose response lacks an item", endWith({ output: [MESSAGE] })],
  ["whose response changes an item", endWith({ output: [MESSAGE, { ...CALL, arguments: "{} " }] })],
  ["whose status is another one", endWith({ status: "incomplete" })],
  ["whose completed response has an error", endWith({ error: { code: "x", message: "y" } })],
  [
    "whose completed response has an item that is cut off",
    endWith({ output: [MESSAGE, { ...CALL, status: "incomplete" }] }),
  ],
];

describe("the rules of streams", () => {
  test("are kept by a stream of a message and a call", () => {
    expect(findBrokenRules(number(STREAM))).toEqual([]);
  });

  test.each(BROKEN)("are broken by a stream %s", (_says, events) => {
    expect(findBrokenRules(number(events))).not.toEqual([]);
  });
});

describe("the shape of a response", () => {
  test.each(Object.keys(RESPONSE))("demands %s", (field) => {
    const { [field]: _, ...rest } = RESPONSE;
    expect(findFaults("response", RESPONSE)).toEqual([]);
    expect(findFaults("response", rest)).toEqual([expect.stringContaining(`response.${field}`)]);
  });

  test.each([
    ["an unknown status", { status: "done" }],
    ["a message without a status", { output: [{ ...MESSAGE, status: undefined }] }],
    [
      "a text without annotations",
      { output: [{ ...MESSAGE, content: [{ type: "output_text", text: "" }] }] },
    ],
    ["an item of a foreign type", { output: [{ id: "x", type: "note" }] }],
    ["no penalty", { presence_penalty: null }],
    ["an allowed_tools without a mode", { tool_choice: { type: "allowed_tools", tools: [] } }],
  ])("rejects %s", (_says, fields) => {
    expect(findFaults("response", { ...RESPONSE, ...fields })).not.toEqual([]);
  });
});
