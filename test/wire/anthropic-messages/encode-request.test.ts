import { describe, expect, test } from "bun:test";
import type { Fields } from "../../../src/base/json/fields.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/translate/codec.ts";
import type { ModelTarget } from "../../../src/wire/canonical/model/format.ts";
import type { Part, ReasoningPart } from "../../../src/wire/canonical/model/parts.ts";
import {
  type ConversationRequest,
  EMPTY_REQUEST,
  type Message,
  type ReasoningParameters,
} from "../../../src/wire/canonical/model/request.ts";
import { TARGET } from "./support.ts";

const makeText = (text: string): Part => ({ kind: "text", text });
const user = (...parts: Part[]): Message => ({ role: "user", parts });
const assistant = (...parts: Part[]): Message => ({ role: "assistant", parts });
const tool = (callId: string, ...content: Part[]): Message => ({
  role: "tool",
  parts: [{ kind: "tool-result", callId, tool: "function", content, isError: false }],
});
const call = (id: string, args: string): Part => ({
  kind: "tool-call",
  id,
  name: "f",
  tool: "function",
  arguments: args,
});
const reasoning = (part: Partial<ReasoningPart>): Part => ({
  kind: "reasoning",
  text: "",
  isSummary: false,
  signature: null,
  encrypted: null,
  id: null,
  origin: null,
  ...part,
});

/** Encodes a request that came in another format. */
function encode(request: Partial<ConversationRequest>, target: Partial<ModelTarget> = {}) {
  const { body, warnings } = anthropicMessages.encodeRequest(
    { ...EMPTY_REQUEST, messages: [user(makeText("hi"))], ...request },
    { ...TARGET, ...target },
  );
  return { body: body as Fields & { messages: Fields[] }, warned: warnings.map(({ field }) => field) };
}

