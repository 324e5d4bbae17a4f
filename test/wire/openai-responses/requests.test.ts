import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import type { Fields } from "../../../src/base/json/fields.ts";
import { type Part, REASONING_ORIGINS } from "../../../src/wire/canonical/model/parts.ts";
import { wrapReasoning } from "../../../src/wire/canonical/model/reasoning-envelope.ts";
import type {
  ConversationRequest,
  FunctionTool,
  Message,
} from "../../../src/wire/canonical/model/request.ts";
import { openaiResponses } from "../../../src/wire/openai-responses/translate/codec.ts";
import { makeRequest, readRecordedAnswers, TARGET } from "./support.ts";

const { decodeRequest, encodeRequest } = openaiResponses;

/** A second turn of Codex. */
const CODEX: Fields = {
  model: "gpt-5",
  instructions: "Be brief.",
  input: [
    {
      type: "message",
      id: "msg_0",
      role: "developer",
      content: [{ type: "input_text", text: "You may edit." }],
    },
    { role: "user", content: "Hi" },
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "Hm." }],
      content: null,
      encrypted_content: "gAAA",
    },
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      phase: "commentary",
      content: [
        { type: "output_text", text: "Looking", annotations: [], logprobs: [] },
        {
          type: "output_text",
          text: "…",
          annotations: [{ type: "url_citation", url: "https://a", title: "A", start_index: 0, end_index: 1 }],
        },
        { type: "refusal", refusal: "No." },
      ],
    },
    {
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: "look",
      arguments: "{}",
      namespace: "crm",
      status: "completed",
    },
    { type: "custom_tool_call", call_id: "call_2", name: "patch", input: "*** Begin" },
    {
      type: "function_call_output",
      id: "fco_1",
      call_id: "call_1",
      output: [
        { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "high" },
        { type: "input_text", text: "ok" },
      ],
    },
    { type: "custom_tool_call_output", call_id: "call_2", output: "" },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
    { type: "message", role: "assistant", content: "Done" },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
        { type: "input_file", file_id: "file_1" },
        { type: "input_image", file_id: "file_2", detail: "auto" },
        { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
        { type: "input_hologram", depth: 3 },
      ],
    },
  ],
  tools: [
    {
      type: "function",
      name: "f",
      description: "d",
      parameters: { type: "object" },
      strict: true,
      defer_loading: true,
    },
    {
      type: "function",
      name: "g",
      description: null,
      parameters: { type: "object", properties: {} },
      strict: null,
    },
    {
      type: "namespace",
      name: "crm",
      description: "Customers",
      tools: [
        { type: "function", name: "look", parameters: { type: "object" } },
        { type: "custom", name: "free" },
      ],
      x: 1,
    },
    {
      type: "namespace",
      name: "crm",
      description: "Again",
      tools: [{ type: "function", name: "seek", parameters: {} }],
    },
    {
      type: "custom",
      name: "patch",
      description: "p",
      format: { type: "grammar", syntax: "lark", definition: "start: /a/" },
    },
    { type: "web_search", external_web_access: true },
  ],
  tool_choice: { type: "custom", name: "patch" },
  parallel_tool_calls: true,
  reasoning: { effort: "low", summary: "auto", context: "all" },
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content", "message.output_text.logprobs"],
  prompt_cache_key: "k",
  client_metadata: { thread_id: "t" },
  text: {
    format: { type: "json_schema", name: "n", schema: { type: "object" }, strict: true, description: null },
    verbosity: "low",
  },
  truncation: "auto",
  metadata: { a: "b" },
  max_output_tokens: 100,
  temperature: 0.5,
  top_p: 0.9,
  top_logprobs: 3,
  user: "u",
  safety_identifier: "s",
  service_tier: "flex",
  previous_response_id: null,
  some_day: { x: [1] },
};

/** Encodes for a host that does not encrypt reasoning, so that nothing is requested or left out. */
function roundTrip(body: Fields): Fields {
  const target = { ...TARGET, name: String(body["model"]), noEncryptedReasoning: true };
  return encodeRequest(decodeRequest(body), target).body;
}

