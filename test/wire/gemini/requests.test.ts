import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/base/errors.ts";
import type { ModelTarget } from "../../../src/wire/canonical/format.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../../../src/wire/canonical/parts.ts";
import {
  type ConversationRequest,
  EMPTY_REQUEST,
  type FunctionTool,
  type Message,
  type ReasoningParameters,
  type ToolChoice,
} from "../../../src/wire/canonical/request.ts";
import { gemini } from "../../../src/wire/gemini/codec.ts";
import { decodeFunctionName, encodeFunctionName } from "../../../src/wire/gemini/function-name.ts";
import type { Fields } from "../../../src/wire/json/fields.ts";

type Reasoning = ModelTarget["reasoning"];

const LEVELS: Reasoning = { efforts: ["low", "medium", "high"] };
const BUDGETS: Reasoning = { budgetTokens: { min: 512, max: 20_000 }, canDisable: true };

function encode(said: Partial<ConversationRequest>, reasoning: Reasoning = BUDGETS) {
  const messages: readonly Message[] = [user("hi")];
  const target: ModelTarget = { name: "gemini", maxOutputTokens: 65_536, reasoning };
  const { body, warnings } = gemini.encodeRequest({ messages, ...EMPTY_REQUEST, ...said }, target);
  return { body: body as unknown as SentBody, warned: warnings.map(({ field }) => field) };
}

/** What the tests look into of a body that was sent. */
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

