import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import type { ModelTarget } from "../../../src/wire/canonical/model/format.ts";
import type { Part, ReasoningPart } from "../../../src/wire/canonical/model/parts.ts";
import {
  type ConversationRequest,
  EMPTY_REQUEST,
  type FunctionTool,
  type Message,
} from "../../../src/wire/canonical/model/request.ts";
import { cohereChat } from "../../../src/wire/cohere-chat/codec.ts";

const COMMAND: ModelTarget = { name: "command-a-03-2025", maxOutputTokens: 8_000, reasoning: null };
const THINKER: ModelTarget = {
  name: "command-a-reasoning-08-2025",
  maxOutputTokens: 32_000,
  reasoning: { budgetTokens: { min: 1 }, canDisable: true },
};

const text = (words: string): Part => ({ kind: "text", text: words });
const user = (...parts: Part[]): Message => ({ role: "user", parts });
const assistant = (...parts: Part[]): Message => ({ role: "assistant", parts });
const thought: ReasoningPart = {
  kind: "reasoning",
  text: "Hm.",
  isSummary: false,
  signature: null,
  encrypted: null,
  id: null,
  origin: null,
};
const call = (id: string, args: string): Part => ({
  kind: "tool-call",
  id,
  name: "weather",
  tool: "function",
  arguments: args,
});
const result = (callId: string, ...content: Part[]): Message => ({
  role: "tool",
  parts: [{ kind: "tool-result", callId, tool: "function", content, isError: false }],
});
const png: Part = {
  kind: "image",
  source: { kind: "base64", mediaType: "image/png", data: "aGk=" },
  detail: "low",
};
const image = { type: "image_url", image_url: { url: "data:image/png;base64,aGk=", detail: "low" } };
const parameters = { type: "object", properties: { place: { type: "string" } }, required: ["place"] };
const weather: FunctionTool = {
  kind: "function",
  name: "weather",
  description: "The weather of a place",
  parameters,
  strict: null,
};
const sent = {
  type: "function",
  function: { name: "weather", description: "The weather of a place", parameters },
};
/** Reasoning is on, without an amount. */
const NO_AMOUNT = {
  enabled: true,
  effort: null,
  budgetTokens: null,
  adaptive: false,
  summary: null,
  hidden: false,
};

function encode(settings: Partial<ConversationRequest>, target = COMMAND) {
  const { body, warnings } = cohereChat.encodeRequest(
    { ...EMPTY_REQUEST, messages: [user(text("Hi"))], ...settings },
    target,
  );
  return {
    body: JSON.parse(JSON.stringify(body)) as Record<string, unknown>,
    fields: warnings.map(({ field }) => field),
  };
}

function rejectionOf(settings: Partial<ConversationRequest>): unknown {
  try {
    encode(settings);
  } catch (error) {
    if (error instanceof GatewayError)
      return { code: error.failure.code, field: error.failure.metadata?.["field"] };
    throw error;
  }
  return null;
}