describe("a Responses request that is decoded and encoded again", () => {
  const bare = { model: "gpt-5", store: false };
  const cases: readonly (readonly [string, Fields])[] = [
    ["a request of Codex", CODEX],
    ["text as input", { ...bare, input: "Hi" }],
    ["no input items", { ...bare, input: [] }],
    ["one user message with text", { ...bare, input: [{ role: "user", content: "Hi" }] }],
    [
      "allowed tools",
      {
        ...bare,
        input: "x",
        tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
      },
    ],
    ["a hosted choice", { ...bare, input: "x", tool_choice: { type: "web_search_preview" } }],
    [
      "a choice of an unknown tool",
      { ...bare, input: "x", tool_choice: { type: "custom", name: "unknown" } },
    ],
    [
      "nulls",
      {
        ...bare,
        input: "x",
        temperature: null,
        tools: [],
        reasoning: null,
        text: null,
        stream: false,
        tool_choice: null,
      },
    ],
    ["empty objects", { ...bare, input: "x", reasoning: {}, text: {}, metadata: {} }],
    ["an unknown output format", { ...bare, input: "x", text: { format: { type: "grammar", rule: "a" } } }],
    [
      "an assistant message of unknown parts",
      { ...bare, input: [{ role: "assistant", content: [{ type: "output_audio", data: "" }] }] },
    ],
    ["reasoning without a word", { ...bare, input: [{ type: "reasoning", id: "rs_1", summary: [] }] }],
    [
      "reasoning in several pieces",
      {
        ...bare,
        input: [
          {
            type: "reasoning",
            id: "rs_1",
            summary: [
              { type: "summary_text", text: "a" },
              { type: "summary_text", text: "" },
            ],
            content: [{ type: "reasoning_text", text: "b" }],
            encrypted_content: "gA",
          },
          {
            type: "reasoning",
            id: "rs_2",
            summary: [],
            encrypted_content: "gB",
          },
        ],
      },
    ],
    [
      "reasoning without encrypted content, as null, as an empty text or absent",
      {
        ...bare,
        input: [
          { encrypted_content: null, content: null },
          { encrypted_content: "", content: [] },
          { encrypted_content: null, content: [{ type: "reasoning_text", text: "b" }] },
          {},
        ].map((more, at) => ({
          type: "reasoning",
          id: `rs_${at}`,
          summary: [{ type: "summary_text", text: "a" }],
          ...more,
        })),
      },
    ],
    [
      "two assistant messages",
      {
        ...bare,
        input: [
          { role: "assistant", content: "a" },
          { role: "assistant", content: "b" },
        ],
      },
    ],
    [
      "a hosted result between results' calls",
      {
        ...bare,
        input: [
          { type: "shell_call", call_id: "s" },
          { type: "shell_call_output", call_id: "s" },
          { role: "user", content: "x" },
        ],
      },
    ],
  ];

  test.each(cases)("nothing changes: %s", (_, body) => {
    expect(roundTrip(body)).toEqual(body);
  });

  test("every recorded output is kept as input", () => {
    for (const { name, body } of readRecordedAnswers()) {
      const model = name.startsWith("xai") ? "grok-4" : "gpt-5";
      const request = { model, input: body["output"], store: false };
      expect([name, roundTrip(request)]).toEqual([name, request]);
    }
  });

  test("any sequence of turns is kept", () => {
    const item = fc.constantFrom(...(CODEX["input"] as Fields[]));
    // A hosted item is moved after the results around it.
    const plain = item.filter(({ type }) => type !== "web_search_call");
    fc.assert(
      fc.property(fc.array(plain, { maxLength: 12 }), (input) => {
        const body = { ...bare, input };
        expect(roundTrip(body)).toEqual(body);
      }),
    );
  });
});

describe("decoding the items of the model", () => {
  const decoded = decodeRequest(CODEX);
  test("adjacent items are one turn, and their results one message", () => {
    const shape = decoded.messages.map(({ role, parts }) => [role, parts.map(({ kind }) => kind)]);
    expect(shape as unknown).toEqual([
      ["system", ["text"]],
      ["developer", ["text"]],
      ["user", ["text"]],
      ["assistant", ["reasoning", "reasoning", "text", "text", "refusal", "tool-call", "tool-call"]],
      ["tool", ["tool-result", "tool-result"]],
      ["assistant", ["native", "text"]],
      ["user", ["file", "file", "image", "audio", "native"]],
    ]);
  });

  test("reasoning has the vendor that encrypted it as its origin", () => {
    const reasoning = decoded.messages[3]?.parts.slice(0, 2);
    expect(reasoning).toMatchObject([
      { text: "Hm.", isSummary: true, encrypted: null, id: "rs_1", origin: null },
      { text: "", encrypted: "gAAA", id: "rs_1", origin: "openai-responses-v1" },
    ]);
  });

  test("results stay with their calls when a hosted call is between them", () => {
    const result = (id: string) => ({ type: "function_call_output", call_id: id, output: "" });
    const { messages } = decodeRequest({
      model: "m",
      input: [
        result("a"),
        { type: "shell_call_output", call_id: "s", output: [] },
        result("b"),
        { role: "user", content: "x" },
      ],
    });
    expect(messages.map(({ role, parts }) => [role, parts.length])).toEqual([
      ["tool", 2],
      ["assistant", 1],
      ["user", 1],
    ]);
  });
});

