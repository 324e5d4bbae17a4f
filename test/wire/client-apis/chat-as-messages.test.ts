import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import { parseFields } from "../../../src/base/json/check-fields.ts";
import type { Fields } from "../../../src/base/json/fields.ts";
import { plainReasoning, REASONING_ORIGINS } from "../../../src/wire/canonical/model/parts.ts";
import { writeAsMessages } from "../../../src/wire/client-apis/fast/chat-as-messages.ts";
import { type Decoded, HubRequest } from "../../../src/wire/client-apis/hub/hub-request.ts";
import type { CacheMarking } from "../../../src/wire/conversation/cache-marking.ts";
import {
  type ScannedChatRequest,
  scanChatRequest,
} from "../../../src/wire/openai-chat/passthrough/scan-request.ts";
import { openaiChat } from "../../../src/wire/openai-chat/translate/codec.ts";
import { openRequest } from "../../fidelity/open-request.ts";
import { REQUEST_CASES } from "../../fidelity/requests/cases.ts";
import { makeBody } from "../../fidelity/requests/request-case.ts";
import { makeTarget } from "../../fidelity/targets.ts";
import { shareOf } from "../../support/long-run.ts";

const TARGET = makeTarget("anthropic-messages");
/** A conversation with a call, and a tool. */
const CALLED: Fields = {
  model: "acme/model",
  messages: [
    { role: "user", content: "Look." },
    {
      role: "assistant",
      content: "I look.",
      tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "a", content: "A wall." },
  ],
  tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
};
const FACTS = { wantsUsageChunk: false, estimatedPromptTokens: 1 };

/** Translates a request, with what was decoded of it or with all of it; `error` where it is rejected. */
function translate(scanned: ScannedChatRequest, decoded: Decoded | null, cacheMarking: CacheMarking | null) {
  const { bytes, text } = scanned;
  const parseWhole = () => parseFields(bytes.toString("utf8"), text);
  try {
    const hub = new HubRequest(openaiChat, { parseWhole, decodeFor: () => decoded }, FACTS);
    const { body, warnings, repair } = hub.encode({ ...TARGET, cacheMarking });
    return { body: JSON.parse(body.toString()), warnings, repair };
  } catch (error) {
    if (error instanceof GatewayError) return { error: error.failure.message };
    throw error;
  }
}

/** Compares the two for a request. Returns whether its conversation could be written. */
function compare(request: unknown): boolean {
  let scanned: ScannedChatRequest;
  try {
    scanned = scanChatRequest(Buffer.from(JSON.stringify(request)));
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
  const isMarked = scanned.bytes.includes("cache_control");
  // The gateway marks nothing where the client has. Others have one of the markings, by their length.
  const marking = isMarked ? null : (MARKINGS[scanned.bytes.length % MARKINGS.length] ?? null);
  const decoded = writeAsMessages(scanned, marking);
  if (decoded === null) return false;
  expect(translate(scanned, decoded, marking)).toEqual(translate(scanned, null, marking));
  return true;
}

const MARKINGS: readonly (CacheMarking | null)[] = [
  null,
  { shared: true, turns: true },
  { shared: true, turns: false },
];

/** Mostly one of the plain values, now and then an odd one. */
function mostly<T>(plain: fc.Arbitrary<T>, ...odd: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 24, arbitrary: plain }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
}

