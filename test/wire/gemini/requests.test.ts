import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/base/failures/errors.ts";
import type { Fields } from "../../../src/base/json/fields.ts";
import type { ModelTarget } from "../../../src/wire/canonical/model/format.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../../../src/wire/canonical/model/parts.ts";
import {
  type ConversationRequest,
  EMPTY_REQUEST,
  type FunctionTool,
  type Message,
  type ReasoningParameters,
  type ToolChoice,
} from "../../../src/wire/canonical/model/request.ts";
import { gemini } from "../../../src/wire/gemini/codec.ts";
import { decodeFunctionName, encodeFunctionName } from "../../../src/wire/gemini/function-name.ts";

type Reasoning = ModelTarget["reasoning"];

const LEVELS: Reasoning = { efforts: ["low", "medium", "high"] };
const BUDGETS: Reasoning = { budgetTokens: { min: 512, max: 20_000 }, canDisable: true };

function encode(settings: Partial<ConversationRequest>, reasoning: Reasoning = BUDGETS) {
  const messages: readonly Message[] = [user("hi")];
  const target: ModelTarget = { name: "gemini", maxOutputTokens: 65_536, reasoning };
  const { body, warnings } = gemini.encodeRequest({ messages, ...EMPTY_REQUEST, ...settings }, target);
  return { body: body as unknown as SentBody, warned: warnings.map(({ field }) => field) };
}

/** The fields of a sent body that the tests read. */
interface SentBody {
  readonly contents: readonly { readonly role: string; readonly parts: readonly SentPart[] }[];
  readonly tools?: readonly {
    readonly functionDeclarations?: readonly Fields[];
    readonly [other: string]: unknown;
  }[];
  readonly toolConfig?: unknown;
  readonly generationConfig?: Fields;
  readonly [other: string]: unknown;
}

interface SentPart {
  readonly functionCall?: Fields;
  readonly functionResponse?: Fields;
  readonly thoughtSignature?: string;
  readonly [other: string]: unknown;
}

const text = (words: string): Part => ({ kind: "text", text: words });
const user = (...parts: readonly (string | Part)[]): Message => say("user", parts);
const assistant = (...parts: readonly (string | Part)[]): Message => say("assistant", parts);
const results = (...parts: readonly Part[]): Message => say("tool", parts);

function say(role: Message["role"], parts: readonly (string | Part)[]): Message {
  return { role, parts: parts.map((part) => (typeof part === "string" ? text(part) : part)) };
}

const call = (id: string, rest: Partial<ToolCallPart> = {}): ToolCallPart => ({
  kind: "tool-call",
  id,
  name: "f",
  tool: "function",
  arguments: '{"x":1}',
  ...rest,
});

const result = (callId: string, rest: Partial<ToolResultPart> = {}): ToolResultPart => ({
  kind: "tool-result",
  callId,
  tool: "function",
  content: [text(`result ${callId}`)],
  isError: false,
  ...rest,
});

const proof = (value: string, origin = "google-gemini-v1") => ({ signature: { value, origin } });
const SKIP = "skip_thought_signature_validator";

