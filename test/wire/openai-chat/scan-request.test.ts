import { expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import { scanCounting } from "../../../src/base/json/scan.ts";
import {
  NO_HEADERS,
  readHeaderHints,
  readHints,
} from "../../../src/wire/client-apis/request/session-hints.ts";
import { hasCalls } from "../../../src/wire/conversation/calls/valid-history.ts";
import { CHAT_REQUEST_SHAPE } from "../../../src/wire/openai-chat/passthrough/request-shape.ts";
import { readChatRequest } from "../../../src/wire/openai-chat/passthrough/scan-request.ts";
import { shareOf } from "../../support/long-run.ts";

const ALL_MARKS = -1;

const call = fc.record(
  {
    id: fc.constantFrom("call_1", "call_2", ""),
    type: fc.constantFrom("function", "custom", null),
    function: fc.record({ name: fc.constant("look"), arguments: fc.constantFrom("{}", "", "no") }),
  },
  { requiredKeys: [] },
);
const part = fc.oneof(
  fc.constantFrom({ type: "text", text: "Look." }, { type: "text" }, { text: "Look." }),
  fc.constantFrom({ type: "image_url", image_url: "http://a" }, { type: "input_audio" }),
);
const message = fc.record(
  {
    role: fc.constantFrom("system", "user", "assistant", "tool", "function", "other"),
    content: fc.oneof(fc.constantFrom("Hi", "", null, 1), fc.array(part, { maxLength: 2 })),
    name: fc.constant("look"),
    tool_calls: fc.oneof(fc.constant(null), fc.array(call, { maxLength: 2 })),
    tool_call_id: fc.constantFrom("call_1", "call_2", null),
    function_call: fc.constantFrom(null, { name: "look", arguments: "{}" }, { arguments: "{}" }),
    reasoning_details: fc.constantFrom([], [{ type: "reasoning.text" }]),
  },
  { requiredKeys: ["role", "content"] },
);
/** Requests that mostly use few features or none. Many are invalid. */
const request = fc.record(
  {
    model: fc.constantFrom("a/m", "a/m", "a/m", ""),
    messages: fc.array(message, { minLength: 1, maxLength: 4 }),
    stream: fc.boolean(),
    stream_options: fc.constantFrom({ include_usage: true }, null),
    n: fc.constantFrom(1, 2, null),
    max_tokens: fc.constantFrom(256, null, -1),
    temperature: fc.constantFrom(0.2, 1, 3),
    tools: fc.constantFrom(null, [], [{ function: { name: "look" } }], [{ type: "custom" }]),
    tool_choice: fc.constantFrom(null, "any", "auto", { function: { name: "look" } }),
    functions: fc.constantFrom(null, [{ name: "look" }], [{}]),
    function_call: fc.constantFrom(null, "auto", { name: "look" }),
    models: fc.constantFrom(null, ["a/n"], 1),
    provider: fc.constantFrom(null, { only: ["a"] }, { zdr: 1 }),
    preset: fc.constantFrom(null, "@mine", 1),
    user: fc.constantFrom("u", null),
    safety_identifier: fc.constant("s"),
    session_id: fc.constantFrom("session", null, 1),
    prompt_cache_key: fc.constant("key"),
    tags: fc.constantFrom(["a"], null),
  },
  { requiredKeys: ["model", "messages"] },
);

function read(body: unknown, marks: "own" | "all") {
  const text = JSON.stringify(body);
  const scan = scanCounting(text, CHAT_REQUEST_SHAPE);
  try {
    const scanned = readChatRequest(
      text,
      marks === "own" ? scan : { ...scan, marks: ALL_MARKS },
      Buffer.from(text),
    );
    const { outline: given, hasHints, ...rest } = scanned;
    const outline = given.read();
    const isEmpty = !hasCalls(outline);
    return {
      scanned,
      compared: {
        ...rest,
        calls: isEmpty ? [] : outline.map(({ kind }) => kind),
      },
    };
  } catch (error) {
    if (error instanceof GatewayError) return { scanned: null, compared: error.failure };
    throw error;
  }
}

test("a chat request is read as if everything was looked for that its scan has not marked", () => {
  fc.assert(
    fc.property(request, (body) => {
      const { scanned, compared } = read(body, "own");
      expect(compared).toEqual(read(body, "all").compared);
      if (scanned === null || scanned.hasHints) return;
      expect(readHeaderHints(NO_HEADERS)).toEqual(readHints(scanned.text, scanned.root, NO_HEADERS));
    }),
    { numRuns: shareOf(3_000, 1 / 5) },
  );
});

test("a result without an id is rejected where no call precedes it, even if nothing else in the request is about tools", () => {
  const body = { model: "a/m", messages: [{ role: "tool", content: "Hi" }] };
  expect(read(body, "own").compared).toMatchObject({ code: "invalid_request" });
});

test("a result of a function is replaced by one of a tool, even if the request has no other deprecated field", () => {
  const messages = [
    { role: "user", content: "Hi" },
    { role: "function", name: "look", content: "a wall" },
  ];
  const { scanned } = read({ model: "a/m", messages }, "own");
  expect(scanned?.text).toContain('"role":"tool"');
});