const words = fc.constantFrom("Why?", '“é” "\\ \n', "\n\n begins blank", "ünï", "\u2028", "a\tb", "😀", "{}");
const text = mostly(
  fc.array(words, { minLength: 1, maxLength: 40 }).map((list) => list.join(" ")),
  "",
  " ",
  "\n",
  " \u00a0",
);
const mark = fc.constantFrom(
  {},
  {},
  { cache_control: { type: "ephemeral" } },
  { cache_control: { ttl: "1h" } },
);
const part = mostly<unknown>(
  fc.tuple(text, mark).map(([value, more]) => ({ type: "text", text: value, ...more })),
  { type: "text", text: "a", cache_control: null },
  { type: "text", text: "a", more: 1 },
  { type: "image_url", image_url: { url: "https://example.com/a.png" } },
);
const content = fc.oneof<fc.Arbitrary<unknown>[]>(text, fc.array(part, { minLength: 1, maxLength: 3 }));
const json = mostly(
  fc
    .dictionary(fc.constantFrom("path", 'a "b"', "ü\\"), fc.jsonValue({ maxDepth: 2 }))
    .map((value) => JSON.stringify(value)),
  '{"n":12345678901234567890}',
  ' {"a" : "\\u00e9\\n"}',
  '{"a":"\\ud83d\\ude00"}',
  "",
  "[1]",
  "not json",
);
const name = mostly(fc.constantFrom("look", "read_file", "a-b"), "9", "mcp.server/tool");

/** A turn of the assistant, mostly with calls and their results. */
const turn = fc
  .record({
    said: mostly<unknown>(fc.oneof<fc.Arbitrary<unknown>[]>(content, fc.constant(null)), undefined, "", []),
    calls: fc.array(fc.tuple(name, json, content), { maxLength: 3 }),
    at: fc.nat(),
    more: mostly<object>(fc.constant({}), { refusal: null }, { name: "ann" }),
  })
  .map(({ said, calls, at, more }) => {
    const ids = calls.map((_, index) => `call_${at}_${index}`);
    const tool_calls = calls.map(([called, args], index) => ({
      id: ids[index],
      type: "function",
      function: { name: called, arguments: args },
    }));
    const own = tool_calls.length > 0 ? { tool_calls } : {};
    const results = calls.map(([, , given], index) => ({
      role: "tool",
      tool_call_id: ids[index],
      content: given,
    }));
    return [{ role: "assistant", content: said, ...own, ...more }, ...results];
  });
const asked = content.map((value) => [{ role: "user", content: value }]);
const instructed = fc
  .tuple(fc.constantFrom("system", "developer"), content)
  .map(([role, value]) => [{ role, content: value }]);

const tool = fc
  .record({
    name,
    description: mostly<unknown>(fc.constantFrom(undefined, "Looks.", '“é”\n"'), null),
    parameters: mostly<unknown>(
      fc.constantFrom({ type: "object", properties: { path: { type: "string" } } }, { type: "object" }),
      { properties: {}, type: "object" },
      {},
      undefined,
    ),
    strict: mostly<unknown>(fc.constant(undefined), true, null),
  })
  .map((fn) => ({ type: "function", function: fn }));

/** A choice that requires a tool which is not there is rejected before anything is translated. */
function withPossibleChoice<T extends { tools?: unknown; tool_choice?: unknown }>(body: T): T {
  const { tools, tool_choice: choice } = body;
  const names = ((tools ?? []) as { function: { name: string } }[]).map(({ function: fn }) => fn.name);
  const isPossible = typeof choice === "string" ? choice !== "required" : names.includes("look");
  return choice === undefined || isPossible || (choice === "required" && names.length > 0)
    ? body
    : { ...body, tool_choice: "auto" };
}