describe("tools with the same name in several namespaces", () => {
  const search = { type: "function", name: "search", parameters: { type: "object" } };
  const group = (name: string) => ({ type: "namespace", name, description: name, tools: [search] });
  const calls = ["a", "b"].map((namespace) => ({
    ...{ type: "function_call", call_id: namespace, name: "search", namespace, arguments: "{}" },
  }));
  const body = { model: "m", store: false, input: calls, tools: [group("a"), group("b"), search] };

  test("they have different names in other formats and their own names in this one", () => {
    const request = decodeRequest(body);
    expect(request.tools.map((tool) => (tool.kind === "native" ? "" : tool.name))).toEqual([
      "a__search",
      "b__search",
      "search",
    ]);
    expect(request.messages[0]?.parts).toMatchObject([{ name: "a__search" }, { name: "b__search" }]);
    expect(roundTrip(body)).toEqual(body);
  });
});

describe("encoding a request of another format for Responses", () => {
  const reasons = { ...TARGET, reasoning: { efforts: ["low", "medium", "high"] } };
  const encode = (fields: Partial<ConversationRequest>, target = TARGET as typeof reasons | typeof TARGET) =>
    encodeRequest(makeRequest(fields), target);

  test("nothing is stored, and encrypted reasoning is requested", () => {
    expect(encode({}, reasons).body).toEqual({
      model: "gpt-5",
      input: [],
      store: false,
      include: ["reasoning.encrypted_content"],
    });
    expect(encode({}).body).toEqual({ model: "gpt-5", input: [], store: false });
  });

  test("parameters without an equivalent are left out with a warning", () => {
    const { body, warnings } = encode({
      stop: ["x"],
      seed: 1,
      topK: 3,
      frequencyPenalty: 1,
      presencePenalty: 1,
      logitBias: { 5: 1 },
      n: 1,
    });
    expect(body).toEqual({ model: "gpt-5", input: [], store: false });
    expect(warnings.map(({ field }) => field)).toEqual([
      "stop",
      "top_k",
      "frequency_penalty",
      "presence_penalty",
      "seed",
      "logit_bias",
    ]);
  });

  test("a request for several answers is rejected", () => {
    expect(() => encode({ n: 2 })).toThrow(GatewayError);
  });

  test("functions that are not strict get a schema and strict: false", () => {
    const tool: FunctionTool = {
      kind: "function",
      name: "f",
      description: null,
      parameters: null,
      strict: null,
    };
    const { body } = encode({ tools: [tool], toolChoice: { kind: "tool", name: "f" } });
    expect(body).toMatchObject({
      tools: [{ type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false }],
      tool_choice: { type: "function", name: "f" },
    });
  });

  const reasoningCases: readonly (readonly [object, object | undefined])[] = [
    [{ effort: "xhigh" }, { effort: "high", summary: "auto" }],
    [{ effort: "none" }, { effort: "low" }],
    [{ enabled: false }, { effort: "low" }],
    [{ budgetTokens: 8_000 }, { effort: "medium", summary: "auto" }],
    [{ effort: "low", hidden: true }, { effort: "low" }],
    [{ enabled: true }, { effort: "medium", summary: "auto" }],
  ];
  test.each(reasoningCases)("the reasoning parameters %p become %p", (parameters, expected) => {
    const nothing = {
      enabled: null,
      effort: null,
      budgetTokens: null,
      adaptive: false,
      summary: null,
      hidden: false,
    };
    expect(encode({ reasoning: { ...nothing, ...parameters } }, reasons).body["reasoning"]).toEqual(expected);
  });

  test("output formats are sent under text, with a name", () => {
    const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
    const outputFormat = {
      kind: "json-schema",
      name: null,
      description: null,
      schema,
      strict: true,
    } as const;
    expect(encode({ outputFormat, verbosity: "low" }).body["text"]).toEqual({
      format: { type: "json_schema", name: "response", schema, strict: true },
      verbosity: "low",
    });
  });

  test("messages become items", () => {
    const call: Part = { kind: "tool-call", id: "c", name: "f", tool: "function", arguments: "" };
    const result: Part = {
      kind: "tool-result",
      callId: "c",
      tool: "function",
      isError: false,
      content: [{ kind: "text", text: "r" }],
    };
    const { body, warnings } = encode({
      messages: [
        { role: "system", parts: [{ kind: "text", text: "s" }] },
        {
          role: "user",
          parts: [
            { kind: "text", text: "u" },
            { kind: "image", source: { kind: "url", url: "https://i", mediaType: null } },
            { kind: "native", format: "gemini", type: "executableCode", value: {} },
          ],
        },
        {
          role: "assistant",
          parts: [reasoningPart("anthropic"), { kind: "text", text: "a" }, { kind: "text", text: "b" }, call],
        },
        { role: "tool", parts: [result] },
      ],
    });
    expect(body["input"]).toEqual([
      { type: "message", role: "system", content: [{ type: "input_text", text: "s" }] },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "u" },
          { type: "input_image", image_url: "https://i" },
        ],
      },
      {
        type: "message",
        role: "assistant",
        content: [
          { type: "output_text", text: "a" },
          { type: "output_text", text: "b" },
        ],
      },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "r" },
    ]);
    expect(warnings.map(({ field }) => field)).toEqual(["messages[1].content[2]"]);
  });

  test.each(["audio", "video"] as const)(
    "a message with %s, which this API does not accept, is rejected",
    (kind) => {
      const media: Part = { kind, source: { kind: "base64", mediaType: `${kind}/mpeg`, data: "AA==" } };
      const messages: Message[] = [{ role: "user", parts: [media] }];
      expect(() => encode({ messages })).toThrow(
        `messages[0].content[0] is ${kind}, which this model does not take. Remove it or choose another model.`,
      );
    },
  );
});