describe("a conversation encoded for Gemini", () => {
  const contentsOf = (messages: readonly Message[], reasoning?: Reasoning) =>
    encode({ messages }, reasoning).body.contents;

  test("has its first system messages as system instruction, and adjacent messages of one role joined", () => {
    const messages = [
      say("system", ["a"]),
      say("developer", ["b"]),
      user("1"),
      user("2"),
      assistant("3"),
      assistant("4"),
    ];
    expect(encode({ messages })).toEqual({
      body: {
        systemInstruction: { parts: [{ text: "a" }, { text: "b" }] },
        contents: [
          { role: "user", parts: [{ text: "1" }, { text: "2" }] },
          { role: "model", parts: [{ text: "3" }, { text: "4" }] },
        ],
      },
      warned: [],
    });
  });

  test("has later system messages as user messages, with a warning", () => {
    const { body, warned } = encode({ messages: [user("1"), assistant("2"), say("system", ["3"])] });
    expect(body.contents[2]).toEqual({ role: "user", parts: [{ text: "3" }] });
    expect(warned).toEqual(["messages[2]"]);
  });

  test("has a user message after a single system message, because one is required", () => {
    const { body, warned } = encode({ messages: [say("system", ["a"])] });
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: "a" }] },
      contents: [{ role: "user", parts: [{ text: "Continue." }] }],
    });
    expect(warned).toEqual(["messages"]);
  });

  test("has no empty texts, because Vertex AI rejects them", () => {
    expect(contentsOf([user("", "a"), assistant(""), user("b")])).toEqual([
      { role: "user", parts: [{ text: "a" }, { text: "b" }] },
    ]);
  });

  test.each<[string, Part, Fields]>([
    [
      "inline data",
      { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "QQ==" } },
      { inlineData: { mimeType: "image/png", data: "QQ==" } },
    ],
    [
      "a URL with a media type",
      { kind: "file", source: { kind: "url", url: "https://a.example/x", mediaType: "application/pdf" } },
      { fileData: { mimeType: "application/pdf", fileUri: "https://a.example/x" } },
    ],
    [
      "a URL with a known extension",
      { kind: "video", source: { kind: "url", url: "gs://b/c.mp4?x", mediaType: null } },
      { fileData: { mimeType: "video/mp4", fileUri: "gs://b/c.mp4?x" } },
    ],
    [
      "a URL without an extension",
      { kind: "image", source: { kind: "url", url: "https://a.example/x", mediaType: null } },
      { fileData: { mimeType: "image/jpeg", fileUri: "https://a.example/x" } },
    ],
    [
      "a text document",
      { kind: "file", source: { kind: "text", mediaType: "text/plain", text: "é" } },
      { text: "é" },
    ],
    [
      "a file uploaded to Gemini",
      { kind: "file", source: { kind: "file-id", id: "https://g.example/files/1", store: "google" } },
      { fileData: { fileUri: "https://g.example/files/1" } },
    ],
  ])("may have %s", (_what, part, encoded) => {
    expect(contentsOf([user(part)])).toEqual([{ role: "user", parts: [encoded] }]);
  });

  test.each<[string, Part]>([
    [
      "a file uploaded to another vendor",
      { kind: "file", source: { kind: "file-id", id: "file-1", store: "openai" } },
    ],
    [
      "a URL with another scheme",
      { kind: "image", source: { kind: "url", url: "file:///etc/passwd", mediaType: null } },
    ],
  ])("is rejected with the field name for %s", (_what, part) => {
    expect(() => contentsOf([user("see", part)])).toThrow(/^messages\[0\]\.content\[1\]: /);
  });
});

describe("calls and results encoded for Gemini", () => {
  const turn = [
    user("go"),
    assistant(call("1"), call("2", { name: "g" })),
    results(result("2"), result("1")),
  ];

  test("are in the same order, without ids for models before Gemini 3", () => {
    const [, calls, answers] = encode({ messages: turn }).body.contents;
    expect(calls).toEqual({
      role: "model",
      parts: [
        { functionCall: { name: "f", args: { x: 1 } } },
        { functionCall: { name: "g", args: { x: 1 } } },
      ],
    });
    expect(answers).toEqual({
      role: "user",
      parts: [
        { functionResponse: { name: "f", response: { output: "result 1" } } },
        { functionResponse: { name: "g", response: { output: "result 2" } } },
      ],
    });
  });

  test("are matched if ids are reused in another order", () => {
    const again = [
      assistant(call("2", { name: "g2" }), call("1", { name: "f2" })),
      results(result("1"), result("2")),
    ];
    const contents = encode({ messages: [...turn, ...again] }).body.contents;
    const names = contents.at(-1)?.parts.map((part) => part.functionResponse?.["name"]);
    expect(names).toEqual(["g2", "f2"]);
  });

  test("have ids for Gemini 3", () => {
    const [, calls, answers] = encode({ messages: turn }, LEVELS).body.contents;
    expect(calls?.parts.map((part) => part.functionCall?.["id"])).toEqual(["1", "2"]);
    expect(answers?.parts.map((part) => part.functionResponse?.["id"])).toEqual(["1", "2"]);
  });

  test("have the results of several messages in one content, and the next user message in another", () => {
    const messages = [...turn.slice(0, 2), results(result("1")), results(result("2")), user("and?")];
    const roles = encode({ messages }).body.contents.map(({ parts }) => parts.length);
    expect(roles).toEqual([1, 2, 2, 1]);
  });

  test.each<[string, Partial<ToolCallPart>, Fields]>([
    ["empty", { arguments: "" }, {}],
    ["not JSON", { arguments: "{oops" }, { arguments: "{oops" }],
    ["not an object", { arguments: "[1]" }, { arguments: "[1]" }],
    ["free text", { arguments: "ls", tool: "custom" }, { input: "ls" }],
  ])("have an object for arguments that are %s", (_what, rest, args) => {
    const [, calls] = encode({ messages: [user("go"), assistant(call("1", rest))] }).body.contents;
    expect(calls?.parts[0]?.functionCall?.["args"]).toEqual(args);
  });

  test("have an error field for a failed result", () => {
    const messages = [user("go"), assistant(call("1")), results(result("1", { isError: true }))];
    expect(encode({ messages }).body.contents[2]?.parts[0]?.functionResponse?.["response"]).toEqual({
      error: "result 1",
    });
  });

  test("have images inside the result for Gemini 3, and after all results for earlier models", () => {
    const image: Part = { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "QQ==" } };
    const inlineData = { mimeType: "image/png", data: "QQ==" };
    const messages = [
      ...turn.slice(0, 2),
      results(result("1", { content: [text("a"), image] }), result("2")),
    ];
    expect(encode({ messages }, LEVELS).body.contents[2]?.parts).toMatchObject([
      { functionResponse: { response: { output: "a" }, parts: [{ inlineData }] } },
      { functionResponse: { name: "g" } },
    ]);
    expect(encode({ messages }).body.contents[2]?.parts).toMatchObject([
      { functionResponse: { name: "f" } },
      { functionResponse: { name: "g" } },
      { inlineData },
    ]);
  });
});