const request = fc
  .record(
    {
      model: fc.constant("acme/model"),
      messages: fc
        .tuple(
          fc.array(instructed, { maxLength: 2 }),
          asked,
          fc.array(
            fc.oneof(
              { weight: 12, arbitrary: turn },
              { weight: 6, arbitrary: asked },
              { weight: 1, arbitrary: instructed },
            ),
            { maxLength: 5 },
          ),
          mostly<unknown[]>(asked, []),
        )
        .map(([first, begin, rest, end]) => [...first.flat(), ...begin, ...rest.flat(), ...end]),
      tools: fc.uniqueArray(tool, { selector: ({ function: fn }) => fn.name, minLength: 1, maxLength: 3 }),
      tool_choice: fc.constantFrom<unknown>("auto", "none", "required", {
        type: "function",
        function: { name: "look" },
      }),
      parallel_tool_calls: fc.boolean(),
      stream: fc.boolean(),
      max_tokens: fc.constantFrom(1, 100),
      temperature: fc.constantFrom(0, 1.5),
      stop: fc.constantFrom<unknown>("x", ["a", " "]),
      reasoning_effort: mostly<unknown>(fc.constant(undefined), "low"),
      response_format: mostly<unknown>(fc.constant(undefined), { type: "json_object" }),
      seed: fc.constant(1),
      unknown: fc.constant({ a: [1] }),
    },
    { requiredKeys: ["model", "messages"] },
  )
  .map(withPossibleChoice);

describe("a chat request whose messages are written for Anthropic's API without decoding them", () => {
  test("becomes what the translation of the whole request becomes, with the same warnings", () => {
    let written = 0;
    fc.assert(
      fc.property(request, (body) => {
        if (compare(body)) written++;
      }),
      { numRuns: shareOf(2_000, 1 / 5) },
    );
    // Marks whose lifetimes may not follow each other are corrected in the decoded request.
    expect(written).toBeGreaterThan(shareOf(150, 1 / 5));
  });

  test("becomes what the translation of the whole request becomes in each case of the fidelity table", () => {
    const bodies = REQUEST_CASES.flatMap(([, list]) => list).flatMap(({ bodies: { chat } }) => chat ?? []);
    const written = bodies.filter((body) => compare(makeBody("chat", body as Fields)));
    expect(written.length).toBeGreaterThan(10);
  });

  test("is one with calls in parallel, results, marks of caches, and a system message", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Look.", cache_control: { type: "ephemeral" } }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "a", type: "function", function: { name: "look", arguments: '{"at":"\\"é\\""}' } },
          { id: "b", type: "function", function: { name: "look", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "A wall." },
      { role: "tool", tool_call_id: "b", content: "" },
      { role: "user", content: "And now?" },
    ];
    const scanned = scanChatRequest(Buffer.from(JSON.stringify({ model: "acme/model", messages })));
    const { body } = translate(scanned, writeAsMessages(scanned), null);
    expect(body.system).toBe("Be brief.");
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Look.", cache_control: { type: "ephemeral" } }] },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "a", name: "look", input: { at: '"é"' } },
          { type: "tool_use", id: "b", name: "look", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "A wall." },
          { type: "tool_result", tool_use_id: "b" },
          { type: "text", text: "And now?" },
        ],
      },
    ]);
  });

  test("is decoded if something is stored of one of its turns, which is restored", () => {
    const reasoning = [
      { ...plainReasoning("Hm."), signature: "signed", origin: REASONING_ORIGINS.anthropic },
    ];
    const turn = { keys: ["a"], reasoning, signatures: {} };
    const [name] = openRequest("chat", CALLED).encoding.plan([TARGET]).nameTurns()?.list() ?? [];
    const recallTurn = (asked: string) => (asked === name ? turn : null);
    const { body } = openRequest("chat", CALLED).encoding.encode({ ...TARGET, recallTurn });
    expect(JSON.parse(body.toString()).messages[1].content[0]).toMatchObject({
      type: "thinking",
      signature: "signed",
    });
  });

  test.each([
    ["refuses tools", { refusedFields: new Set(["tools"]) }],
    ["takes only certain fields", { knownFields: new Set(["model", "messages", "max_tokens"]) }],
  ])("is decoded for a provider that %s, which gets none", (_what, deviation) => {
    const provider = { ...TARGET.provider, ...deviation };
    const { body } = openRequest("chat", CALLED).encoding.encode({ ...TARGET, provider });
    const sent = JSON.parse(body.toString());
    expect(sent.messages).toHaveLength(3);
    expect("tools" in sent).toBe(false);
  });
});
