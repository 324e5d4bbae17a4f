import { describe, expect, test } from "bun:test";
import type { Fields } from "../../src/base/json/fields.ts";
import { ComposedBytes } from "../../src/base/text/composed-bytes.ts";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { readWhole } from "./answers/run-answers.ts";
import { CLIENTS, type Client, FORMATS } from "./formats.ts";
import { openRequest } from "./open-request.ts";
import { REQUEST_CASES } from "./requests/cases.ts";
import { makeBody } from "./requests/request-case.ts";
import { makeTarget } from "./targets.ts";

/** Members whose strings are texts of the conversation. */
const TEXTS: ReadonlySet<string> = new Set(["text", "content", "output", "input", "instructions"]);

/** Returns the value with every text of a conversation so long that a placeholder may stand for it. */
function lengthen(value: unknown, key = ""): unknown {
  if (typeof value === "string")
    return TEXTS.has(key) && value.trim() !== "" ? `${value} ${'“é” "\\ \n'.repeat(60)}.` : value;
  if (Array.isArray(value)) return value.map((item) => lengthen(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, lengthen(inner, name)]));
}

/** A call without a result at the end of a conversation. It must be repaired, so that no request is forwarded as it came. */
const INTERRUPTED: Readonly<Record<Client, Fields>> = {
  chat: {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_last", type: "function", function: { name: "look", arguments: "{}" } }],
  },
  messages: {
    role: "assistant",
    content: [{ type: "tool_use", id: "call_last", name: "look", input: { b: 1, a: [] } }],
  },
  responses: { type: "function_call", call_id: "call_last", name: "look", arguments: "{}" },
};

/** Returns a case's request with long texts and an interrupted call. */
function makeLong(client: Client, fields: Fields): Fields {
  const body = lengthen(makeBody(client, fields)) as Fields;
  const list = client === "responses" ? "input" : "messages";
  const conversation = body[list];
  return Array.isArray(conversation) ? { ...body, [list]: [...conversation, INTERRUPTED[client]] } : body;
}

/** Encodes a request. A request with the mark of the placeholders in a field, which the target refuses, is decoded whole. */
function encode(client: Client, body: Fields, format: FormatName, isWhole: boolean) {
  const { provider, ...target } = makeTarget(format);
  const refusing = { ...target, provider: { ...provider, refusedFields: new Set(["prediction"]) } };
  try {
    const request = openRequest(client, { ...body, prediction: isWhole ? "\u0001" : "x" });
    const { body: sent, warnings } = request.encoding.encode(refusing);
    return { sent: JSON.parse(sent.toString()), warnings, isComposed: sent instanceof ComposedBytes };
  } catch (error) {
    return { error: String(error) };
  }
}

describe.each(CLIENTS)("a request of %s with long texts", (client) => {
  const cases = REQUEST_CASES.flatMap(([, list]) => list).filter((one) => one.bodies[client] !== undefined);

  test.each(FORMATS)("reaches %s the same whether or not placeholders stand for them", (format) => {
    let composed = 0;
    for (const { name, bodies } of cases) {
      const body = makeLong(client, bodies[client] ?? {});
      const { isComposed: _, ...whole } = encode(client, body, format, true);
      const { isComposed, ...shortened } = encode(client, body, format, false);
      expect({ name, ...shortened }).toEqual({ name, ...whole });
      if (isComposed) composed++;
    }
    expect(composed).toBeGreaterThan(cases.length / 2);
  });
});

test("an answer repeats the long instructions of a Responses request that was translated", () => {
  const instructions = "Be brief. ".repeat(60);
  const input = [{ role: "user", content: "Why? ".repeat(100) }];
  const request = openRequest("responses", { model: "acme/model", instructions, input });
  const { answers } = request.encoding.encode(makeTarget("openai-chat"));
  const choices = [{ index: 0, message: { role: "assistant", content: "Because." }, finish_reason: "stop" }];
  expect(readWhole(answers, { choices })["instructions"]).toBe(instructions);
});

const LONG = "Why? ".repeat(100);

test.each<[string, Client, Fields]>([
  ["a message of chat", "chat", { messages: [{ role: "user", content: LONG }] }],
  ["a part of chat", "chat", { messages: [{ role: "user", content: [{ type: "text", text: LONG }] }] }],
  ["a message of Messages", "messages", { messages: [{ role: "user", content: LONG }] }],
  [
    "a block of Messages",
    "messages",
    { messages: [{ role: "user", content: [{ type: "text", text: LONG }] }] },
  ],
  ["the input of Responses", "responses", { input: LONG }],
  ["a message of Responses", "responses", { input: [{ role: "user", content: LONG }] }],
  [
    "a part of Responses",
    "responses",
    { input: [{ role: "user", content: [{ type: "input_text", text: LONG }] }] },
  ],
  [
    "a part of an output of Responses",
    "responses",
    {
      input: [
        { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: LONG }] },
      ],
    },
  ],
])("the long text of %s is copied into the translated request, not parsed", (_place, client, fields) => {
  const { sent, isComposed } = encode(
    client,
    { model: "acme/model", max_tokens: 9, ...fields },
    "gemini",
    false,
  );
  expect([JSON.stringify(sent).includes(LONG), isComposed]).toEqual([true, true]);
});
