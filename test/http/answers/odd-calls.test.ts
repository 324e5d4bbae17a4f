import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encodeEvent } from "../../support/clients/event-frames.ts";
import {
  type AnswerSite,
  API_NAMES,
  type ApiName,
  FORMS,
  type Json,
  playDocument,
  playEvents,
  startAnswerSite,
} from "../../support/vendors/answer-site.ts";
import { chunkOf, closing, type Play, USAGE } from "../../support/vendors/vendor.ts";

let site: AnswerSite;

beforeAll(async () => {
  site = await startAnswerSite();
});
afterAll(() => site.stop());

const CALLS_FINISH: Readonly<Record<ApiName, string>> = {
  chat: "tool_calls",
  responses: "completed",
  messages: "tool_use",
};
const PLAIN_FINISH: Readonly<Record<ApiName, string>> = {
  chat: "stop",
  responses: "completed",
  messages: "end_turn",
};

type Call = readonly [name: string, args: object];
const ONE: readonly Call[] = [["look", { at: "sea" }]];
const TWO: readonly Call[] = [
  ["look", { at: "sea" }],
  ["now", { in: "UTC" }],
];

/** A piece of a call: its index and id where the vendor gives them, then its name and arguments. */
function piece(more: { index?: number; id?: string }, name?: string | null, args?: string): Json {
  const named = name === undefined ? {} : { name };
  return {
    ...more,
    type: "function",
    function: { ...named, ...(args === undefined ? {} : { arguments: args }) },
  };
}

/** The spellings of streamed calls at hosts, each as the pieces of one event, and the calls that are meant. */
const STREAMS: readonly (readonly [what: string, events: readonly Json[][], calls: readonly Call[]])[] = [
  [
    "whole calls that all have index 0 and no id",
    [
      [piece({ index: 0 }, "look", '{"at":"sea"}')],
      [piece({ index: 0 }, "look", '{"at":"sky"}')],
      [piece({ index: 0 }, "now", '{"in":"UTC"}')],
    ],
    [
      ["look", { at: "sea" }],
      ["look", { at: "sky" }],
      ["now", { in: "UTC" }],
    ],
  ],
  [
    "calls in pieces that all have index 0 and no id",
    [
      [piece({ index: 0 }, "look", "")],
      [piece({ index: 0 }, undefined, '{"at"')],
      [piece({ index: 0 }, undefined, ':"s')],
      [piece({ index: 0 }, undefined, "e")],
      [piece({ index: 0 }, undefined, 'a"}')],
      [piece({ index: 0 }, "look", "")],
      [piece({ index: 0 }, undefined, '{"at":')],
      [piece({ index: 0 }, undefined, '"sky"}')],
      [piece({ index: 0 }, "now", "")],
      [piece({ index: 0 }, undefined, '{"in":"UTC"}')],
    ],
    [
      ["look", { at: "sea" }],
      ["look", { at: "sky" }],
      ["now", { in: "UTC" }],
    ],
  ],
  [
    "no index, and the id in every piece",
    [
      [piece({ id: "call_1" }, "look", "")],
      [piece({ id: "call_2" }, "now", "")],
      [piece({ id: "call_1" }, undefined, '{"at":')],
      [piece({ id: "call_2" }, undefined, '{"in":"UTC"}')],
      [piece({ id: "call_1" }, undefined, '"sea"}')],
    ],
    TWO,
  ],
  [
    "index 0 for all calls, and the id in every piece",
    [
      [piece({ index: 0, id: "call_1" }, "look", "")],
      [piece({ index: 0, id: "call_2" }, "now", "")],
      [piece({ index: 0, id: "call_1" }, undefined, '{"at":"sea"}')],
      [piece({ index: 0, id: "call_2" }, undefined, '{"in":"UTC"}')],
    ],
    TWO,
  ],
  [
    "no index and no id, and the name in every piece",
    [
      [piece({}, "look", '{"at":')],
      [piece({}, "look", '"sea"}')],
      [piece({}, "now", '{"in":')],
      [piece({}, "now", '"UTC"}')],
    ],
    TWO,
  ],
  [
    "another id in every piece of one call",
    [
      [piece({ index: 0, id: "call_1" }, "look", "")],
      [piece({ index: 0, id: "call_2" }, undefined, '{"at":')],
      [piece({ index: 0, id: "call_3" }, undefined, '"sea"}')],
      [piece({ index: 0, id: "call_4" }, undefined, "")],
    ],
    ONE,
  ],
  [
    "the name after the arguments",
    [
      [piece({ index: 0, id: "call_1" }, undefined, '{"at":')],
      [piece({ index: 0 }, undefined, '"sea"}')],
      [piece({ index: 0 }, "look")],
      [piece({ index: 1, id: "call_2" }, null, '{"in":')],
      [piece({ index: 1 }, "now", "")],
      [piece({ index: 1 }, undefined, '"UTC"}')],
    ],
    TWO,
  ],
  [
    "the name after the arguments, and index 0 for all calls",
    [
      [piece({ index: 0 }, undefined, '{"at":"sea"}')],
      [piece({ index: 0 }, "look", "")],
      [piece({ index: 0 }, undefined, '{"in":"UTC"}')],
      [piece({ index: 0 }, "now", "")],
    ],
    TWO,
  ],
  [
    "the id in a piece after name and arguments",
    [[piece({ index: 0 }, "look", '{"at":')], [piece({ index: 0, id: "call_1" }, undefined, '"sea"}')]],
    ONE,
  ],
  [
    "the whole call once more at the end, without an id",
    [
      [piece({ index: 0 }, "look", '{"at":')],
      [piece({ index: 0 }, undefined, '"sea"}')],
      [piece({ index: 0 }, "look", '{"at":"sea"}')],
    ],
    ONE,
  ],
  [
    "the name once more at the end",
    [[piece({ index: 0 }, "look", '{"at":"sea"}')], [piece({ index: 0 }, "look", "")]],
    ONE,
  ],
  [
    "a call that never gets a name",
    [
      [piece({ index: 0, id: "call_1" }, "look", '{"at":"sea"}')],
      [piece({ index: 1, id: "call_2" }, "", '{"at":1}')],
    ],
    ONE,
  ],
  ["a call with blanks as arguments", [[piece({ index: 0 }, "now", "  ")]], [["now", {}]]],
];

