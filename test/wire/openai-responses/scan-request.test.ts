import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import type { Fields } from "../../../src/base/json/fields.ts";
import type { ModelTarget } from "../../../src/wire/canonical/model/format.ts";
import { wrapReasoning } from "../../../src/wire/canonical/model/reasoning-envelope.ts";
import type { OutlineMessage } from "../../../src/wire/conversation/calls/outline.ts";
import { repairToolCalls } from "../../../src/wire/conversation/calls/repair-tool-calls.ts";
import { toolCallRulesOf } from "../../../src/wire/formats/traits.ts";
import { encodeResponsesError } from "../../../src/wire/openai-responses/errors.ts";
import {
  canForwardResponses,
  forwardResponsesRequest,
  type ResponsesTarget,
} from "../../../src/wire/openai-responses/passthrough/forward-request.ts";
import { scanResponsesRequest } from "../../../src/wire/openai-responses/passthrough/scan-request.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/translate/codec.ts";

function scan(body: unknown) {
  return scanResponsesRequest(Buffer.from(JSON.stringify(body)));
}

/** A model about which nothing is known. */
const MODEL: ModelTarget = { name: "gpt-5", maxOutputTokens: null, reasoning: null };
const PROVIDER: ResponsesTarget["provider"] = { model: MODEL, refusedFields: new Set() };

function forward(body: unknown, provider: Partial<ResponsesTarget["provider"]> = {}): Fields {
  const target: ResponsesTarget = {
    provider: { ...PROVIDER, ...provider },
    hashUser: (user) => `hashed(${user})`,
  };
  return JSON.parse(forwardResponsesRequest(scan(body), target).toString("utf8"));
}

function failureOf(body: unknown) {
  try {
    scan(body);
  } catch (error) {
    if (error instanceof GatewayError) return error.failure;
    throw error;
  }
  return null;
}

const call = (id: string) => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" });
const result = (id: string) => ({ type: "function_call_output", call_id: id, output: "ok" });
const user = { role: "user", content: "hi" };
const assistant = { role: "assistant", content: [{ type: "output_text", text: "hi" }] };
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" };

describe("checking an invalid Responses request", () => {
  const ok = { model: "m", input: "x" };
  const cases: readonly (readonly [unknown, string])[] = [
    [{ input: "x" }, "model"],
    [{ model: 5, input: "x" }, "model"],
    [{ model: "m" }, "input"],
    [{ model: "m", input: {} }, "input"],
    [{ model: "m", input: ["x"] }, "input[0]"],
    [{ model: "m", input: [{ role: "robot", content: "x" }] }, "input[0].role"],
    [{ model: "m", input: [user, { role: "user" }] }, "input[1].content"],
    [{ model: "m", input: [{ role: "user", content: [{ text: "x" }] }] }, "input[0].content[0]"],
    [
      { model: "m", input: [{ role: "user", content: [{ type: "input_text" }] }] },
      "input[0].content[0].text",
    ],
    [{ model: "m", input: [{ type: 5 }] }, "input[0].type"],
    [{ model: "m", input: [{ ...call("c"), name: null }] }, "input[0].name"],
    [{ model: "m", input: [{ ...call("c"), arguments: {} }] }, "input[0].arguments"],
    [{ model: "m", input: [{ ...result("c"), call_id: 1 }] }, "input[0].call_id"],
    [{ model: "m", input: [{ ...result("c"), output: 1 }] }, "input[0].output"],
    [{ model: "m", input: [{ ...reasoning, summary: "x" }] }, "input[0].summary"],
    [{ ...ok, temperature: 2.1 }, "temperature"],
    [{ ...ok, temperature: "1" }, "temperature"],
    [{ ...ok, top_p: -0.1 }, "top_p"],
    [{ ...ok, max_output_tokens: 0 }, "max_output_tokens"],
    [{ ...ok, max_output_tokens: 1.5 }, "max_output_tokens"],
    [{ ...ok, stream: "yes" }, "stream"],
    [{ ...ok, instructions: [] }, "instructions"],
    [{ ...ok, tools: {} }, "tools"],
    [{ ...ok, tools: [{ name: "f" }] }, "tools[0].type"],
    [{ ...ok, tools: [{ type: "function" }] }, "tools[0].name"],
    [{ ...ok, tools: [{ type: "function", name: "f", parameters: [] }] }, "tools[0].parameters"],
    [{ ...ok, tool_choice: "some" }, "tool_choice"],
    [{ ...ok, tool_choice: { type: "function" } }, "tool_choice"],
    [{ ...ok, text: "x" }, "text"],
    [{ ...ok, reasoning: "high" }, "reasoning"],
    [{ ...ok, models: [1] }, "models"],
    [{ ...ok, provider: { only: "x" } }, "provider.only"],
    [{ ...ok, provider: { zdr: "yes" } }, "provider.zdr"],
  ];
  test.each(cases)("%j is rejected with the name of the field", (body, field) => {
    const failure = failureOf(body);
    expect(failure).toMatchObject({ code: "invalid_request", metadata: { field } });
    expect(failure?.message).toStartWith(field);
  });

  test.each(["", "{", "[]", '{"model":"m","model":"n","input":"x"}', '{"model":"m","input":"a\nb"}'])(
    "the body %j is rejected",
    (text) => {
      expect(() => scanResponsesRequest(Buffer.from(text))).toThrow(GatewayError);
    },
  );

  test("a body that is not UTF-8 is rejected with that reason", () => {
    expect(() => scanResponsesRequest(Buffer.from([0x22, 0xff, 0x22]))).toThrow("UTF-8");
  });
});