describe("messages encoded for Cohere", () => {
  const messages: Message[] = [
    { role: "system", parts: [text("Be kind.")] },
    { role: "developer", parts: [text("Be brief."), text("Rhyme.")] },
    user(text("What weather?"), png),
    assistant(thought, call("c1", '{"place":"Ulm"}'), call("c2", "")),
    result("c1", text("rain"), text("wind")),
    result("c2", text("see"), png),
    assistant(text("Rain.")),
  ];
  const calls = [
    { id: "c1", type: "function", function: { name: "weather", arguments: '{"place":"Ulm"}' } },
    { id: "c2", type: "function", function: { name: "weather", arguments: "{}" } },
  ];
  const messagesWith = (own: object) => [
    { role: "system", content: "Be kind." },
    {
      role: "system",
      content: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Rhyme." },
      ],
    },
    { role: "user", content: [{ type: "text", text: "What weather?" }, image] },
    { role: "assistant", ...own, tool_calls: calls },
    { role: "tool", tool_call_id: "c1", content: "rain\nwind" },
    { role: "tool", tool_call_id: "c2", content: "see" },
    { role: "user", content: [image] },
    { role: "assistant", content: "Rain." },
  ];

  test.each([
    ["a plan", COMMAND, { tool_plan: "Hm." }],
    ["thinking", THINKER, { content: [{ type: "thinking", thinking: "Hm." }] }],
  ] as const)("have reasoning as %s, and a tool's images after its results", (_, target, own) => {
    const { body, fields } = encode({ messages }, target);
    expect(body).toEqual({ model: target.name, stream: false, messages: messagesWith(own) });
    expect(fields).toEqual([]);
  });

  test("have no reasoning of other vendors, and no empty reasoning", () => {
    const foreign = { ...thought, signature: "s", origin: "anthropic-claude-v1" };
    const { body, fields } = encode(
      { messages: [user(text("a")), assistant(foreign, text("b")), assistant(text(" ")), user(text(""))] },
      THINKER,
    );
    expect(body["messages"]).toEqual([
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
    ]);
    expect(fields).toEqual(["messages"]);
  });

  test("have images by URL and documents as text", () => {
    const parts: Part[] = [
      { kind: "image", source: { kind: "url", url: "https://example.com/cat.png", mediaType: null } },
      { kind: "file", name: "log", source: { kind: "text", mediaType: "text/plain", text: "lines" } },
    ];
    expect(encode({ messages: [user(...parts)] }).body["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "https://example.com/cat.png" } },
          { type: "text", text: "log\n\nlines" },
        ],
      },
    ]);
  });

  test.each([
    ["a PDF", { kind: "file", source: { kind: "base64", mediaType: "application/pdf", data: "aGk=" } }],
    ["a sound", { kind: "audio", source: { kind: "base64", mediaType: "audio/wav", data: "aGk=" } }],
    [
      "a video",
      { kind: "video", source: { kind: "url", url: "https://example.com/v.mp4", mediaType: null } },
    ],
    [
      "an image uploaded to another vendor",
      { kind: "image", source: { kind: "file-id", id: "f", store: "openai" } },
    ],
  ] as [string, Part][])("are rejected with the field name for %s", (_, part) => {
    expect(rejectionOf({ messages: [user(text("a"), part)] })).toEqual({
      code: "invalid_request",
      field: "messages[0].content[1]",
    });
  });
});

describe("tools encoded for Cohere", () => {
  test.each([
    [null, {}],
    [{ kind: "auto" }, {}],
    [{ kind: "none" }, { tool_choice: "NONE" }],
    [{ kind: "required" }, { tool_choice: "REQUIRED" }],
    [{ kind: "tool", name: "weather" }, { tool_choice: "REQUIRED" }],
    [{ kind: "allowed", names: ["weather"], required: true }, { tool_choice: "REQUIRED" }],
    [{ kind: "allowed", names: ["weather"], required: false }, {}],
  ] as const)("have the choice %j, and only the tools that it allows", (toolChoice, choice) => {
    const narrows = toolChoice?.kind === "tool" || toolChoice?.kind === "allowed";
    const { body } = encode({
      tools: narrows ? [{ ...weather, name: "other" }, weather] : [weather],
      toolChoice,
    });
    expect({ tools: body["tools"], tool_choice: body["tool_choice"] }).toEqual({
      tools: [sent],
      tool_choice: undefined,
      ...choice,
    });
  });

  test.each([
    ["all tools are strict", [{ ...weather, strict: true }], true, []],
    [
      "not all tools are strict",
      [
        { ...weather, strict: true },
        { ...weather, name: "b" },
      ],
      undefined,
      ["tools"],
    ],
    [
      "a strict tool has no required parameters",
      [{ ...weather, strict: true, parameters: null }],
      undefined,
      ["tools"],
    ],
    ["no tool is strict", [weather], undefined, []],
  ] as const)("have the right strictness if %s", (_, tools, strict, named) => {
    const { body, fields } = encode({ tools });
    expect(body["strict_tools"]).toBe(strict);
    expect(fields).toEqual([...named]);
  });

  test("lose those that only other vendors have, with a warning", () => {
    const search = { kind: "native", format: "gemini", type: "google_search", value: {} } as const;
    const { body, fields } = encode({
      tools: [search],
      parallelToolCalls: false,
      toolChoice: { kind: "required" },
    });
    expect(body).not.toHaveProperty("tools");
    expect(body).not.toHaveProperty("tool_choice");
    expect(fields).toEqual(["tools[0]"]);
    expect(encode({ tools: [weather], parallelToolCalls: false }).fields).toEqual(["parallel_tool_calls"]);
  });
});