describe.each(API_NAMES)("a %s client with streamed calls", (api) => {
  test.each(STREAMS)(
    "gets each call once, its name first, from a host that sends %s",
    async (_, events, calls) => {
      const chunks = events.map((pieces) => chunkOf({ tool_calls: pieces }));
      const head = chunkOf({ role: "assistant", content: null });
      const play = playEvents([head, ...chunks, ...closing("tool_calls")]);
      const answer = await site.ask(api, "chat", { stream: true, play });
      expect(answer.calls.map((call) => [call.name, JSON.parse(call.arguments)])).toEqual(calls as Json);
      expect(new Set(answer.calls.map(({ id }) => id)).size).toBe(calls.length);
      expect(answer.calls.every(({ id }) => id !== "")).toBe(true);
      expect(answer.finish).toBe(CALLS_FINISH[api]);
    },
  );
});

/** The arguments of calls without any, as hosts spell them. */
const NO_ARGUMENTS: readonly (readonly [string, object])[] = [
  ["absent", {}],
  ["null", { arguments: null }],
  ["empty", { arguments: "" }],
  ["blanks", { arguments: " \n" }],
];

const MESSAGE_USAGE = { input_tokens: 10, output_tokens: 5 };

function documentWith(message: object, finishReason = "stop") {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finishReason }];
  return { id: "1", object: "chat.completion", created: 1, model: "up", choices, usage: USAGE };
}