describe("the conversation", () => {
  const contentsOf = (messages: readonly Message[], reasoning?: Reasoning) =>
    encode({ messages }, reasoning).body.contents;

  test("what leads it becomes the system's instruction, neighbours of one role become one", () => {
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

  test("a later system message is sent as a user's, and named", () => {
    const { body, warned } = encode({ messages: [user("1"), assistant("2"), say("system", ["3"])] });
    expect(body.contents[2]).toEqual({ role: "user", parts: [{ text: "3" }] });
    expect(warned).toEqual(["messages[2]"]);
  });

  test("a system message alone is sent as a user's, because somebody must have spoken", () => {
    const { body, warned } = encode({ messages: [say("system", ["a"])] });
    expect(body).toEqual({ contents: [{ role: "user", parts: [{ text: "a" }] }] });
    expect(warned).toEqual(["messages"]);
  });

  test("empty texts are left out, because Vertex refuses them", () => {
    expect(contentsOf([user("", "a"), assistant(""), user("b")])).toEqual([
      { role: "user", parts: [{ text: "a" }, { text: "b" }] },
    ]);
  });

  test.each<[string, Part, Fields]>([
    [
      "data",
      { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "QQ==" } },
      { inlineData: { mimeType: "image/png", data: "QQ==" } },
    ],
    [
      "an address with its type",
      { kind: "file", source: { kind: "url", url: "https://a.example/x", mediaType: "application/pdf" } },
      { fileData: { mimeType: "application/pdf", fileUri: "https://a.example/x" } },
    ],
    [
      "an address that tells its type",
      { kind: "video", source: { kind: "url", url: "gs://b/c.mp4?x", mediaType: null } },
      { fileData: { mimeType: "video/mp4", fileUri: "gs://b/c.mp4?x" } },
    ],
    [
      "an address that does not",
      { kind: "image", source: { kind: "url", url: "https://a.example/x", mediaType: null } },
      { fileData: { mimeType: "image/jpeg", fileUri: "https://a.example/x" } },
    ],
    [
      "a text that is a document",
      { kind: "file", source: { kind: "text", mediaType: "text/plain", text: "é" } },
      { text: "é" },
    ],
    [
      "a file of its own",
      { kind: "file", source: { kind: "file-id", id: "https://g.example/files/1", format: "gemini" } },
      { fileData: { fileUri: "https://g.example/files/1" } },
    ],
  ])("takes %s", (_what, part, encoded) => {
    expect(contentsOf([user(part)])).toEqual([{ role: "user", parts: [encoded] }]);
  });

  test.each<[string, Part]>([
    [
      "a file of another vendor",
      { kind: "file", source: { kind: "file-id", id: "file-1", format: "openai-chat" } },
    ],
    [
      "an address of another kind",
      { kind: "image", source: { kind: "url", url: "file:///etc/passwd", mediaType: null } },
    ],
  ])("refuses %s and names it", (_what, part) => {
    expect(() => contentsOf([user("see", part)])).toThrow(/^messages\[0\]\.content\[1\]: /);
  });
});

describe("calls and their results", () => {
  const turn = [
    user("go"),
    assistant(call("1"), call("2", { name: "g" })),
    results(result("2"), result("1")),
  ];

  test("follow each other in order, without ids for models before Gemini 3", () => {
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

  test("follow their own calls where ids come again in another order", () => {
    const again = [
      assistant(call("2", { name: "g2" }), call("1", { name: "f2" })),
      results(result("1"), result("2")),
    ];
    const contents = encode({ messages: [...turn, ...again] }).body.contents;
    const names = contents.at(-1)?.parts.map((part) => part.functionResponse?.["name"]);
    expect(names).toEqual(["g2", "f2"]);
  });

  test("carry ids to Gemini 3", () => {
    const [, calls, answers] = encode({ messages: turn }, LEVELS).body.contents;
    expect(calls?.parts.map((part) => part.functionCall?.["id"])).toEqual(["1", "2"]);
    expect(answers?.parts.map((part) => part.functionResponse?.["id"])).toEqual(["1", "2"]);
  });

  test("results in several messages are one content, and what the user says next another", () => {
    const messages = [...turn.slice(0, 2), results(result("1")), results(result("2")), user("and?")];
    const roles = encode({ messages }).body.contents.map(({ parts }) => parts.length);
    expect(roles).toEqual([1, 2, 2, 1]);
  });

  test.each<[string, Partial<ToolCallPart>, Fields]>([
    ["nothing", { arguments: "" }, {}],
    ["what is not JSON", { arguments: "{oops" }, { arguments: "{oops" }],
    ["what is no object", { arguments: "[1]" }, { arguments: "[1]" }],
    ["free text", { arguments: "ls", tool: "custom" }, { input: "ls" }],
  ])("arguments that are %s are an object", (_what, rest, args) => {
    const [, calls] = encode({ messages: [user("go"), assistant(call("1", rest))] }).body.contents;
    expect(calls?.parts[0]?.functionCall?.["args"]).toEqual(args);
  });

  test("a result that failed says so", () => {
    const messages = [user("go"), assistant(call("1")), results(result("1", { isError: true }))];
    expect(encode({ messages }).body.contents[2]?.parts[0]?.functionResponse?.["response"]).toEqual({
      error: "result 1",
    });
  });

  test("images of a result go inside it for Gemini 3, and after all results before", () => {
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

describe("signatures", () => {
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

  test("go back on the parts they came with", () => {
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

  test("of others, and thoughts without one, stay away", () => {
    const others = [
      thought({}),
      thought({ signature: "VGg=", origin: "anthropic-claude-v1" }),
      { ...text("a"), ...proof("QQ==", "openai-responses-v1") } as Part,
      { ...text("b"), ...proof("not base64!") } as Part,
    ];
    expect(partsOf(others)).toEqual([{ text: "a" }, { text: "b" }]);
  });

  test("carried as reasoning without text belong to the call they name, or to the next part", () => {
    const carried = (id: string | null) => thought({ text: "", encrypted: "Qw==", id });
    expect(signaturesOf([carried("2"), call("1"), call("2")])).toEqual([SKIP, "Qw=="]);
    expect(signaturesOf([carried(null), text("a"), call("1")])).toEqual(["Qw==", SKIP]);
  });

  test("that are missing are said to be missing, on the first of the calls made together", () => {
    expect(signaturesOf([text("a"), call("1"), call("2")])).toEqual([null, SKIP, null]);
    expect(signaturesOf([call("1", proof("Qw==")), call("2")])).toEqual(["Qw==", null]);
    expect(signaturesOf([call("1")], null)).toEqual([SKIP]);
    expect(signaturesOf([call("1")], BUDGETS)).toEqual([null]);
  });
});

describe("tools", () => {
  const tool = (rest: Partial<FunctionTool> = {}): FunctionTool => ({
    kind: "function",
    name: "f",
    description: "does",
    parameters: { type: "object", properties: { a: { type: ["string", "null"] } } },
    strict: null,
    ...rest,
  });

  test("are declared with JSON Schemas, lowered and named", () => {
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
    "that take %j are declared without a schema",
    (parameters) => {
      const { body } = encode({ tools: [tool({ parameters })] });
      expect(body.tools?.[0]?.functionDeclarations).toEqual([{ name: "f", description: "does" }]);
    },
  );

  test("of its own are passed on, those of others named and left out", () => {
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

  test("that take free text are functions of one text", () => {
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
  ])("a choice of %j", (toolChoice, functionCallingConfig) => {
    const { body } = encode({ tools: [tool(), tool({ name: "g", namespace: "group" })], toolChoice });
    expect(body.toolConfig).toEqual({ functionCallingConfig });
  });

  test("some allowed, none demanded: the others are not offered", () => {
    const toolChoice = { kind: "allowed", names: ["g"], required: false } as const;
    const { body } = encode({ tools: [tool(), tool({ name: "g" })], toolChoice });
    expect(body.tools?.[0]?.functionDeclarations?.map(({ name }) => name)).toEqual(["g"]);
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: "AUTO" } });
  });

  test("any name that is short enough comes back", () => {
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

describe("settings", () => {
  const configOf = (said: Partial<ConversationRequest>, reasoning?: Reasoning) =>
    encode(said, reasoning).body.generationConfig;

  test("are spelled as Gemini does", () => {
    const said = {
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
    expect(configOf(said)).toEqual({
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

  test("not said are not sent", () => {
    expect(encode({}).body).toEqual({ contents: [{ role: "user", parts: [{ text: "hi" }] }] });
    expect(configOf({ n: 1 })).toBeUndefined();
    expect(configOf({ logprobs: { top: null } })).toEqual({ responseLogprobs: true });
  });

  test("that Gemini has not are named", () => {
    const said = {
      logitBias: { "1": 1 },
      verbosity: "low",
      serviceTier: "flex",
      user: "u",
      metadata: { a: 1 },
      promptCacheKey: "k",
    };
    expect(encode(said)).toMatchObject({
      body: { contents: [{}] },
      warned: ["logit_bias", "verbosity", "service_tier", "user", "metadata"],
    });
  });

  test("more stop sequences than it takes are refused", () => {
    expect(() => encode({ stop: ["1", "2", "3", "4", "5", "6"] })).toThrow(/^stop: /);
  });

  test("a form of the answer", () => {
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

  test("fields of its own format are passed on", () => {
    const fields = { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }] };
    expect(encode({ extras: { format: "gemini", fields } }).body).toMatchObject(fields);
    expect(encode({ extras: { format: "openai-chat", fields } }).body).not.toHaveProperty("safetySettings");
  });
});

describe("reasoning", () => {
  const wish = (rest: Partial<ReasoningParameters>): ReasoningParameters => ({
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
    ["an effort is a level", LEVELS, { effort: "low" }, { ...ON, thinkingLevel: "LOW" }, false],
    ["the nearest level serves", LEVELS, { effort: "xhigh" }, { ...ON, thinkingLevel: "HIGH" }, false],
    ["a budget is a level", LEVELS, { budgetTokens: 4000 }, { ...ON, thinkingLevel: "LOW" }, false],
    [
      "on without an amount is in the middle",
      LEVELS,
      { enabled: true },
      { ...ON, thinkingLevel: "MEDIUM" },
      false,
    ],
    ["adaptive leaves it to the model", LEVELS, { adaptive: true }, ON, false],
    [
      "hidden thoughts are not asked for",
      LEVELS,
      { effort: "high", hidden: true },
      { includeThoughts: false, thinkingLevel: "HIGH" },
      false,
    ],
    ["off is as little as there is", LEVELS, { enabled: false }, { thinkingLevel: "LOW" }, true],
    [
      "an effort is a share of the largest budget",
      BUDGETS,
      { effort: "medium" },
      { ...ON, thinkingBudget: 10_000 },
      false,
    ],
    ["a budget is a budget", BUDGETS, { budgetTokens: 1000 }, { ...ON, thinkingBudget: 1000 }, false],
    [
      "a budget beyond is bounded and named",
      BUDGETS,
      { budgetTokens: 99_999 },
      { ...ON, thinkingBudget: 20_000 },
      true,
    ],
    ["adaptive is -1", BUDGETS, { adaptive: true }, { ...ON, thinkingBudget: -1 }, false],
    ["off is 0", BUDGETS, { effort: "none" }, { thinkingBudget: 0 }, false],
    ["off where it cannot be is the least", NEVER_OFF, { effort: "none" }, { thinkingBudget: 128 }, true],
    ["a model of which nothing is known is left alone", null, { effort: "high" }, undefined, true],
    ["and off is nothing to it", null, { enabled: false }, undefined, false],
  ])("%s", (_what, reasoning, said, thinkingConfig, isNamed) => {
    const { body, warned } = encode({ reasoning: wish(said) }, reasoning);
    expect(body.generationConfig?.["thinkingConfig"]).toEqual(thinkingConfig);
    expect(warned).toEqual(isNamed ? ["reasoning"] : []);
  });
});
