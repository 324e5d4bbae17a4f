import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type AnswerSite,
  API_NAMES,
  FORMS,
  playEvents,
  startAnswerSite,
} from "../../support/vendors/answer-site.ts";
import { closing, documentOf, type Play, textOf, USAGE } from "../../support/vendors/vendor.ts";

let site: AnswerSite;

beforeAll(async () => {
  site = await startAnswerSite();
});
afterAll(() => site.stop());

/** The members of an answer that are the gateway's, as a vendor may try to set them through a prototype. */
const FOREIGN = {
  id: "foreign",
  model: "foreign",
  stop_reason: "refusal",
  finish_reason: "content_filter",
  error: { message: "foreign" },
  gateway_metadata: { foreign: true },
  usage: { input_tokens: 999, prompt_tokens: 999 },
};
const MARK = '"MARK":0';

/** Prints JSON with a member `__proto__` in the place of each mark; JavaScript's own literals can not have one. */
function printWithPrototypes(value: unknown): string {
  return JSON.stringify(value).replaceAll(MARK, `"__proto__":${JSON.stringify(FOREIGN)}`);
}

const MARKED = { MARK: 0 };
const MESSAGE_USAGE = { input_tokens: 10, output_tokens: 5 };

const CHAT_EVENTS = [
  { ...textOf("Hi"), ...MARKED },
  {
    ...textOf(" there"),
    ...MARKED,
    choices: [{ index: 0, delta: { content: " there", ...MARKED }, ...MARKED }],
  },
  { ...textOf(""), ...MARKED, choices: [] },
  {
    ...textOf(""),
    ...MARKED,
    choices: [{ index: 0, delta: { ...MARKED }, finish_reason: "stop", ...MARKED }],
  },
  { ...textOf(""), choices: [], usage: { ...USAGE, ...MARKED } },
];

const MESSAGE_EVENTS = [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      content: [],
      usage: { ...MESSAGE_USAGE, ...MARKED },
      ...MARKED,
    },
    ...MARKED,
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "", ...MARKED } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi there" } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null, ...MARKED },
    usage: { ...MESSAGE_USAGE, ...MARKED },
    ...MARKED,
  },
  { type: "message_stop", ...MARKED },
];

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "up",
  content: [{ type: "text", text: "Hi there", ...MARKED }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { ...MESSAGE_USAGE, ...MARKED },
  ...MARKED,
};

const PLAYS: Readonly<Record<"chat" | "messages", Readonly<Record<"whole" | "streamed", Play>>>> = {
  chat: {
    whole: (call) => call.respond(200, printWithPrototypes({ ...documentOf("Hi there"), ...MARKED })),
    streamed: playEvents([...CHAT_EVENTS.map(printWithPrototypes), ...closing().slice(-1)]),
  },
  messages: {
    whole: (call) => call.respond(200, printWithPrototypes(MESSAGE)),
    streamed: playEvents(MESSAGE_EVENTS.map(printWithPrototypes)),
  },
};

describe.each(API_NAMES)("a %s client", (api) => {
  describe.each(FORMS)("with an answer that is %s", (form, stream) => {
    test.each(["chat", "messages"] as const)(
      "reads no member that a %s host sets through `__proto__`",
      async (model) => {
        const answer = await site.ask(api, model, { stream, play: PLAYS[model][form] });
        expect([answer.status, answer.text]).toEqual([200, "Hi there"]);
        expect(answer.finish).toBe({ chat: "stop", responses: "completed", messages: "end_turn" }[api]);
        for (const part of [answer.body, ...answer.events].filter((each) => each !== null)) {
          const { __proto__: _, ...read } = part;
          const own = [part, read.message, read.response].map((each) => [each?.id, each?.model, each?.error]);
          expect(JSON.stringify(own)).not.toContain("foreign");
          expect(part.usage?.prompt_tokens ?? 0).toBeLessThan(999);
          expect(part.gateway_metadata?.foreign).toBeUndefined();
        }
      },
    );
  });
});

test.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
  "a finish reason or event type named `%s` is an unknown one",
  async (name) => {
    const play: Play = playEvents([textOf("Hi there"), ...closing(name)]);
    expect(await site.ask("chat", "chat", { stream: true, play })).toMatchObject({ finish: "stop" });
    expect(await site.ask("messages", "chat", { stream: true, play })).toMatchObject({ finish: "end_turn" });
    const events = [MESSAGE_EVENTS[0], { type: name }, ...MESSAGE_EVENTS.slice(1)].map((event) => ({
      ...event,
    }));
    const named = playEvents(events);
    expect(await site.ask("chat", "messages", { stream: true, play: named })).toMatchObject({
      text: "Hi there",
    });
  },
);
