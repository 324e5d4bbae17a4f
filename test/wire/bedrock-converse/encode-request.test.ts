import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import type { Fields } from "../../../src/base/json/fields.ts";
import { bedrockConverse } from "../../../src/wire/bedrock-converse/codec.ts";
import type { ModelTarget } from "../../../src/wire/canonical/model/format.ts";
import { type Part, REASONING_ORIGINS, type ReasoningPart } from "../../../src/wire/canonical/model/parts.ts";
import {
  type ConversationRequest,
  EMPTY_REQUEST,
  type FunctionTool,
  type Message,
} from "../../../src/wire/canonical/model/request.ts";

const CLAUDE: ModelTarget = {
  name: "us.anthropic.claude-sonnet-4-5-v1:0",
  maxOutputTokens: 64_000,
  reasoning: { budgetTokens: { min: 1024 } },
};
const ADAPTIVE: ModelTarget = {
  ...CLAUDE,
  name: "global.anthropic.claude-opus-4-7",
  reasoning: { efforts: ["low", "medium", "high", "xhigh", "max"] },
};
const NOVA: ModelTarget = { name: "amazon.nova-pro-v1:0", maxOutputTokens: 8_192, reasoning: null };
const LLAMA: ModelTarget = {
  name: "us.meta.llama3-3-70b-instruct-v1:0",
  maxOutputTokens: 8_192,
  reasoning: null,
};
const GPT: ModelTarget = {
  name: "openai.gpt-oss-120b-1:0",
  maxOutputTokens: 16_384,
  reasoning: { efforts: ["low", "medium", "high"] },
};

const text = (words: string): Part => ({ kind: "text", text: words });
const user = (...parts: Part[]): Message => ({ role: "user", parts });
const assistant = (...parts: Part[]): Message => ({ role: "assistant", parts });
const call = (id: string, args = "{}"): Part => ({
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
const thought: ReasoningPart = {
  kind: "reasoning",
  text: "Hm.",
  isSummary: false,
  signature: "sig",
  encrypted: null,
  id: null,
  origin: REASONING_ORIGINS.anthropic,
};
const weather: FunctionTool = {
  kind: "function",
  name: "weather",
  description: "The weather of a place",
  parameters: { type: "object", properties: {} },
  strict: null,
};
const png: Part = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "aGk=" } };
const pdf = (name?: string): Part => ({
  kind: "file",
  source: { kind: "base64", mediaType: "application/pdf", data: "aGk=" },
  ...(name === undefined ? {} : { name }),
});
/** Reasoning is on, without an amount. */
const NO_AMOUNT = {
  enabled: true,
  effort: null,
  budgetTokens: null,
  adaptive: false,
  summary: null,
  hidden: false,
};

function encode(parameters: Partial<ConversationRequest>, target = CLAUDE) {
  const { body, warnings } = bedrockConverse.encodeRequest(
    { ...EMPTY_REQUEST, messages: [user(text("Hi"))], ...parameters },
    target,
  );
  return {
    body: JSON.parse(JSON.stringify(body)) as Record<string, unknown>,
    fields: warnings.map(({ field }) => field),
  };
}

function messagesOf(messages: readonly Message[], target = CLAUDE): unknown {
  return encode({ messages }, target).body["messages"];
}

function rejectionOf(parameters: Partial<ConversationRequest>, target = CLAUDE): unknown {
  try {
    encode(parameters, target);
  } catch (error) {
    if (error instanceof GatewayError)
      return { code: error.failure.code, field: error.failure.metadata?.["field"] };
    throw error;
  }
  return null;
}