describe("encoding messages of other formats for Anthropic", () => {
  test("a user of up to 256 characters is sent, and a longer one left out with a warning", () => {
    const longest = "u".repeat(256);
    expect(encode({ user: longest })).toMatchObject({
      body: { metadata: { user_id: longest } },
      warned: [],
    });
    const longer = encode({ user: `${longest}u` });
    expect(longer.body["metadata"]).toBeUndefined();
    expect(longer.warned).toEqual(["user"]);
  });

  test("leading system and developer messages become the system prompt", () => {
    const messages: Message[] = [
      { role: "system", parts: [makeText("a")] },
      { role: "developer", parts: [{ kind: "text", text: "b", cache: { ttl: "1h" } }] },
      user(makeText("hi")),
    ];
    expect(encode({ messages }).body).toMatchObject({
      system: [
        { type: "text", text: "a" },
        { type: "text", text: "b", cache_control: { type: "ephemeral", ttl: "1h" } },
      ],
      messages: [{ role: "user", content: "hi" }],
    });
  });

  test("a later system message keeps its position as a user message, with a warning", () => {
    const { body, warned } = encode({
      messages: [user(makeText("hi")), { role: "system", parts: [makeText("now rhyme")] }],
    });
    expect(body.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "hi" },
          { type: "text", text: "<system>\nnow rhyme\n</system>" },
        ],
      },
    ]);
    expect(warned).toEqual(["messages[1]"]);
  });

  test("a conversation of only a system message gets a user message, which this API requires", () => {
    const { body, warned } = encode({ messages: [{ role: "system", parts: [makeText("a")] }] });
    expect(body["system"]).toBe("a");
    expect(body.messages).toEqual([{ role: "user", content: "Continue." }]);
    expect(warned).toEqual(["messages"]);
  });

  test("roles alternate, tool results come first, and empty texts are left out", () => {
    const messages = [
      user(makeText("a")),
      user(makeText("")),
      assistant(makeText(""), call("c1", '{"x":1}'), call("c2", "")),
      tool("c1", makeText("r1")),
      tool("c2", makeText("r2"), {
        kind: "image",
        source: { kind: "url", url: "https://x.test", mediaType: null },
      }),
      user(makeText("b")),
      assistant(makeText("prefill  ")),
    ];
    expect(encode({ messages }).body.messages).toEqual([
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "c1", name: "f", input: { x: 1 } },
          { type: "tool_use", id: "c2", name: "f", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "r1" },
          {
            type: "tool_result",
            tool_use_id: "c2",
            content: [
              { type: "text", text: "r2" },
              { type: "image", source: { type: "url", url: "https://x.test" } },
            ],
          },
          { type: "text", text: "b" },
        ],
      },
      { role: "assistant", content: "prefill" },
    ]);
  });

  test.each([
    ["[1]", { input: "[1]" }],
    ["not json", { input: "not json" }],
    ['{"a":', { input: '{"a":' }],
    ["", {}],
  ])("the arguments %p are sent as an object", (args, input) => {
    const [, turn] = encode({ messages: [user(makeText("a")), assistant(call("c", args))] }).body.messages;
    expect(turn?.["content"]).toEqual([{ type: "tool_use", id: "c", name: "f", input }]);
  });

  test("reasoning is sent only if Anthropic signed or encrypted it", () => {
    const turn = assistant(
      reasoning({ text: "t", signature: "s", origin: "anthropic-claude-v1" }),
      reasoning({ encrypted: "e", origin: "anthropic-claude-v1" }),
      reasoning({ text: "other", signature: "s", origin: "google-gemini-v1" }),
      reasoning({ text: "unsigned" }),
      makeText("x"),
    );
    const { body, warned } = encode({ messages: [user(makeText("a")), turn] });
    expect(body.messages[1]?.["content"]).toEqual([
      { type: "thinking", thinking: "t", signature: "s" },
      { type: "redacted_thinking", data: "e" },
      { type: "text", text: "x" },
    ]);
    expect(warned).toEqual([]);
  });

  test.each<[string, Part]>([
    ["audio", { kind: "audio", source: { kind: "base64", mediaType: "audio/wav", data: "" } }],
    ["another vendor's file", { kind: "file", source: { kind: "file-id", id: "f", store: "openai" } }],
    [
      "a Word document",
      { kind: "file", source: { kind: "base64", mediaType: "application/msword", data: "" } },
    ],
  ])("%s is rejected with the name of its field", (_name, part) => {
    expect(() => encode({ messages: [user(makeText("a"), part)] })).toThrow("messages[0].content[1]");
  });

  test("a text file is sent as a document of plain text", () => {
    const data = Buffer.from("wörds").toString("base64");
    const file: Part = {
      kind: "file",
      name: "a.md",
      source: { kind: "base64", mediaType: "text/markdown", data },
    };
    expect(encode({ messages: [user(file)] }).body.messages[0]?.["content"]).toEqual([
      { type: "document", source: { type: "text", media_type: "text/plain", data: "wörds" }, title: "a.md" },
    ]);
  });
});

describe("encoding a repaired Messages conversation", () => {
  const own = anthropicMessages.decodeRequest({
    model: "m",
    max_tokens: 1,
    messages: [
      { role: "assistant", content: [{ type: "tool_use", id: "b", name: "f", input: {} }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "b", content: "r" },
          { type: "text", text: "t" },
        ],
      },
    ],
  });
  const [calls, results, texts] = own.messages as [Message, Message, Message];

  test.each<[string, Message[], string[]]>([
    ["a placeholder before the results", [calls, tool("a"), results, texts], ["a", "b", "t"]],
    ["a placeholder after the results", [calls, results, tool("c"), texts], ["b", "c", "t"]],
    ["no results", [calls, texts], ["t"]],
  ])("the results and texts after the calls stay in one message: %s", (_name, messages, expected) => {
    const { messages: out } = encode({ ...own, messages }).body;
    expect(out).toHaveLength(2);
    const content = out[1]?.["content"] as Fields[];
    expect(content.map((block) => block["tool_use_id"] ?? block["text"])).toEqual(expected);
  });
});