describe("scanning a valid Responses request", () => {
  const lenient: readonly unknown[] = [
    {
      model: "m",
      input: [],
      tools: [{ type: "web_search" }, { type: "acme:hologram", name: 5 }],
      tool_choice: { type: "web_search" },
    },
    { model: "m", input: [{ type: "hologram" }, { type: "message", role: "user", content: [] }], x: 1 },
    {
      model: "m",
      input: "x",
      store: null,
      background: false,
      previous_response_id: null,
      conversation: null,
      temperature: null,
    },
    { model: "m", input: [{ ...reasoning, summary: null, content: null }] },
    { model: "m", input: [{ ...result("c"), output: [{ type: "input_image", image_url: "https://i" }] }] },
  ];
  test.each(lenient)("%j is accepted", (body) => {
    expect(failureOf(body)).toBeNull();
  });

  test("the fields that the gateway needs are read", () => {
    const scanned = scan({
      model: "acme/ß",
      stream: true,
      instructions: "1234",
      input: [
        { role: "user", content: "12" },
        {
          role: "user",
          content: [
            { type: "input_text", text: "é" },
            { type: "input_image", image_url: "long" },
          ],
        },
        call("c"),
        result("c"),
      ],
      models: ["b/c"],
      provider: { order: ["Acme"], allow_fallbacks: false },
    });
    expect(scanned).toMatchObject({
      model: "acme/ß",
      stream: true,
      fallbackModels: ["b/c"],
      preferences: { order: ["acme"], only: null, ignore: [], allowFallbacks: false },
      needsHub: false,
      promptTextBytes: 6 + 4 + 4 + 4 + 4,
    });
  });
});

describe("the outline of a Responses request", () => {
  const a = (...callIds: string[]) => expect.objectContaining({ kind: "assistant", callIds });
  const r = (callId: string) => expect.objectContaining({ kind: "result", callId });
  const other: OutlineMessage = { kind: "other" };
  const hosted = { type: "shell_call_output", call_id: "s" };
  const cases: readonly (readonly [readonly Fields[], readonly unknown[], boolean])[] = [
    [
      [user, reasoning, assistant, call("a"), call("b"), result("b"), result("a"), assistant],
      [other, a("a", "b"), r("b"), r("a"), a()],
      true,
    ],
    [
      [call("a"), reasoning, call("b"), result("a"), hosted, result("b"), user],
      [a("a", "b"), r("a"), r("b"), other],
      true,
    ],
    [[call("a"), result("a"), reasoning, call("b"), result("b")], [a("a"), r("a"), a("b"), r("b")], true],
    [[call("a"), user], [a("a"), other], false],
    [[user, result("a")], [other, r("a")], false],
    [[call("a"), call("a"), result("a")], [a("a", "a"), r("a")], false],
  ];
  test.each(cases)("the outline of %j shows its turns and results", (input, outline, isValid) => {
    const scanned = scan({ model: "m", input });
    expect(scanned.outline.read() as readonly unknown[]).toEqual([...outline]);
    const repair = repairToolCalls(scanned.outline.read(), toolCallRulesOf("openai-responses", "openai"));
    expect(repair === null).toBe(isValid);
  });

  test("the outline equals that of the decoded messages, except for hosted calls", () => {
    for (const [input] of cases) {
      const { messages } = openaiResponses.decodeRequest({ model: "m", input });
      const roles = messages
        .filter(({ parts }) => parts.some(({ kind }) => kind !== "native"))
        .map(({ role }) => role);
      const expected = scan({ model: "m", input })
        .outline.read()
        .map(({ kind }) => kind);
      const runs = expected.filter((kind, at) => kind !== "result" || expected[at - 1] !== "result");
      expect(roles.map((role) => KINDS[role])).toEqual(runs);
    }
  });
  const KINDS = {
    assistant: "assistant",
    tool: "result",
    user: "other",
    system: "other",
    developer: "other",
  } as const;
});