describe("thought signatures sent to Gemini", () => {
  const partsOf = (parts: readonly Part[], reasoning: Reasoning = LEVELS): readonly SentPart[] =>
    encode({ messages: [user("go"), assistant(...parts)] }, reasoning).body.contents[1]?.parts ?? [];
  const signaturesOf = (parts: readonly Part[], reasoning?: Reasoning) =>
    partsOf(parts, reasoning).map((part) => part.thoughtSignature ?? null);
  const thought = (rest: Partial<Part & { kind: "reasoning" }>): Part => ({
    kind: "reasoning",
    text: "hm",
    isSummary: true,
    signature: null,
    encrypted: null,
    id: null,
    origin: "google-gemini-v1",
    ...rest,
  });

  test("are on the parts that they came with", () => {
    const parts = [
      thought({ signature: "VGg=" }),
      { ...text("a"), ...proof("QQ==") } as Part,
      call("1", proof("Qw==")),
    ];
    expect(partsOf(parts)).toMatchObject([
      { text: "hm", thought: true, thoughtSignature: "VGg=" },
      { text: "a", thoughtSignature: "QQ==" },
      { functionCall: { name: "f" }, thoughtSignature: "Qw==" },
    ]);
  });

  test("of other vendors are left out, as are thoughts without a signature", () => {
    const others = [
      thought({}),
      thought({ signature: "VGg=", origin: "anthropic-claude-v1" }),
      { ...text("a"), ...proof("QQ==", "openai-responses-v1") } as Part,
      { ...text("b"), ...proof("not base64!") } as Part,
    ];
    expect(partsOf(others)).toEqual([{ text: "a" }, { text: "b" }]);
  });

  test("that came as reasoning without text belong to the call that they name, or to the next part", () => {
    const carried = (id: string | null) => thought({ text: "", encrypted: "Qw==", id });
    expect(signaturesOf([carried("2"), call("1"), call("2")])).toEqual([SKIP, "Qw=="]);
    expect(signaturesOf([carried(null), text("a"), call("1")])).toEqual(["Qw==", SKIP]);
  });

  test("that are missing are replaced by a marker on the first of parallel calls", () => {
    expect(signaturesOf([text("a"), call("1"), call("2")])).toEqual([null, SKIP, null]);
    expect(signaturesOf([call("1", proof("Qw==")), call("2")])).toEqual(["Qw==", null]);
    expect(signaturesOf([call("1")], null)).toEqual([SKIP]);
    expect(signaturesOf([call("1")], BUDGETS)).toEqual([null]);
  });
});

