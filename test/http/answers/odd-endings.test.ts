import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type AnswerSite,
  API_NAMES,
  FORMS,
  playDocument,
  playEvents,
  startAnswerSite,
} from "../../support/vendors/answer-site.ts";
import { SCRIPTS } from "../../support/vendors/scripts/all-scripts.ts";
import { chatScript } from "../../support/vendors/scripts/chat-script.ts";
import { geminiScript } from "../../support/vendors/scripts/gemini-script.ts";
import { chunkOf, closing, type Play, textOf, USAGE } from "../../support/vendors/vendor.ts";

let site: AnswerSite;

beforeAll(async () => {
  site = await startAnswerSite();
});
afterAll(() => site.stop());

const MODELS = {
  chat: SCRIPTS["openai-chat"],
  responses: SCRIPTS["openai-responses"],
  messages: SCRIPTS["anthropic-messages"],
  gemini: geminiScript,
  cohere: SCRIPTS["cohere-chat"],
} as const;

describe.each(API_NAMES)("a %s client that did not ask for a stream", (api) => {
  test.each(Object.keys(MODELS) as (keyof typeof MODELS)[])(
    "gets a document from a %s host that answers with a stream",
    async (model) => {
      const script = MODELS[model];
      const events = Buffer.concat([script.begin("Alpha one"), script.more(" two"), script.close("stop")]);
      const play: Play = (call) =>
        call.respond(200, events.toString(), { "content-type": script.contentType });
      const answer = await site.ask(api, model, { stream: false, play });
      expect(answer).toMatchObject({ status: 200, text: "Alpha one two", events: [] });
      expect(answer.body.usage.input_tokens ?? answer.body.usage.prompt_tokens).toBe(10);
    },
  );

  test("gets an error from a host whose unasked stream breaks off", async () => {
    const play: Play = (call) => call.respond(200, chatScript.begin("Alpha one").toString());
    expect(await site.ask(api, "chat", { stream: false, play })).toMatchObject({ status: 502 });
  });
});

test("a text completion that did not ask for a stream gets a document from a host that streams", async () => {
  const events = Buffer.concat([
    chatScript.begin("Alpha one"),
    chatScript.more(" two"),
    chatScript.close("stop"),
  ]);
  site.vendor.perform((call) => call.respond(200, events.toString()));
  const response = await fetch(`${site.gateway.base}/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${site.gateway.key}` },
    body: JSON.stringify({ model: "acme/chat", prompt: "Alpha" }),
  });
  expect(await response.json()).toMatchObject({ choices: [{ text: "Alpha one two" }] });
});

function candidate(parts: readonly object[], finishReason: string) {
  const candidates = [{ index: 0, content: { role: "model", parts }, finishReason }];
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
  return { candidates, usageMetadata };
}

const STOPPED = { chat: "content_filter", responses: "incomplete", messages: "refusal" } as const;

describe.each(API_NAMES)("a %s client of Gemini", (api) => {
  describe.each(FORMS)("with an answer that is %s", (_form, stream) => {
    const play = (body: object) => (stream ? playEvents([body]) : playDocument(body));

    test.each(["OTHER", "NO_IMAGE", "IMAGE_OTHER", "A_NEW_REASON"])(
      "does not read the end %s of a text as a plain stop",
      async (reason) => {
        const half = candidate([{ text: "half" }], reason);
        const answer = await site.ask(api, "gemini", { stream, play: play(half) });
        expect(answer).toMatchObject({ text: "half", finish: STOPPED[api] });
        expect(JSON.stringify(answer)).toContain(
          api === "chat" ? `"native_finish_reason":"${reason}"` : "half",
        );
      },
    );

    test.each(["OTHER", "NO_IMAGE"])(
      "gets an error for an answer without content that ends with %s",
      async (reason) => {
        const answer = await site.ask(api, "gemini", { stream, play: play(candidate([], reason)) });
        expect(answer.status).toBe(502);
        expect(JSON.stringify(answer.body)).toContain(reason);
      },
    );

    test.each(["default_api:look", "default_api.look", "look"])(
      "gets a call of %s as one of `look`",
      async (name) => {
        const body = candidate([{ functionCall: { name, args: {} } }], "STOP");
        const { calls } = await site.ask(api, "gemini", { stream, play: play(body) });
        expect(calls).toMatchObject([{ name: "look" }]);
      },
    );
  });
});

test("a tool whose name begins as Gemini's namespace keeps its name", async () => {
  const tools = [{ name: "default_api.look", input_schema: { type: "object" } }];
  let sent = "";
  const play: Play = async (call) => {
    sent = (call.body as never as { tools: [{ functionDeclarations: [{ name: string }] }] }).tools[0]
      .functionDeclarations[0].name;
    await call.respond(200, candidate([{ functionCall: { name: sent, args: {} } }], "STOP"));
  };
  const { calls } = await site.ask("messages", "gemini", { stream: false, play, more: { tools } });
  expect(calls).toMatchObject([{ name: "default_api.look" }]);
});

/** Fields in which hosts say why a choice stopped, and the stop sequence that a Messages client reads. */
const STOPS: readonly (readonly [object, string | null])[] = [
  [{ stop_reason: "END" }, "END"],
  [{ matched_stop: "END" }, "END"],
  [{ stop_reason: 151645 }, null],
  [{ matched_stop: null }, null],
  [{ stop_reason: "end_turn" }, null],
];

describe.each(FORMS)("a Messages client with an answer that is %s", (form, stream) => {
  test.each(STOPS)("gets the stop sequence that a chat host names in %j", async (fields, sequence) => {
    const choices = (more: object) => [{ index: 0, ...more, finish_reason: "stop", ...fields }];
    const play = stream
      ? playEvents([
          textOf("one"),
          { ...chunkOf({}), choices: choices({ delta: {} }) },
          ...closing().slice(1),
        ])
      : playDocument({ ...chunkOf({}), choices: choices({ message: { content: "one" } }), usage: USAGE });
    const answer = await site.ask("messages", "chat", { stream, play });
    const end =
      form === "whole" ? answer.body : answer.events.find(({ type }) => type === "message_delta").delta;
    expect([end.stop_reason, end.stop_sequence]).toEqual([sequence ? "stop_sequence" : "end_turn", sequence]);
  });
});