describe("forwarding a Responses request", () => {
  test("only the model, store and the gateway's own fields change", () => {
    const text =
      '{ "models":["a/b"], "model" : "x/y","input":"ß \\u00df", "usage":{"include":true},"unknown": [1,  2],"provider":{},"session_id":"s" }';
    const sent = forwardResponsesRequest(scanResponsesRequest(Buffer.from(text)), {
      provider: PROVIDER,
      hashUser: (user) => user,
    }).toString("utf8");
    expect(sent).toBe('{ "model" : "gpt-5","input":"ß \\u00df", "unknown": [1,  2] ,"store":false}');
  });

  test.each([{}, { store: null }, { store: false }])("store is false for a request with %j", (said) => {
    const body = { model: "m", input: "x", ...said, z: 1 };
    expect(forward(body)).toEqual({ ...body, model: "gpt-5", store: false });
  });

  test("a function without parameters gets an empty schema", () => {
    const schema = { type: "object", properties: {} };
    const tools = [
      { type: "function", name: "f" },
      { type: "function", name: "g", parameters: null },
      { type: "web_search" },
    ];
    expect(forward({ model: "m", input: "x", tools })).toMatchObject({
      tools: [{ parameters: schema }, { parameters: schema }, { type: "web_search" }],
    });
  });

  const foreign = {
    signature: "s",
    encrypted: null,
    id: null,
    origin: "anthropic-claude-v1",
    isSummary: false,
  };
  const uuid = "rs_0b824fe9-3250-2588-0bbf-0810402fc822";
  const paths: readonly (readonly [readonly Fields[], string, boolean])[] = [
    [[user, reasoning], "gpt-5", true],
    [[user, reasoning], "grok-4", false],
    [[{ ...reasoning, id: uuid }], "grok-4", true],
    [[{ ...reasoning, id: uuid }], "gpt-5", false],
    [[{ type: "item_reference", id: "rs_1" }], "gpt-5", false],
    [[{ ...reasoning, encrypted_content: wrapReasoning(foreign) }], "gpt-5", false],
    [[{ ...user, content: wrapReasoning(foreign) }], "gpt-5", true],
  ];
  test.each(paths)("the input %j may be forwarded to %s: %p", (input, model, can) => {
    expect(canForwardResponses(scan({ model: "m", input }), { ...MODEL, name: model })).toBe(can);
  });
});

describe("an error of the Responses API", () => {
  test("the error has OpenAI's form with the gateway's metadata", () => {
    const metadata = { field: "input[0].role", more: 1 };
    expect(
      encodeResponsesError({
        code: "invalid_request",
        message: "input[0].role must be …",
        status: 400,
        metadata,
      }),
    ).toEqual({
      error: {
        message: "input[0].role must be …",
        type: "invalid_request_error",
        code: null,
        param: "input[0].role",
        status: 400,
        metadata,
      },
      error_type: "invalid_request",
    });
  });

  const words = [
    ["insufficient_credits", 402, "insufficient_quota"],
    ["rate_limit_exceeded", 429, "rate_limit_exceeded"],
    ["context_length_exceeded", 400, "context_length_exceeded"],
    ["authentication", 401, "invalid_api_key"],
    ["unavailable", 503, "server_error"],
  ] as const;
  test.each(words)("%s (HTTP %d) has the code %s", (code, status, word) => {
    expect(encodeResponsesError({ code, message: "m", status })).toMatchObject({
      error: { code: word, status },
    });
  });
});
