import { describe, expect, test } from "bun:test";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/translate/codec.ts";
import type { ModelTarget } from "../../../src/wire/canonical/format.ts";
import type { Part, ReasoningPart } from "../../../src/wire/canonical/parts.ts";
import {
  type ConversationRequest,
  EMPTY_REQUEST,
  type Message,
  type ReasoningParameters,
} from "../../../src/wire/canonical/request.ts";
import type { Fields } from "../../../src/wire/json/fields.ts";
import { TARGET } from "./support.ts";

const say = (text: string): Part => ({ kind: "text", text });
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
    { ...EMPTY_REQUEST, messages: [user(say("hi"))], ...request },
    { ...TARGET, ...target },
  );
  return { body: body as Fields & { messages: Fields[] }, warned: warnings.map(({ field }) => field) };
}

describe("messages from other formats", () => {
  test("system and developer messages at the beginning become system", () => {
    const messages: Message[] = [
      { role: "system", parts: [say("a")] },
      { role: "developer", parts: [{ kind: "text", text: "b", cache: { ttl: "1h" } }] },
      user(say("hi")),
    ];
    expect(encode({ messages }).body).toMatchObject({
      system: [
        { type: "text", text: "a" },
        { type: "text", text: "b", cache_control: { type: "ephemeral", ttl: "1h" } },
      ],
      messages: [{ role: "user", content: "hi" }],
    });
  });

  test("a later one stays in its place as a user's, and the client is told", () => {
    const { body, warned } = encode({
      messages: [user(say("hi")), { role: "system", parts: [say("now rhyme")] }],
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

  test("a system message alone is what there is to answer", () => {
    const { body, warned } = encode({ messages: [{ role: "system", parts: [say("a")] }] });
    expect(body["system"]).toBeUndefined();
    expect(body.messages).toEqual([{ role: "user", content: "a" }]);
    expect(warned).toEqual([]);
  });

  test("roles alternate, tool results come first, and empty texts disappear", () => {
    const messages = [
      user(say("a")),
      user(say("")),
      assistant(say(""), call("c1", '{"x":1}'), call("c2", "")),
      tool("c1", say("r1")),
      tool("c2", say("r2"), {
        kind: "image",
        source: { kind: "url", url: "https://x.test", mediaType: null },
      }),
      user(say("b")),
      assistant(say("prefill  ")),
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
  ])("arguments %p become an object", (args, input) => {
    const [, said] = encode({ messages: [user(say("a")), assistant(call("c", args))] }).body.messages;
    expect(said?.["content"]).toEqual([{ type: "tool_use", id: "c", name: "f", input }]);
  });

  test("reasoning goes back to Anthropic only where it is Anthropic's", () => {
    const said = assistant(
      reasoning({ text: "t", signature: "s", origin: "anthropic-claude-v1" }),
      reasoning({ encrypted: "e", origin: "anthropic-claude-v1" }),
      reasoning({ text: "other", signature: "s", origin: "google-gemini-v1" }),
      reasoning({ text: "unsigned" }),
      say("x"),
    );
    const { body, warned } = encode({ messages: [user(say("a")), said] });
    expect(body.messages[1]?.["content"]).toEqual([
      { type: "thinking", thinking: "t", signature: "s" },
      { type: "redacted_thinking", data: "e" },
      { type: "text", text: "x" },
    ]);
    expect(warned).toEqual([]);
  });

  test.each<[string, Part]>([
    ["audio", { kind: "audio", source: { kind: "base64", mediaType: "audio/wav", data: "" } }],
    ["another vendor's file", { kind: "file", source: { kind: "file-id", id: "f", format: "openai-chat" } }],
    [
      "a word document",
      { kind: "file", source: { kind: "base64", mediaType: "application/msword", data: "" } },
    ],
  ])("%s is refused by name", (_name, part) => {
    expect(() => encode({ messages: [user(say("a"), part)] })).toThrow("messages[0].content[1]");
  });

  test("a file that is text becomes a document in plain text", () => {
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

describe("a repaired conversation of this format", () => {
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
    ["a placeholder in front", [calls, tool("a"), results, texts], ["a", "b", "t"]],
    ["a placeholder behind", [calls, results, tool("c"), texts], ["b", "c", "t"]],
    ["without its results", [calls, texts], ["t"]],
  ])("keeps what follows the calls in one message: %s", (_name, messages, expected) => {
    const { messages: out } = encode({ ...own, messages }).body;
    expect(out).toHaveLength(2);
    const content = out[1]?.["content"] as Fields[];
    expect(content.map((block) => block["tool_use_id"] ?? block["text"])).toEqual(expected);
  });
});

describe("tools from other formats", () => {
  const f = { kind: "function", name: "f", description: null, parameters: null, strict: null } as const;

  test("a function without parameters takes none; free text is one string", () => {
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

  test("of allowed tools only those are sent", () => {
    const toolChoice = { kind: "allowed", names: ["g"], required: true } as const;
    expect(encode({ tools: [f, { ...f, name: "g" }], toolChoice }).body).toMatchObject({
      tools: [{ name: "g" }],
      tool_choice: { type: "any" },
    });
  });

  test("another vendor's tool is left out and named, and a choice among no tools is not sent", () => {
    const native = { kind: "native", format: "openai-responses", type: "web_search", value: {} } as const;
    const { body, warned } = encode({ tools: [native], toolChoice: { kind: "auto" } });
    expect(Object.keys(body).sort()).toEqual(["max_tokens", "messages", "model"]);
    expect(warned).toEqual(["tools"]);
  });
});

const WISH: ReasoningParameters = {
  enabled: null,
  effort: null,
  budgetTokens: null,
  adaptive: false,
  summary: null,
  hidden: false,
};
const BUDGET = { budgetTokens: { min: 1024 } };
const EFFORTS = { efforts: ["low", "medium", "high"] };

describe("a wish for reasoning from other formats", () => {
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
      "a budget too small",
      { budgetTokens: 5 },
      BUDGET,
      { thinking: { type: "enabled", budget_tokens: 1_024 } },
      [],
    ],
    [
      "a budget too large",
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
      "hidden",
      { enabled: true, hidden: true },
      EFFORTS,
      { thinking: { type: "adaptive", display: "omitted" } },
      [],
    ],
    ["none", { effort: "none" }, { ...EFFORTS, canDisable: true }, { thinking: { type: "disabled" } }, []],
    ["none, where none is the rule", { enabled: false }, BUDGET, {}, []],
    ["of a model that does not reason", { effort: "low" }, null, {}, ["reasoning"]],
  ])("%s", (_name, wish, reasoning, expected, warnings) => {
    const { body, warned } = encode({ reasoning: { ...WISH, ...wish }, maxTokens: 10_000 }, { reasoning });
    const { model, messages, max_tokens, ...rest } = body;
    expect(rest as Fields).toEqual(expected);
    expect(warned).toEqual(warnings);
  });

  test("leaves out what the API refuses beside thinking", () => {
    const wanted = {
      reasoning: { ...WISH, effort: "low" },
      temperature: 0.2,
      topK: 4,
      topP: 0.5,
      maxTokens: 10_000,
    };
    const { body, warned } = encode(wanted, { reasoning: BUDGET });
    expect(body).not.toContainAnyKeys(["temperature", "top_p", "top_k"]);
    expect(warned.sort()).toEqual(["temperature", "top_k", "top_p"]);
  });

  test("gives way to a tool that must be called, and to a bound too small for it", () => {
    const tools = [
      { kind: "function", name: "f", description: null, parameters: null, strict: null },
    ] as const;
    const forced = encode(
      { reasoning: { ...WISH, effort: "low" }, tools, toolChoice: { kind: "tool", name: "f" } },
      { reasoning: BUDGET },
    );
    expect(forced.body).toMatchObject({ tool_choice: { type: "tool", name: "f" } });
    expect([forced.body["thinking"], forced.warned]).toEqual([undefined, ["reasoning"]]);
    const small = encode({ reasoning: { ...WISH, effort: "low" }, maxTokens: 1_000 }, { reasoning: BUDGET });
    expect([small.body["thinking"], small.warned]).toEqual([undefined, ["reasoning"]]);
  });
});

describe("what is left of a request from other formats", () => {
  test.each<[string, Partial<ConversationRequest>, Fields, string[]]>([
    ["no bound on the answer", {}, { max_tokens: 32_000 }, []],
    ["temperature over 1", { temperature: 1.5 }, { temperature: 1 }, ["temperature"]],
    [
      "temperature and top_p",
      { temperature: 0.5, topP: 0.5 },
      { temperature: 0.5, top_p: undefined },
      ["top_p"],
    ],
    ["blank stops", { stop: ["\n", "END"] }, { stop_sequences: ["END"] }, ["stop"]],
    ["a tier", { serviceTier: "default" }, { service_tier: "standard_only" }, []],
    ["a tier there is not", { serviceTier: "flex" }, { service_tier: undefined }, ["service_tier"]],
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

  test("the answer's bound is never above the model's", () => {
    expect(encode({}, { maxOutputTokens: 4_096 }).body["max_tokens"]).toBe(4_096);
    expect(encode({}, { maxOutputTokens: 64_000 }).body["max_tokens"]).toBe(32_000);
    expect(encode({ maxTokens: 9_000 }, { maxOutputTokens: 4_096 })).toMatchObject({
      body: { max_tokens: 4_096 },
      warned: ["max_tokens"],
    });
  });

  test("several answers at once are refused", () => {
    expect(() => encode({ n: 2 })).toThrow("n must be 1");
    expect(encode({ n: 1 }).warned).toEqual([]);
  });
});