describe("a conversation encoded for Converse", () => {
  test("has its first system and developer messages in `system`, and merged turns", () => {
    const { body, fields } = encode({
      messages: [
        { role: "system", parts: [text("Be kind.")] },
        { role: "developer", parts: [text("Be brief.")] },
        user(text("What weather?")),
        assistant(thought, text("I look."), call("c1", '{"place":"Ulm"}'), call("c2", "")),
        result("c1", text("rain")),
        result("c2", text("sun"), png),
        user(text("Thanks")),
      ],
    });
    expect(body).toEqual({
      system: [{ text: "Be kind." }, { text: "Be brief." }],
      messages: [
        { role: "user", content: [{ text: "What weather?" }] },
        {
          role: "assistant",
          content: [
            { reasoningContent: { reasoningText: { text: "Hm.", signature: "sig" } } },
            { text: "I look." },
            { toolUse: { toolUseId: "c1", name: "weather", input: { place: "Ulm" } } },
            { toolUse: { toolUseId: "c2", name: "weather", input: {} } },
          ],
        },
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: "c1", content: [{ text: "rain" }] } },
            {
              toolResult: {
                toolUseId: "c2",
                content: [{ text: "sun" }, { image: { format: "png", source: { bytes: "aGk=" } } }],
              },
            },
            { text: "Thanks" },
          ],
        },
      ],
      toolConfig: expect.anything(),
    });
    expect(fields).toEqual([]);
  });

  test("has later system messages as user messages, with a warning", () => {
    const messages = [
      user(text("Hi")),
      assistant(text("Ho")),
      { role: "system", parts: [text("Now rhyme.")] } as const,
    ];
    const { body, fields } = encode({ messages });
    expect((body["messages"] as Fields[])[2]).toEqual({
      role: "user",
      content: [{ text: "Now rhyme." }],
    });
    expect(fields).toEqual(["messages[2].role"]);
  });

  test("has no blank texts, and no message that consists only of them", () => {
    expect(messagesOf([user(text("a")), assistant(text(" \n")), user(text(""), text("b"))])).toEqual([
      { role: "user", content: [{ text: "a" }, { text: "b" }] },
    ]);
  });

  test("begins with the user and does not end with whitespace", () => {
    expect(messagesOf([assistant(text("Once upon a time "))])).toEqual([
      { role: "user", content: [{ text: "Continue." }] },
      { role: "assistant", content: [{ text: "Once upon a time" }] },
    ]);
  });

  test.each([
    ["[1]", { arguments: [1] }],
    ["null", {}],
    ['{"a":', { arguments: '{"a":' }],
  ])("has arguments %s as an object", (json, input) => {
    expect(messagesOf([user(text("a")), assistant(call("c", json)), result("c")])).toMatchObject({
      1: { content: [{ toolUse: { input } }] },
    });
  });

  test("has the status of a failed tool for the model families that accept it", () => {
    const failed: Message = {
      role: "tool",
      parts: [{ kind: "tool-result", callId: "c", tool: "function", content: [text("no")], isError: true }],
    };
    const status = (target: ModelTarget) =>
      JSON.stringify(messagesOf([user(text("a")), assistant(call("c")), failed], target)).includes(
        '"status":"error"',
      );
    expect([CLAUDE, NOVA, LLAMA].map(status)).toEqual([true, true, false]);
  });

  test("has only reasoning that the model accepts", () => {
    const foreign: ReasoningPart = { ...thought, origin: REASONING_ORIGINS.openai };
    const unsigned: ReasoningPart = { ...thought, signature: null, origin: null };
    const redacted: ReasoningPart = {
      ...thought,
      text: "",
      signature: null,
      encrypted: "cnNu",
      origin: "bedrock-converse-v1",
    };
    const { body, fields } = encode({
      messages: [user(text("a")), assistant(foreign, unsigned, redacted, text("b"))],
    });
    expect((body["messages"] as Fields[])[1]).toEqual({
      role: "assistant",
      content: [{ reasoningContent: { redactedContent: "cnNu" } }, { text: "b" }],
    });
    expect(fields).toEqual(["messages"]);
    expect(JSON.stringify(messagesOf([user(text("a")), assistant(thought, text("b"))], LLAMA))).not.toContain(
      "sig",
    );
  });

  test("has cache points as far as the model family supports them", () => {
    const messages: Message[] = [
      { role: "system", parts: [{ kind: "text", text: "s", cache: { ttl: "1h" } }] },
      user(
        { kind: "text", text: "a", cache: { ttl: null } },
        { kind: "text", text: "", cache: { ttl: null } },
        text("b"),
      ),
    ];
    const tools = [{ ...weather, cache: { ttl: "5m" } as const }];
    const marks = (target: ModelTarget) => {
      const { body } = encode({ messages, tools, cache: { ttl: null } }, target);
      const { tools: offered } = body["toolConfig"] as { tools: Fields[] };
      const { content } = (body["messages"] as { content: Fields[] }[])[0] as { content: Fields[] };
      return [body["system"] as Fields[], offered, content].map((blocks) =>
        blocks.map((block) => block["cachePoint"] ?? null),
      );
    };
    const point = { type: "default" };
    expect(marks(CLAUDE)).toEqual([
      [null, { ...point, ttl: "1h" }],
      [null, { ...point, ttl: "5m" }],
      [null, point, null, point],
    ]);
    expect(marks(NOVA)).toEqual([[null, point], [null], [null, point, null, point]]);
    expect(marks(LLAMA)).toEqual([[null], [null], [null, null]]);
  });
});