describe.each(API_NAMES)("a %s client with a whole answer", (api) => {
  test.each(NO_ARGUMENTS)(
    "gets `{}` for the arguments of a chat host's call that are %s",
    async (_, args) => {
      const call = { id: "call_1", type: "function", function: { name: "now", ...args } };
      const play = playDocument(documentWith({ content: null, tool_calls: [call] }, "tool_calls"));
      const { calls } = await site.ask(api, "chat", { stream: false, play });
      expect(calls).toEqual([{ id: "call_1", name: "now", arguments: "{}" }]);
    },
  );

  test.each(NO_ARGUMENTS)(
    "gets `{}` for the arguments of a Responses host's call that are %s",
    async (_, args) => {
      const item = {
        type: "function_call",
        id: "fc_1",
        call_id: "call_1",
        name: "now",
        status: "completed",
        ...args,
      };
      const usage = { ...MESSAGE_USAGE, total_tokens: 15 };
      const play = playDocument({
        id: "resp_1",
        object: "response",
        status: "completed",
        output: [item],
        usage,
      });
      const { calls } = await site.ask(api, "responses", { stream: false, play });
      expect(calls).toEqual([{ id: "call_1", name: "now", arguments: "{}" }]);
    },
  );
});

/** Answers of text that claim calls, in each format that has a finish for them. */
const CLAIMS: readonly (readonly [
  model: "chat" | "messages" | "bedrock" | "cohere",
  whole: Play,
  stream: Play,
])[] = [
  [
    "chat",
    playDocument(documentWith({ content: "Done." }, "tool_calls")),
    playEvents([chunkOf({ content: "Done." }), ...closing("tool_calls")]),
  ],
  [
    "messages",
    playDocument({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "up",
      content: [{ type: "text", text: "Done." }],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: MESSAGE_USAGE,
    }),
    playEvents([
      {
        type: "message_start",
        message: { id: "msg_1", type: "message", role: "assistant", content: [], usage: MESSAGE_USAGE },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Done." } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null },
        usage: MESSAGE_USAGE,
      },
      { type: "message_stop" },
    ]),
  ],
  [
    "bedrock",
    playDocument({
      output: { message: { role: "assistant", content: [{ text: "Done." }] } },
      stopReason: "tool_use",
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    }),
    async (call) => {
      await call.begin(200, { "content-type": "application/vnd.amazon.eventstream" });
      const frames = [
        encodeEvent("messageStart", { role: "assistant" }),
        encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Done." } }),
        encodeEvent("contentBlockStop", { contentBlockIndex: 0 }),
        encodeEvent("messageStop", { stopReason: "tool_use" }),
        encodeEvent("metadata", { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }),
      ];
      await call.piece(Buffer.from(frames.join(""), "latin1"));
      await call.end();
    },
  ],
  [
    "cohere",
    playDocument({
      id: "1",
      finish_reason: "TOOL_CALL",
      message: { role: "assistant", content: [{ type: "text", text: "Done." }] },
      usage: { tokens: MESSAGE_USAGE },
    }),
    playEvents([
      { type: "message-start", id: "1", delta: { message: { role: "assistant" } } },
      { type: "content-start", index: 0, delta: { message: { content: { type: "text", text: "" } } } },
      { type: "content-delta", index: 0, delta: { message: { content: { text: "Done." } } } },
      { type: "content-end", index: 0 },
      { type: "message-end", delta: { finish_reason: "TOOL_CALL", usage: { tokens: MESSAGE_USAGE } } },
    ]),
  ],
];

describe.each(API_NAMES)("a %s client of a host that finishes for calls without one", (api) => {
  describe.each(FORMS)("with an answer that is %s", (_form, stream) => {
    test.each(CLAIMS)("gets a plain stop (%s format)", async (model, whole, streamed) => {
      const { finish, text, calls } = await site.ask(api, model, { stream, play: stream ? streamed : whole });
      expect([finish, text, calls]).toEqual([PLAIN_FINISH[api], "Done.", []]);
    });

    test("gets no call for an empty `function_call` of every message", async () => {
      const none = { function_call: { name: "", arguments: "" } };
      const play = stream
        ? playEvents([chunkOf({ content: "Done.", ...none }), chunkOf(none), ...closing()])
        : playDocument(documentWith({ content: "Done.", ...none }));
      const { finish, text, calls } = await site.ask(api, "chat", { stream, play });
      expect([finish, text, calls]).toEqual([PLAIN_FINISH[api], "Done.", []]);
    });
  });
});