describe("tools encoded for Gemini", () => {
  const tool = (rest: Partial<FunctionTool> = {}): FunctionTool => ({
    kind: "function",
    name: "f",
    description: "does",
    parameters: { type: "object", properties: { a: { type: ["string", "null"] } } },
    strict: null,
    ...rest,
  });

  test("have lowered JSON Schemas, with warnings about what was loosened", () => {
    const parameters = {
      type: "object",
      properties: { a: { $ref: "#/$defs/A" } },
      $defs: { A: { type: "string", not: {} } },
    };
    const { body, warned } = encode({ tools: [tool({ parameters })] });
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: "f",
            description: "does",
            parametersJsonSchema: { type: "object", properties: { a: { type: "string" } } },
          },
        ],
      },
    ]);
    expect(warned).toEqual(["tools[0].parameters.properties.a.not"]);
  });

  test.each([[null], [{ type: "object", properties: {} }], [{}]])(
    "with the parameters %j have no schema",
    (parameters) => {
      const { body } = encode({ tools: [tool({ parameters })] });
      expect(body.tools?.[0]?.functionDeclarations).toEqual([{ name: "f", description: "does" }]);
    },
  );

  test("include Gemini's own tools, and lose those of other vendors with a warning", () => {
    const native = {
      kind: "native",
      format: "gemini",
      type: "googleSearch",
      value: { googleSearch: {} },
    } as const;
    const foreign = { ...native, format: "anthropic-messages", type: "web_search" } as const;
    const { body, warned } = encode({ tools: [native, foreign] });
    expect(body.tools).toEqual([{ googleSearch: {} }]);
    expect(warned).toEqual(["tools[1]"]);
    expect(encode({ tools: [foreign], toolChoice: { kind: "auto" } }).body).not.toHaveProperty("tools");
  });

  test("for free text are functions with one string", () => {
    const custom = { kind: "custom", name: "sh", description: null, inputFormat: null } as const;
    const { body, warned } = encode({ tools: [custom] });
    expect(body.tools?.[0]?.functionDeclarations).toMatchObject([
      { parametersJsonSchema: { required: ["input"] } },
    ]);
    expect(warned).toEqual(["tools[0]"]);
  });

  test.each<[ToolChoice, Fields]>([
    [{ kind: "auto" }, { mode: "AUTO" }],
    [{ kind: "none" }, { mode: "NONE" }],
    [{ kind: "required" }, { mode: "ANY" }],
    [
      { kind: "tool", name: "f" },
      { mode: "ANY", allowedFunctionNames: ["f"] },
    ],
    [
      { kind: "tool", name: "g" },
      { mode: "ANY", allowedFunctionNames: ["gw.group..g"] },
    ],
    [
      { kind: "allowed", names: ["f"], required: true },
      { mode: "ANY", allowedFunctionNames: ["f"] },
    ],
  ])("have the function calling mode of the choice %j", (toolChoice, functionCallingConfig) => {
    const { body } = encode({ tools: [tool(), tool({ name: "g", namespace: "group" })], toolChoice });
    expect(body.toolConfig).toEqual({ functionCallingConfig });
  });

  test("are only the allowed ones if no call is required", () => {
    const toolChoice = { kind: "allowed", names: ["g"], required: false } as const;
    const { body } = encode({ tools: [tool(), tool({ name: "g" })], toolChoice });
    expect(body.tools?.[0]?.functionDeclarations?.map(({ name }) => name)).toEqual(["g"]);
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: "AUTO" } });
  });

  test("have names that are decoded to the client's, if they are not too long", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
        fc.option(fc.string({ minLength: 1, maxLength: 8 }), { nil: undefined }),
        (name, namespace) => {
          const named = namespace === undefined ? { name } : { name, namespace };
          const spelled = fits(() => encodeFunctionName(named, "tools[0].name"));
          if (spelled === null) return;
          expect(spelled).toMatch(/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/);
          expect(decodeFunctionName(spelled)).toEqual(named);
        },
      ),
    );
    expect(encodeFunctionName({ name: "mcp__x__do-it.now" }, "n")).toBe("mcp__x__do-it.now");
    expect(decodeFunctionName(encodeFunctionName({ name: "gw.a..b" }, "n"))).toEqual({ name: "gw.a..b" });
    expect(() => encodeFunctionName({ name: "ä".repeat(30) }, "tools[3].name")).toThrow(
      /^tools\[3\]\.name: /,
    );
  });
});

function fits(run: () => string): string | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