describe("media encoded for Converse", () => {
  test.each([
    [png, { image: { format: "png", source: { bytes: "aGk=" } } }],
    [
      { kind: "image", source: { kind: "url", url: "s3://bucket/cat.JPG", mediaType: null } },
      { image: { format: "jpeg", source: { s3Location: { uri: "s3://bucket/cat.JPG" } } } },
    ],
    [
      { kind: "video", source: { kind: "base64", mediaType: "video/quicktime", data: "aGk=" } },
      { video: { format: "mov", source: { bytes: "aGk=" } } },
    ],
    [
      { kind: "audio", source: { kind: "base64", mediaType: "audio/mpeg", data: "aGk=" } },
      { audio: { format: "mp3", source: { bytes: "aGk=" } } },
    ],
    [
      pdf("Q3 report_(final).pdf"),
      { document: { format: "pdf", name: "Q3 report (final) pdf", source: { bytes: "aGk=" } } },
    ],
    [
      { kind: "file", source: { kind: "text", mediaType: "text/x-log", text: "lines" } },
      { document: { format: "txt", name: "document", source: { text: "lines" } } },
    ],
  ] as [Part, Fields][])("turn %j into the block of their kind", (part, block) => {
    expect(messagesOf([user(text("Look"), part)])).toEqual([
      { role: "user", content: [{ text: "Look" }, block] },
    ]);
  });

  test("have unique document names, and a text next to documents", () => {
    const { body } = encode({ messages: [user(pdf("a"), pdf("a"), pdf(), pdf("???"))] });
    const { content } = (
      body["messages"] as { content: { document?: { name: string }; text?: string }[] }[]
    )[0] as { content: { document?: { name: string }; text?: string }[] };
    expect(content.map(({ document, text: words }) => document?.name ?? words)).toEqual([
      "a",
      "a (2)",
      "document",
      "document (2)",
      "See the attached document.",
    ]);
  });

  test.each([
    [
      "a URL",
      { kind: "image", source: { kind: "url", url: "https://example.com/cat.png", mediaType: null } },
    ],
    [
      "a file uploaded to another vendor",
      { kind: "file", source: { kind: "file-id", id: "file_1", store: "openai" } },
    ],
    [
      "an unknown type of image",
      { kind: "image", source: { kind: "base64", mediaType: "image/tiff", data: "aGk=" } },
    ],
    [
      "a binary document",
      { kind: "file", source: { kind: "base64", mediaType: "application/zip", data: "aGk=" } },
    ],
  ] as [string, Part][])("are rejected with the field name for %s", (_, part) => {
    expect(rejectionOf({ messages: [user(text("Look"), part)] })).toEqual({
      code: "invalid_request",
      field: "messages[0].content[1]",
    });
  });

  test("of an assistant message are left out with a warning", () => {
    const { body, fields } = encode({ messages: [user(text("a")), assistant(png, text("b"))] });
    expect((body["messages"] as Fields[])[1]).toEqual({ role: "assistant", content: [{ text: "b" }] });
    expect(fields).toEqual(["messages[1].content[0]"]);
  });
});