describe("encoding tools of other formats for Anthropic", () => {
  const f = { kind: "function", name: "f", description: null, parameters: null, strict: null } as const;

  test("a function without parameters gets an empty schema, and a custom tool takes one string", () => {
    const custom = {
      kind: "custom",
      name: "c",
      description: "does",
      inputFormat: { type: "grammar", definition: "G" },
    } as const;
    const { body, warned } = encode({
      tools: [f, custom],
      toolChoice: { kind: "required" },
      parallelToolCalls: false,
    });
    expect(body).toMatchObject({
      tools: [
        { name: "f", input_schema: { type: "object", properties: {} } },
        { name: "c", input_schema: { properties: { input: { type: "string" } }, required: ["input"] } },
      ],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    });
    expect(warned).toEqual(["tools"]);
  });

  test("only the allowed tools are sent", () => {
    const toolChoice = { kind: "allowed", names: ["g"], required: true } as const;
    expect(encode({ tools: [f, { ...f, name: "g" }], toolChoice }).body).toMatchObject({
      tools: [{ name: "g" }],
      tool_choice: { type: "any" },
    });
  });

  test("another vendor's tool is left out with a warning, and a tool choice without tools is not sent", () => {
    const native = { kind: "native", format: "openai-responses", type: "web_search", value: {} } as const;
    const { body, warned } = encode({ tools: [native], toolChoice: { kind: "auto" } });
    expect(Object.keys(body).sort()).toEqual(["max_tokens", "messages", "model"]);
    expect(warned).toEqual(["tools"]);
  });
});

const PARAMETERS: ReasoningParameters = {
  enabled: null,
  effort: null,
  budgetTokens: null,
  adaptive: false,
  summary: null,
  hidden: false,
};
const BUDGET = { budgetTokens: { min: 1024 } };
const EFFORTS = { efforts: ["low", "medium", "high"] };

describe("encoding reasoning parameters of other formats for Anthropic", () => {
  test.each<[string, Partial<ReasoningParameters>, ModelTarget["reasoning"], Fields, string[]]>([
    [
      "effort by budget",
      { effort: "high" },
      BUDGET,
      { thinking: { type: "enabled", budget_tokens: 8_000 } },
      [],
    ],
    [
      "a budget",
      { budgetTokens: 2_000 },
      BUDGET,
      { thinking: { type: "enabled", budget_tokens: 2_000 } },
      [],
    ],
    [
      "a budget below the minimum",
      { budgetTokens: 5 },
      BUDGET,
      { thinking: { type: "enabled", budget_tokens: 1_024 } },
      [],
    ],
    [
      "a budget above the maximum",
      { budgetTokens: 50_000 },
      BUDGET,
      { thinking: { type: "enabled", budget_tokens: 9_999 } },
      [],
    ],
    [
      "effort",
      { effort: "xhigh" },
      EFFORTS,
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "high" } },
      [],
    ],
    [
      "effort between two that the model has",
      { effort: "medium" },
      { efforts: ["low", "high"] },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } },
      [],
    ],
    [
      "hidden",
      { enabled: true, hidden: true },
      EFFORTS,
      { thinking: { type: "adaptive", display: "omitted" } },
      [],
    ],
    ["none", { effort: "none" }, { ...EFFORTS, canDisable: true }, { thinking: { type: "disabled" } }, []],
    ["no reasoning, from a model that does not reason by default", { enabled: false }, BUDGET, {}, []],
    ["an effort, from a model that does not reason", { effort: "low" }, null, {}, ["reasoning"]],
  ])("%s", (_name, parameters, reasoning, expected, warnings) => {
    const { body, warned } = encode(
      { reasoning: { ...PARAMETERS, ...parameters }, maxTokens: 10_000 },
      { reasoning },
    );
    const { model, messages, max_tokens, ...rest } = body;
    expect(rest as Fields).toEqual(expected);
    expect(warned).toEqual(warnings);
  });

  test("sampling parameters that the API rejects with thinking are left out", () => {
    const wanted = {
      reasoning: { ...PARAMETERS, effort: "low" },
      temperature: 0.2,
      topK: 4,
      topP: 0.5,
      maxTokens: 10_000,
    };
    const { body, warned } = encode(wanted, { reasoning: BUDGET });
    expect(body).not.toContainAnyKeys(["temperature", "top_p", "top_k"]);
    expect(warned.sort()).toEqual(["temperature", "top_k", "top_p"]);
  });

  test("thinking is left out if a tool must be called, or if max_tokens is too small", () => {
    const tools = [
      { kind: "function", name: "f", description: null, parameters: null, strict: null },
    ] as const;
    const forced = encode(
      { reasoning: { ...PARAMETERS, effort: "low" }, tools, toolChoice: { kind: "tool", name: "f" } },
      { reasoning: BUDGET },
    );
    expect(forced.body).toMatchObject({ tool_choice: { type: "tool", name: "f" } });
    expect([forced.body["thinking"], forced.warned]).toEqual([undefined, ["reasoning"]]);
    const small = encode(
      { reasoning: { ...PARAMETERS, effort: "low" }, maxTokens: 1_000 },
      { reasoning: BUDGET },
    );
    expect([small.body["thinking"], small.warned]).toEqual([undefined, ["reasoning"]]);
  });
});