function reasoningPart(origin: keyof typeof REASONING_ORIGINS, id = "rs_1"): Part {
  const isOwn = origin === "openai" || origin === "xai";
  return {
    kind: "reasoning",
    text: "hm",
    isSummary: isOwn,
    signature: isOwn ? null : "sig",
    encrypted: isOwn ? "enc" : null,
    id,
    origin: REASONING_ORIGINS[origin],
  };
}

describe("replaying reasoning to a Responses upstream", () => {
  const uuid = "rs_0b824fe9-3250-2588-0bbf-0810402fc822";
  const cases: readonly (readonly [keyof typeof REASONING_ORIGINS, string, string, boolean])[] = [
    ["openai", "rs_1", "gpt-5", true],
    ["openai", "rs_1", "grok-4", false],
    ["xai", uuid, "grok-4", true],
    ["xai", uuid, "gpt-5", false],
    ["anthropic", "rs_1", "gpt-5", false],
    ["gemini", "rs_1", "gpt-5", false],
  ];
  test.each(cases)("reasoning of %s (%s) is sent to %s: %p", (origin, id, name, goes) => {
    const request = makeRequest({ messages: [{ role: "assistant", parts: [reasoningPart(origin, id)] }] });
    const item = {
      type: "reasoning",
      id,
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: "enc",
    };
    expect(encodeRequest(request, { ...TARGET, name }).body["input"]).toEqual(goes ? [item] : []);
  });

  test("reasoning in an envelope gets its own vendor back", () => {
    const carried = {
      signature: "sig",
      encrypted: null,
      id: null,
      origin: REASONING_ORIGINS.anthropic,
      isSummary: false,
    };
    const item = {
      type: "reasoning",
      id: "rs_x",
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: wrapReasoning(carried),
    };
    const { messages } = decodeRequest({ model: "m", input: [item] });
    expect(messages).toEqual([
      {
        role: "assistant",
        parts: [{ kind: "reasoning", text: "hm", ...carried }],
      },
    ]);
  });
});

test("an item reference that is not known is left out of a Responses request, with a warning", () => {
  const input = [
    { role: "user", content: "x" },
    { type: "item_reference", id: "rs_1" },
    { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
  ];
  const request = decodeRequest({ model: "m", input });
  expect(request.messages[1]?.parts.map(({ kind }) => kind)).toEqual(["native", "tool-call"]);
  const { body, warnings } = encodeRequest(request, TARGET);
  expect(body["input"]).toEqual([input[0], input[2]]);
  expect(warnings).toHaveLength(1);
});