describe("tools encoded for Converse", () => {
  const spec = {
    toolSpec: {
      name: "weather",
      description: "The weather of a place",
      inputSchema: { json: { type: "object", properties: {} } },
    },
  };
  const history = [user(text("a")), assistant(call("c")), result("c", text("rain"))];

  test.each([
    [null, {}],
    [{ kind: "auto" }, {}],
    [{ kind: "required" }, { toolChoice: { any: {} } }],
    [{ kind: "tool", name: "weather" }, { toolChoice: { tool: { name: "weather" } } }],
    [{ kind: "allowed", names: ["weather"], required: true }, { toolChoice: { any: {} } }],
    [{ kind: "allowed", names: ["weather"], required: false }, {}],
  ] as const)("are offered with the choice %j", (toolChoice, choice) => {
    const tools = toolChoice?.kind === "allowed" ? [{ ...weather, name: "other" }, weather] : [weather];
    expect(encode({ tools, toolChoice }).body["toolConfig"]).toEqual({ tools: [spec], ...choice });
  });

  test("are left out for the tool choice none, unless one was called", () => {
    expect(encode({ tools: [weather], toolChoice: { kind: "none" } })).toMatchObject({
      body: { messages: expect.anything() },
      fields: [],
    });
    expect(encode({ tools: [weather], toolChoice: { kind: "none" } }).body).not.toHaveProperty("toolConfig");
    const later = encode({ tools: [weather], toolChoice: { kind: "none" }, messages: history });
    expect(later.body["toolConfig"]).toEqual({ tools: [spec] });
    expect(later.fields).toEqual(["tool_choice"]);
  });

  test("are declared by name if they were called and the client sends none", () => {
    expect(encode({ messages: history }).body["toolConfig"]).toMatchObject({
      tools: [{ toolSpec: { name: "weather" } }],
    });
  });

  test.each([
    [null, { type: "auto", disable_parallel_tool_use: true }],
    [{ kind: "required" }, { type: "any", disable_parallel_tool_use: true }],
    [
      { kind: "tool", name: "weather" },
      { type: "tool", name: "weather", disable_parallel_tool_use: true },
    ],
  ] as const)("one at a time with the choice %j are asked of Claude in its own words", (toolChoice, own) => {
    const { body, fields } = encode({ tools: [weather], toolChoice, parallelToolCalls: false });
    expect(body["toolConfig"]).toEqual({ tools: [spec] });
    expect(body["additionalModelRequestFields"]).toEqual({ tool_choice: own });
    expect(fields).toEqual([]);
    expect(encode({ tools: [weather], toolChoice, parallelToolCalls: false }, NOVA).fields).toEqual([
      "parallel_tool_calls",
    ]);
  });

  test("have an empty object without parameters, and one string for free text", () => {
    const tools = [
      { ...weather, description: null, parameters: null },
      { kind: "custom", name: "patch", description: null, inputFormat: null } as const,
    ];
    const { body, fields } = encode({ tools });
    expect(body["toolConfig"]).toMatchObject({
      tools: [
        { toolSpec: { name: "weather", inputSchema: { json: { type: "object", properties: {} } } } },
        { toolSpec: { name: "patch", inputSchema: { json: { required: ["input"] } } } },
      ],
    });
    expect(fields).toEqual(["tools[1]"]);
  });

  test("lose those that another provider runs and strictness, with warnings", () => {
    const search = { kind: "native", format: "anthropic-messages", type: "web_search", value: {} } as const;
    const { body, fields } = encode({ tools: [search, { ...weather, strict: true }] });
    expect(body["toolConfig"]).toEqual({ tools: [spec] });
    expect(fields).toEqual(["tools[0]", "tools[1].function.strict"]);
  });
});

