import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  type AnswerSite,
  API_NAMES,
  playEvents,
  startAnswerSite,
} from "../../support/vendors/answer-site.ts";

let site: AnswerSite;

beforeAll(async () => {
  site = await startAnswerSite();
});
afterAll(() => site.stop());

const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
const BASE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "up",
  error: null,
  incomplete_details: null,
};
const created = { type: "response.created", response: { ...BASE, status: "in_progress", output: [] } };

function completed(output: readonly object[]) {
  return { type: "response.completed", response: { ...BASE, status: "completed", output, usage: USAGE } };
}

const THOUGHT = {
  type: "reasoning",
  id: "rs_1",
  summary: [],
  content: [{ type: "reasoning_text", text: "Hm." }],
};
const MESSAGE = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hello there", annotations: [], logprobs: [] }],
};
const CALL = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "look",
  arguments: '{"at":"sea"}',
  status: "completed",
};
const part = { type: "output_text", text: "", annotations: [], logprobs: [] };

interface Numbers {
  /** The index of each item, by its order; null to leave it out. */
  readonly output: (order: number) => number | null;
  /** `content_index` of the message: of the event that adds its part, and of its texts; null to leave them out. */
  readonly added: number | null;
  readonly text: number | null;
  readonly omits?: "content_part" | "item_id";
}

/** Streams reasoning, a message and a call with a host's own numbers. */
function streamWith({ output, added, text, omits }: Numbers): object[] {
  const at = (order: number) => (output(order) === null ? {} : { output_index: output(order) });
  const index = (value: number | null) => (value === null ? {} : { content_index: value });
  const id = (item: { readonly id: string }) => (omits === "item_id" ? {} : { item_id: item.id });
  const inMessage = { ...id(MESSAGE), ...at(1) };
  const partAdded = { type: "response.content_part.added", ...inMessage, ...index(added), part };
  const events = [
    created,
    { type: "response.output_item.added", ...at(0), item: { ...THOUGHT, content: [] } },
    { type: "response.reasoning_text.delta", ...id(THOUGHT), ...at(0), content_index: 0, delta: "Hm." },
    { type: "response.output_item.done", ...at(0), item: THOUGHT },
    {
      type: "response.output_item.added",
      ...at(1),
      item: { ...MESSAGE, status: "in_progress", content: [] },
    },
    ...(omits === "content_part" ? [] : [partAdded]),
    ...["Hel", "lo ", "there"].map((delta) => ({
      type: "response.output_text.delta",
      ...inMessage,
      ...index(text),
      delta,
    })),
    { type: "response.output_text.done", ...inMessage, ...index(text), text: "Hello there" },
    { type: "response.content_part.done", ...inMessage, ...index(text), part: MESSAGE.content[0] },
    { type: "response.output_item.done", ...at(1), item: MESSAGE },
    { type: "response.output_item.added", ...at(2), item: { ...CALL, arguments: "", status: "in_progress" } },
    { type: "response.function_call_arguments.delta", ...id(CALL), ...at(2), delta: '{"at":' },
    { type: "response.function_call_arguments.delta", ...id(CALL), ...at(2), delta: '"sea"}' },
    { type: "response.output_item.done", ...at(2), item: CALL },
    completed([THOUGHT, MESSAGE, CALL]),
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
}

const inOrder = (order: number) => order;
const HOSTS: readonly (readonly [what: string, numbers: Numbers])[] = [
  ["counts as OpenAI does", { output: inOrder, added: 0, text: 0 }],
  ["counts the part of the message behind reasoning as 1", { output: inOrder, added: 1, text: 1 }],
  ["adds part 0 and sends the text at 1", { output: inOrder, added: 0, text: 1 }],
  ["sends no `output_index`", { output: () => null, added: 0, text: 0 }],
  ["sends neither `output_index` nor `item_id`", { output: () => null, added: 0, text: 0, omits: "item_id" }],
  ["gives all items index 0", { output: () => 0, added: 0, text: 0 }],
  ["counts items from 1", { output: (order) => order + 1, added: 0, text: 0 }],
  ["sends no `content_index`", { output: inOrder, added: null, text: null }],
  ["adds no part before its text", { output: inOrder, added: 0, text: 0, omits: "content_part" }],
];

describe.each(API_NAMES)("a %s client of a Responses host", (api) => {
  test.each(HOSTS)("that %s gets the text and the call once", async (_what, numbers) => {
    const play = playEvents(streamWith(numbers));
    const answer = await site.ask(api, "responses", { stream: true, play });
    expect(answer.text).toBe("Hello there");
    expect(answer.calls).toEqual([{ id: "call_1", name: "look", arguments: '{"at":"sea"}' }]);
    expect(JSON.stringify(answer.events)).toContain("Hm.");
  });
});

describe("OpenAI's library with a forwarded stream", () => {
  test.each(HOSTS)("reads that of a Responses host that %s", async (_what, numbers) => {
    site.vendor.perform(playEvents(streamWith(numbers)));
    const client = new OpenAI({ baseURL: site.gateway.base, apiKey: site.gateway.key, maxRetries: 0 });
    const stream = client.responses.stream({ model: "acme/responses", input: "Hello!" });
    let text = "";
    stream.on("response.output_text.delta", ({ delta, output_index, content_index }) => {
      expect([output_index, content_index]).toEqual([1, 0]);
      text += delta;
    });
    const response = await stream.finalResponse();
    expect([text, response.output_text]).toEqual(["Hello there", "Hello there"]);
  });
});

describe.each(API_NAMES)("a %s client", (api) => {
  test.each(["chat", "responses"] as const)(
    "gets the sentence of a %s host that ends a stream with a line `error: {…}`",
    async (model) => {
      const answer = await site.ask(api, model, {
        stream: true,
        play: async (call) => {
          await call.begin(200, { "content-type": "text/event-stream" });
          await call.piece(
            'error: {"error":{"message":"The engine has stopped for the night","code":500}}\n\n',
          );
          await call.end();
        },
      });
      expect(JSON.stringify(answer)).toContain("The engine has stopped for the night");
    },
  );
});