describe("the settings of a request to Gemini", () => {
  const configOf = (settings: Partial<ConversationRequest>, reasoning?: Reasoning) =>
    encode(settings, reasoning).body.generationConfig;

  test("have Gemini's names", () => {
    const settings = {
      maxTokens: 10,
      temperature: 0,
      topP: 0.5,
      topK: 3,
      stop: ["a", ""],
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      seed: 2 ** 31 + 5,
      n: 2,
      logprobs: { top: 3 },
    };
    expect(configOf(settings)).toEqual({
      maxOutputTokens: 10,
      temperature: 0,
      topP: 0.5,
      topK: 3,
      stopSequences: ["a"],
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      seed: 5,
      candidateCount: 2,
      responseLogprobs: true,
      logprobs: 3,
    });
  });

  test("are absent if the client does not set them", () => {
    expect(encode({}).body).toEqual({ contents: [{ role: "user", parts: [{ text: "hi" }] }] });
    expect(configOf({ n: 1 })).toBeUndefined();
    expect(configOf({ logprobs: { top: null } })).toEqual({ responseLogprobs: true });
  });

  test("that Gemini does not have lead to warnings", () => {
    const settings = {
      logitBias: { "1": 1 },
      verbosity: "low",
      serviceTier: "flex",
      user: "u",
      metadata: { a: 1 },
      promptCacheKey: "k",
    };
    expect(encode(settings)).toMatchObject({
      body: { contents: [{}] },
      warned: ["logit_bias", "verbosity", "service_tier", "user", "metadata"],
    });
  });

  test("are rejected if there are too many stop sequences", () => {
    expect(() => encode({ stop: ["1", "2", "3", "4", "5", "6"] })).toThrow(/^stop: /);
  });

  test("include the format of the answer", () => {
    expect(configOf({ outputFormat: { kind: "json" } })).toEqual({ responseMimeType: "application/json" });
    expect(configOf({ outputFormat: { kind: "text" } })).toBeUndefined();
    const schema = { type: "array", items: { const: 1 } };
    const outputFormat = {
      kind: "json-schema",
      name: null,
      description: null,
      schema,
      strict: true,
    } as const;
    expect(configOf({ outputFormat })).toEqual({
      responseMimeType: "application/json",
      responseJsonSchema: { type: "array", items: { enum: [1] } },
    });
  });

  test("include fields that only Gemini has", () => {
    const fields = { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }] };
    expect(encode({ extras: { format: "gemini", fields } }).body).toMatchObject(fields);
    expect(encode({ extras: { format: "openai-chat", fields } }).body).not.toHaveProperty("safetySettings");
  });
});

describe("reasoning parameters for Gemini", () => {
  const parametersOf = (rest: Partial<ReasoningParameters>): ReasoningParameters => ({
    enabled: null,
    effort: null,
    budgetTokens: null,
    adaptive: false,
    summary: null,
    hidden: false,
    ...rest,
  });
  const ON = { includeThoughts: true };
  const NEVER_OFF: Reasoning = { budgetTokens: { min: 128, max: 32_768 } };

  test.each<[string, Reasoning, Partial<ReasoningParameters>, Fields | undefined, boolean]>([
    ["have the level of an effort", LEVELS, { effort: "low" }, { ...ON, thinkingLevel: "LOW" }, false],
    [
      "have the nearest level that the model offers",
      LEVELS,
      { effort: "xhigh" },
      { ...ON, thinkingLevel: "HIGH" },
      false,
    ],
    ["have the level of a budget", LEVELS, { budgetTokens: 4000 }, { ...ON, thinkingLevel: "LOW" }, false],
    [
      "have a medium level if no amount is set",
      LEVELS,
      { enabled: true },
      { ...ON, thinkingLevel: "MEDIUM" },
      false,
    ],
    ["have no level if the model decides", LEVELS, { adaptive: true }, ON, false],
    [
      "exclude thoughts that the client hides",
      LEVELS,
      { effort: "high", hidden: true },
      { includeThoughts: false, thinkingLevel: "HIGH" },
      false,
    ],
    ["have the lowest level for no reasoning", LEVELS, { enabled: false }, { thinkingLevel: "LOW" }, true],
    [
      "have a share of the maximum budget for an effort",
      BUDGETS,
      { effort: "medium" },
      { ...ON, thinkingBudget: 10_000 },
      false,
    ],
    ["have the client's budget", BUDGETS, { budgetTokens: 1000 }, { ...ON, thinkingBudget: 1000 }, false],
    [
      "limit a budget to the maximum, with a warning",
      BUDGETS,
      { budgetTokens: 99_999 },
      { ...ON, thinkingBudget: 20_000 },
      true,
    ],
    [
      "have a budget of -1 if the model decides",
      BUDGETS,
      { adaptive: true },
      { ...ON, thinkingBudget: -1 },
      false,
    ],
    ["have a budget of 0 for no reasoning", BUDGETS, { effort: "none" }, { thinkingBudget: 0 }, false],
    [
      "have the minimum budget for no reasoning if the model always reasons",
      NEVER_OFF,
      { effort: "none" },
      { thinkingBudget: 128 },
      true,
    ],
    ["are left out with a warning for an unknown model", null, { effort: "high" }, undefined, true],
    [
      "are left out without a warning for an unknown model if reasoning is off",
      null,
      { enabled: false },
      undefined,
      false,
    ],
  ])("%s", (_what, reasoning, settings, thinkingConfig, isNamed) => {
    const { body, warned } = encode({ reasoning: parametersOf(settings) }, reasoning);
    expect(body.generationConfig?.["thinkingConfig"]).toEqual(thinkingConfig);
    expect(warned).toEqual(isNamed ? ["reasoning"] : []);
  });
});