describe("reasoning parameters for Bedrock", () => {
  test.each([
    ["an effort", CLAUDE, { effort: "high" }, { thinking: { type: "enabled", budget_tokens: 16_384 } }],
    ["a budget", CLAUDE, { budgetTokens: 5_000 }, { thinking: { type: "enabled", budget_tokens: 5_000 } }],
    ["none", CLAUDE, { enabled: false }, undefined],
    [
      "none",
      { ...CLAUDE, reasoning: { efforts: ["low"], canDisable: true } },
      { effort: "none" },
      { thinking: { type: "disabled" } },
    ],
    [
      "an effort",
      ADAPTIVE,
      { effort: "minimal" },
      { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
    ],
    [
      "a budget",
      ADAPTIVE,
      { budgetTokens: 9_000 },
      { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    ],
    ["it hidden", ADAPTIVE, { hidden: true }, { thinking: { type: "adaptive", display: "omitted" } }],
    [
      "a summary",
      ADAPTIVE,
      { adaptive: true, summary: "auto" },
      { thinking: { type: "adaptive", display: "summarized" } },
    ],
    ["an effort", GPT, { effort: "xhigh" }, { reasoning_effort: "high" }],
  ] as const)("with %s are encoded for %j from %j", (_, target, parameters, fields) => {
    const { body } = encode({ reasoning: { ...NO_AMOUNT, ...parameters } }, target as ModelTarget);
    expect(body["additionalModelRequestFields"]).toEqual(fields);
  });

  test("leave tokens for the answer, and set a limit if the client sets none", () => {
    expect(encode({ reasoning: { ...NO_AMOUNT, effort: "high" }, maxTokens: 4_000 }).body).toMatchObject({
      inferenceConfig: { maxTokens: 4_000 },
      additionalModelRequestFields: { thinking: { budget_tokens: 3_200 } },
    });
    expect(encode({ reasoning: NO_AMOUNT }).body["inferenceConfig"]).toEqual({ maxTokens: 64_000 });
  });

  test.each([
    ["max_tokens is too small", { maxTokens: 1_000 }],
    ["a tool must be called", { tools: [weather], toolChoice: { kind: "required" } }],
    [
      "the turn began without reasoning",
      { messages: [user(text("a")), assistant(text("I look."), call("c")), result("c")] },
    ],
  ] as [string, Partial<ConversationRequest>][])("are left out with a warning if %s", (_, parameters) => {
    const { body, fields } = encode({ reasoning: NO_AMOUNT, ...parameters });
    expect(JSON.stringify(body)).not.toContain("thinking");
    expect(fields).toEqual(["reasoning"]);
  });

  test("are sent in a turn that began with reasoning", () => {
    const messages = [user(text("a")), assistant(thought, call("c")), result("c")];
    expect(encode({ reasoning: NO_AMOUNT, messages }).body).toHaveProperty(
      "additionalModelRequestFields.thinking",
    );
  });

  test.each([NOVA, LLAMA])("are left out with a warning for $name", (target) => {
    expect(encode({ reasoning: NO_AMOUNT }, target).fields).toEqual(["reasoning"]);
  });
});

describe("sampling parameters for Bedrock", () => {
  const all = { temperature: 0.5, topP: 0.9, topK: 40, maxTokens: 100, stop: ["END", "\n\n"] };
  test.each([
    [
      CLAUDE,
      {},
      { maxTokens: 100, temperature: 0.5, stopSequences: ["END"] },
      { top_k: 40 },
      ["top_p", "stop"],
    ],
    [
      CLAUDE,
      { temperature: null },
      { maxTokens: 100, topP: 0.9, stopSequences: ["END"] },
      { top_k: 40 },
      ["stop"],
    ],
    [
      ADAPTIVE,
      {},
      { maxTokens: 100, stopSequences: ["END"] },
      undefined,
      ["temperature", "top_p", "top_k", "stop"],
    ],
    [
      NOVA,
      {},
      { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ["END"] },
      { inferenceConfig: { topK: 40 } },
      ["stop"],
    ],
    [
      LLAMA,
      {},
      { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ["END"] },
      undefined,
      ["stop", "top_k"],
    ],
  ] as const)(
    "of the model %j are limited to what it accepts: %j",
    (target, parameters, config, own, warned) => {
      const { body, fields } = encode({ ...all, ...parameters }, target as ModelTarget);
      expect(body["inferenceConfig"]).toEqual(config);
      expect(body["additionalModelRequestFields"]).toEqual(own);
      expect(fields).toEqual([...warned]);
    },
  );

  test("are limited to what Claude accepts while it thinks", () => {
    const { body, fields } = encode({
      temperature: 0.5,
      topK: 40,
      topP: 0.5,
      reasoning: NO_AMOUNT,
      maxTokens: 4_000,
    });
    expect(body["inferenceConfig"]).toEqual({ maxTokens: 4_000 });
    expect(fields).toEqual(["temperature", "top_p", "top_k"]);
    expect(encode({ temperature: 1, reasoning: NO_AMOUNT, maxTokens: 4_000 }).fields).toEqual([]);
  });

  test("have a temperature of at most 1", () => {
    const { body, fields } = encode({ temperature: 1.7 });
    expect(body["inferenceConfig"]).toEqual({ temperature: 1 });
    expect(fields).toEqual(["temperature"]);
  });

  test("request Claude's stop sequence at the position that a whole or streamed answer has", () => {
    const paths = (stream: boolean, target = CLAUDE) =>
      encode({ stop: ["END"], stream }, target).body["additionalModelResponseFieldPaths"] as unknown;
    expect([paths(true), paths(false), paths(true, NOVA)]).toEqual([
      ["/delta/stop_sequence"],
      ["/stop_sequence"],
      undefined,
    ]);
  });
});

describe("a request to Converse", () => {
  test("has the JSON Schema of the answer", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    const outputFormat = { kind: "json-schema", name: null, description: "d", schema, strict: true } as const;
    const closed = JSON.stringify({ ...schema, additionalProperties: false });
    expect(encode({ outputFormat }).body["outputConfig"]).toEqual({
      textFormat: {
        type: "json_schema",
        structure: { jsonSchema: { schema: closed, name: "answer", description: "d" } },
      },
    });
    expect(encode({ outputFormat: { kind: "json" } }).fields).toEqual(["response_format"]);
  });

  test.each([
    ["auto", undefined, []],
    ["standard_only", { type: "default" }, []],
    ["priority", { type: "priority" }, []],
    ["turbo", undefined, ["service_tier"]],
  ] as const)("has the tier %s", (serviceTier, wanted, warned) => {
    const { body, fields } = encode({ serviceTier });
    expect(body["serviceTier"]).toEqual(wanted);
    expect(fields).toEqual([...warned]);
  });

  test("has valid metadata", () => {
    expect(encode({ metadata: { team: "a/b" } }).body["requestMetadata"]).toEqual({ team: "a/b" });
    expect(encode({ metadata: { team: { deep: 1 } } }).fields).toEqual(["metadata"]);
  });

  test("has a warning for each parameter that Converse does not have", () => {
    const { fields } = encode({
      frequencyPenalty: 0.5,
      presencePenalty: 0.5,
      seed: 1,
      logitBias: { 1: 2 },
      logprobs: { top: 2 },
      verbosity: "low",
      user: "u",
      extras: { format: "openai-chat", fields: { prediction: { type: "content" } } },
    });
    expect(fields).toEqual([
      "prediction",
      "frequency_penalty",
      "presence_penalty",
      "seed",
      "logit_bias",
      "logprobs",
      "verbosity",
      "user",
    ]);
  });

  test("has the fields that only Converse has", () => {
    const guardrailConfig = { guardrailIdentifier: "g", guardrailVersion: "1" };
    const extras = {
      format: "bedrock-converse",
      fields: { guardrailConfig, additionalModelRequestFields: { a: 1 }, else: 1 },
    } as const;
    expect(encode({ extras, topK: 4 }).body).toEqual({
      messages: expect.anything(),
      guardrailConfig,
      additionalModelRequestFields: { top_k: 4, a: 1 },
    });
  });

  test("is rejected for more than one answer", () => {
    expect(rejectionOf({ n: 2 })).toEqual({ code: "invalid_request", field: "n" });
    expect(rejectionOf({ n: 1 })).toBeNull();
  });
});