describe("encoding the other fields of requests of other formats for Anthropic", () => {
  test.each<[string, Partial<ConversationRequest>, Fields, string[]]>([
    ["no token limit", {}, { max_tokens: 32_000 }, []],
    ["a temperature above 1", { temperature: 1.5 }, { temperature: 1 }, ["temperature"]],
    [
      "both temperature and top_p",
      { temperature: 0.5, topP: 0.5 },
      { temperature: 0.5, top_p: undefined },
      ["top_p"],
    ],
    ["a stop sequence of whitespace", { stop: ["\n", "END"] }, { stop_sequences: ["END"] }, ["stop"]],
    ["a known service tier", { serviceTier: "default" }, { service_tier: "standard_only" }, []],
    ["an unknown service tier", { serviceTier: "flex" }, { service_tier: undefined }, ["service_tier"]],
    ["the end user", { user: "u" }, { metadata: { user_id: "u" } }, []],
    ["a seed", { seed: 1, logitBias: {}, logprobs: { top: 1 } }, {}, ["seed", "logit_bias", "logprobs"]],
    ["penalties", { frequencyPenalty: 1, presencePenalty: 0 }, {}, ["frequency_penalty"]],
    ["JSON", { outputFormat: { kind: "json" } }, { output_config: undefined }, ["response_format"]],
    [
      "a schema",
      {
        outputFormat: {
          kind: "json-schema",
          name: "n",
          description: null,
          schema: { type: "object", properties: { a: { type: "object" } } },
          strict: true,
        },
      },
      {
        output_config: {
          format: {
            type: "json_schema",
            schema: {
              type: "object",
              properties: { a: { type: "object", properties: {}, additionalProperties: false } },
              additionalProperties: false,
            },
          },
        },
      },
      ["response_format.schema.properties.a"],
    ],
  ])("%s", (_name, request, expected, warnings) => {
    const { body, warned } = encode(request);
    for (const [name, value] of Object.entries(expected)) expect(body[name]).toEqual(value);
    expect(warned).toEqual(warnings);
  });

  test("max_tokens is never above the model's limit", () => {
    expect(encode({}, { maxOutputTokens: 4_096 }).body["max_tokens"]).toBe(4_096);
    expect(encode({}, { maxOutputTokens: 64_000 }).body["max_tokens"]).toBe(32_000);
    expect(encode({ maxTokens: 9_000 }, { maxOutputTokens: 4_096 })).toMatchObject({
      body: { max_tokens: 4_096 },
      warned: ["max_tokens"],
    });
  });

  test("a request for several answers is rejected", () => {
    expect(() => encode({ n: 2 })).toThrow("n must be 1");
    expect(encode({ n: 1 }).warned).toEqual([]);
  });
});