describe("a request to Cohere", () => {
  test("has Cohere's names of parameters", () => {
    const { body, fields } = encode({
      maxTokens: 10,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stop: ["END"],
      seed: 7,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      logprobs: { top: null },
      stream: true,
    });
    expect(body).toEqual({
      model: COMMAND.name,
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      max_tokens: 10,
      temperature: 0.5,
      p: 0.9,
      k: 40,
      stop_sequences: ["END"],
      seed: 7,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      logprobs: true,
    });
    expect(fields).toEqual([]);
  });

  test.each([
    [{ temperature: 1.5 }, { temperature: 1 }, ["temperature"]],
    [{ topP: 1 }, { p: 0.99 }, []],
    [{ topP: 0 }, { p: 0.01 }, []],
    [{ seed: -7 }, { seed: 0 }, ["seed"]],
    [{ topK: 1_000 }, { k: 500 }, ["top_k"]],
    [{ frequencyPenalty: -1 }, { frequency_penalty: 0 }, ["frequency_penalty"]],
    [{ presencePenalty: 2 }, { presence_penalty: 1 }, ["presence_penalty"]],
    [{ stop: ["a", "b", "c", "d", "e", "f", ""] }, { stop_sequences: ["a", "b", "c", "d", "e"] }, ["stop"]],
  ] as [Partial<ConversationRequest>, object, string[]][])(
    "has the values %j limited to Cohere's ranges: %j",
    (settings, wanted, named) => {
      const { body, fields } = encode(settings);
      expect(body).toMatchObject(wanted);
      expect(fields).toEqual(named);
    },
  );

  test.each([
    [{ kind: "text" }, undefined],
    [{ kind: "json" }, { type: "json_object" }],
    [
      { kind: "json-schema", name: "a", description: null, schema: parameters, strict: true },
      { type: "json_object", json_schema: parameters },
    ],
  ] as [ConversationRequest["outputFormat"], unknown][])(
    "has the response format of %j",
    (outputFormat, wanted) => {
      expect(encode({ outputFormat }).body["response_format"]).toEqual(wanted);
    },
  );

  test("has no response format together with tools, with a warning", () => {
    const { body, fields } = encode({ outputFormat: { kind: "json" }, tools: [weather] });
    expect(body).not.toHaveProperty("response_format");
    expect(fields).toEqual(["response_format"]);
  });

  test.each([
    [THINKER, {}, { type: "enabled" }, []],
    [THINKER, { effort: "high" }, { type: "enabled" }, []],
    [THINKER, { effort: "low" }, { type: "enabled", token_budget: 2_048 }, []],
    [THINKER, { budgetTokens: 500 }, { type: "enabled", token_budget: 500 }, []],
    [THINKER, { budgetTokens: 5_000 }, { type: "enabled", token_budget: 999 }, ["reasoning"]],
    [THINKER, { enabled: false }, { type: "disabled" }, []],
    [THINKER, { effort: "none" }, { type: "disabled" }, []],
    [THINKER, { enabled: null }, undefined, []],
    [COMMAND, { effort: "high" }, undefined, ["reasoning"]],
    [COMMAND, { enabled: false }, undefined, []],
  ] as [ModelTarget, object, unknown, string[]][])(
    "to the model %j with the reasoning parameters %j has the thinking %j",
    (target, settings, thinking, named) => {
      const { body, fields } = encode(
        { reasoning: { ...NO_AMOUNT, ...settings }, maxTokens: "budgetTokens" in settings ? 1_000 : null },
        target,
      );
      expect(body["thinking"]).toEqual(thinking);
      expect(fields).toEqual(named);
    },
  );

  test("has a warning for each parameter that Cohere does not have", () => {
    const { fields } = encode({
      logitBias: { 1: 2 },
      logprobs: { top: 2 },
      verbosity: "low",
      serviceTier: "flex",
      user: "u",
      metadata: { a: "b" },
      extras: { format: "openai-chat", fields: { prediction: { type: "content" } } },
    });
    expect(fields).toEqual([
      "prediction",
      "logit_bias",
      "top_logprobs",
      "verbosity",
      "service_tier",
      "user",
      "metadata",
    ]);
  });

  test("has the fields that only Cohere has", () => {
    const documents = [{ data: { text: "t" } }];
    expect(
      encode({ extras: { format: "cohere-chat", fields: { documents, safety_mode: "STRICT", else: 1 } } })
        .body,
    ).toEqual({
      model: COMMAND.name,
      messages: [{ role: "user", content: "Hi" }],
      stream: false,
      documents,
      safety_mode: "STRICT",
    });
  });

  test("is rejected for more than one answer", () => {
    expect(rejectionOf({ n: 2 })).toEqual({ code: "invalid_request", field: "n" });
  });
});
