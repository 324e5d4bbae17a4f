import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Clock, Timer } from "../../src/base/time/clock.ts";
import type { Exchange, UpstreamResponse } from "../../src/core/deployments/transport.ts";
import { makeInstanceOfPattern } from "../../src/providers/sandbox/instance-of-pattern.ts";
import { makeInstanceOfSchema } from "../../src/providers/sandbox/instance-of-schema.ts";
import { MARKER_FORMS } from "../../src/providers/sandbox/markers.ts";
import { createSandboxTransport } from "../../src/providers/sandbox/sandbox-transport.ts";

interface ManualClock extends Clock {
  advance(ms: number): void;
  pending(): number;
}

function createManualClock(): ManualClock {
  let now = 1_750_000_000_500;
  const timers = new Set<{ at: number; callback: () => void }>();
  const after = (delayMs: number, callback: () => void): Timer => {
    const timer = { at: now + delayMs, callback };
    timers.add(timer);
    return { cancel: () => void timers.delete(timer) };
  };
  return {
    now: () => now,
    precise: () => now,
    after,
    every: () => {
      throw new Error("the sandbox needs no periodic timer");
    },
    pending: () => timers.size,
    advance(ms) {
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is read as by a client without types.
type Json = Record<string, any>;

const CONNECT_TIMEOUT_MS = 10_000;

function open(
  body: Json | string | null,
  clock: Clock = createManualClock(),
  path = "/v1/chat/completions",
): Exchange {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return createSandboxTransport({ clock }).open({
    url: new URL(`https://sandbox.invalid${path}`),
    method: body === null ? "GET" : "POST",
    headers: {},
    body: body === null ? null : new TextEncoder().encode(text),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
}

function chat(text: string, rest: Json = {}): Json {
  return { model: "echo", messages: [{ role: "user", content: text }], ...rest };
}

interface Read {
  readonly status: number;
  readonly type: string | null;
  readonly pieces: Uint8Array[];
  /** How the body ended: "end", the kind of the error, or "open" if it hangs. */
  readonly end: string;
  readonly text: string;
}

/** Reads until the body ends, breaks, or hangs. What is not available at once never arrives, because no time passes. */
async function readAll(response: UpstreamResponse): Promise<Read> {
  const pieces: Uint8Array[] = [];
  let end = "";
  while (end === "") {
    const piece = await Promise.race([
      response.read().catch((error) => error.kind as string),
      settle("open" as const),
    ]);
    if (piece instanceof Uint8Array) pieces.push(piece);
    else end = piece ?? "end";
  }
  const text = new TextDecoder().decode(Buffer.concat(pieces));
  return { status: response.status, type: response.header("content-type"), pieces, end, text };
}

/** Resolves when nothing more can happen without time passing. */
async function settle<T>(value: T): Promise<T> {
  await new Promise((resolve) => setImmediate(resolve));
  return value;
}

async function ask(body: Json | string | null, clock?: Clock, path?: string): Promise<Read> {
  return readAll(await open(body, clock, path).response);
}

function readEvents({ text }: Read): Json[] {
  return text
    .split("\n\n")
    .filter((event) => event !== "" && event !== "data: [DONE]")
    .map((event) => JSON.parse(event.replace("data: ", "")));
}

async function askJson(body: Json): Promise<Json> {
  const read = await ask(body);
  expect(read).toMatchObject({ status: 200, type: "application/json", end: "end" });
  return JSON.parse(read.text);
}

async function askStream(body: Json): Promise<Json[]> {
  const read = await ask({ ...body, stream: true });
  expect(read).toMatchObject({ status: 200, type: "text/event-stream; charset=utf-8", end: "end" });
  expect(read.text.endsWith("\n\ndata: [DONE]\n\n")).toBe(true);
  return readEvents(read);
}

const join = (chunks: Json[], index: number, field: string): string =>
  chunks
    .flatMap(({ choices }) => choices as Json[])
    .filter((choice) => choice["index"] === index)
    .map((choice) => choice["delta"][field] ?? "")
    .join("");

const finishes = (chunks: Json[]) =>
  chunks.flatMap(({ choices }) => choices as Json[]).flatMap((choice) => choice["finish_reason"] ?? []);

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", minLength: 3 },
        unit: { enum: ["C", "F"] },
        days: { type: "integer" },
      },
      required: ["city", "unit"],
    },
  },
};
const clockTool = { type: "function", function: { name: "get_time" } };
const TOOLS = { tools: [weather, clockTool] };

describe("a healthy answer", () => {
  test("echoes the last user message as a document", async () => {
    const answer = await askJson(chat("hello there"));
    expect(answer).toMatchObject({ object: "chat.completion", model: "echo", created: 1_750_000_000 });
    expect(answer["choices"]).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: "You said: hello there", refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ]);
  });

  test("echoes it as a stream of role, words and finish_reason", async () => {
    const chunks = await askStream(chat("hello there"));
    expect(chunks[0]!["choices"][0]["delta"]).toMatchObject({ role: "assistant", content: "" });
    expect(chunks.slice(1, -1).map((chunk) => chunk["choices"][0]["delta"]["content"])).toEqual([
      "You",
      " said:",
      " hello",
      " there",
    ]);
    expect(chunks.at(-1)!["choices"][0]).toMatchObject({ delta: {}, finish_reason: "stop" });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.some((chunk) => "usage" in chunk)).toBe(false);
  });

  test("has usage in a separate last event if requested", async () => {
    const body = chat("hello there", { stream_options: { include_usage: true } });
    const chunks = await askStream(body);
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 3 } });
  });

  test("is the same bytes for the same request, and has another id for another request", async () => {
    const body = chat("hello [sandbox:tools]", { ...TOOLS, stream: true });
    const [first, second, other] = [await ask(body), await ask(body), await ask({ ...body, seed: 7 })];
    expect(second.text).toBe(first.text);
    expect(readEvents(other)[0]!["id"]).not.toBe(readEvents(first)[0]!["id"]);
  });

  test("echoes text parts, ignores an image, and says so if there is no user message", async () => {
    const parts = [
      { type: "text", text: "a " },
      { type: "image_url", image_url: { url: "x" } },
      { type: "text", text: "b" },
    ];
    const mixed = await askJson({ model: "echo", messages: [{ role: "user", content: parts }] });
    expect(mixed["choices"][0]["message"]["content"]).toBe("You said: a b");
    expect(mixed["usage"]["prompt_tokens"]).toBe(86);
    const none = await askJson({ model: "echo", messages: [{ role: "system", content: "be brief" }] });
    expect(none["choices"][0]["message"]["content"]).toBe("You said nothing.");
  });

  test("alternates between n choices, which are numbered", async () => {
    const chunks = await askStream(chat("hi", { n: 3 }));
    expect([0, 1, 2].map((index) => join(chunks, index, "content"))).toEqual([
      "You said: hi",
      "You said (2): hi",
      "You said (3): hi",
    ]);
    expect(finishes(chunks)).toEqual(["stop", "stop", "stop"]);
  });

  test("lists the models of the sandbox", async () => {
    const read = await ask(null, undefined, "/v1/models");
    expect(JSON.parse(read.text)["data"].map(({ id }: Json) => id)).toEqual([
      "echo",
      "agent",
      "embed",
      "moderate",
      "rank",
      "draw",
      "speak",
      "transcribe",
    ]);
  });
});

describe("sandbox embeddings", () => {
  const embed = async (body: Json) => {
    const read = await ask({ model: "embed", ...body }, undefined, "/v1/embeddings");
    return { ...read, json: JSON.parse(read.text) as Json };
  };
  const vectorOf = async (input: unknown, rest: Json = {}): Promise<number[]> =>
    (await embed({ input, ...rest })).json["data"][0].embedding;

  test("are vectors of norm 1 that are equal for equal texts only", async () => {
    const vector = await vectorOf("one");
    expect(vector).toHaveLength(256);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(await vectorOf("one")).toEqual(vector);
    const other = await vectorOf("One");
    expect(Math.abs(other.reduce((sum, number, at) => sum + number * (vector[at] ?? 0), 0))).toBeLessThan(
      0.4,
    );
    expect(await vectorOf([111])).not.toEqual(await vectorOf("[111]"));
  });

  test("have the requested number of dimensions, also in base64", async () => {
    for (const dimensions of [1, 9, 4096]) {
      const vector = await vectorOf("one", { dimensions });
      expect(vector).toHaveLength(dimensions);
      const base64 = (await vectorOf("one", { dimensions, encoding_format: "base64" })) as unknown;
      const { buffer } = Uint8Array.from(Buffer.from(String(base64), "base64"));
      expect(Array.from(new Float32Array(buffer))).toEqual(vector);
    }
  });

  test.each([
    ["a text", "12345", 1, 2],
    ["texts", ["1", "12345"], 2, 3],
    ["token ids", [7, 8, 9], 1, 3],
    ["lists of token ids", [[7, 8], [9]], 2, 3],
  ])("count the tokens of %s", async (_what, input, count, tokens) => {
    const { json } = await embed({ input });
    expect(json["data"].map(({ index }: Json) => index)).toEqual(
      Array.from({ length: count }, (_, at) => at),
    );
    expect(json["usage"]).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
  });

  test.each([
    ["", {}],
    [[], {}],
    [["a", [1]], {}],
    ["x", { dimensions: 4097 }],
    ["x", { encoding_format: "int8" }],
    ["x", { model: "echo" }],
  ])("are refused for %p with %p", async (input, rest) => {
    const { status, json } = await embed({ input, ...rest });
    expect([status, json["error"].type]).toEqual([400, "invalid_request_error"]);
  });
});

describe("sandbox limits and formats", () => {
  test("a token is four bytes of UTF-8, rounded up", async () => {
    for (const [text, tokens] of [
      ["", 0],
      ["a", 1],
      ["abcd", 1],
      ["abcde", 2],
      ["äöü", 2],
      ["🦉🦉", 2],
    ] as const) {
      const { usage } = await askJson(chat(text));
      expect(usage["prompt_tokens"]).toBe(tokens);
    }
    const { usage } = await askJson(chat("äöü [sandbox:reasoning]"));
    const [said, thought] = ["You said: äöü", 'The user said: "äöü". I answer it.'].map((text) =>
      Math.ceil(Buffer.byteLength(text) / 4),
    ) as [number, number];
    expect(usage).toMatchObject({
      completion_tokens: said + thought,
      total_tokens: usage["prompt_tokens"] + said + thought,
      completion_tokens_details: { reasoning_tokens: thought },
      prompt_tokens_details: { cached_tokens: 0 },
    });
  });

  test("a long prompt except its last message is cached in blocks of 128", async () => {
    const messages = [
      { role: "system", content: "x".repeat(4 * 1100) },
      { role: "user", content: "x".repeat(4 * 200) },
    ];
    const { usage } = await askJson({ model: "echo", messages });
    expect(usage).toMatchObject({ prompt_tokens: 1300, prompt_tokens_details: { cached_tokens: 1024 } });
  });

  for (const field of ["max_tokens", "max_completion_tokens"]) {
    test(`${field} truncates the answer between characters`, async () => {
      const { choices, usage } = await askJson(chat("🦉🦉🦉", { [field]: 4 }));
      expect(choices[0]).toMatchObject({ message: { content: "You said: 🦉" }, finish_reason: "length" });
      expect(usage["completion_tokens"]).toBe(4);
      const whole = await askJson(chat("🦉🦉🦉", { [field]: 6 }));
      expect(whole["choices"][0]["finish_reason"]).toBe("stop");
    });
  }

  test("a limit within a call truncates its arguments", async () => {
    const { choices } = await askJson(chat("[sandbox:tools]", { ...TOOLS, max_tokens: 4 }));
    expect(choices[0]["finish_reason"]).toBe("length");
    expect(choices[0]["message"]["tool_calls"]).toMatchObject([{ function: { arguments: '{"ci' } }]);
  });

  test("a text ends before its first stop sequence", async () => {
    const { choices } = await askJson(chat("one two three", { stop: [" three", " two"] }));
    expect(choices[0]).toMatchObject({ message: { content: "You said: one" }, finish_reason: "stop" });
  });

  test("response_format json_object is answered with JSON", async () => {
    const object = await askJson(chat("hi", { response_format: { type: "json_object" } }));
    expect(JSON.parse(object["choices"][0]["message"]["content"])).toEqual({ answer: "You said: hi" });
    const schema = weather.function.parameters;
    const response_format = { type: "json_schema", json_schema: { name: "x", schema } };
    const chunks = await askStream(chat("hi", { response_format }));
    expect(JSON.parse(join(chunks, 0, "content"))).toEqual({ city: "aaa", unit: "C" });
  });

  test("the markers long, slow and split can be combined", async () => {
    const clock = createManualClock();
    const body = chat("[sandbox:long=3][sandbox:slow=250][sandbox:split=1000]", { stream: true });
    const response = await open(body, clock).response;
    const words: string[] = [];
    for (;;) {
      const read = response.read();
      clock.advance(249);
      expect(await Promise.race([read, settle("waiting")])).toBe("waiting");
      clock.advance(1);
      const piece = await read;
      if (piece === null) break;
      words.push(new TextDecoder().decode(piece));
    }
    expect(words.join("").match(/word-\d/g)).toEqual(["word-1", "word-2", "word-3"]);
    expect(clock.pending()).toBe(0);
  });

  test("the marker split sends pieces of that many bytes and changes nothing else", async () => {
    const whole = await ask(chat("grüße 🦉", { stream: true }));
    const split = await ask(chat("grüße 🦉[sandbox:split=1]", { stream: true }));
    expect(split.pieces.every((piece) => piece.length === 1)).toBe(true);
    expect(join(readEvents(split), 0, "content")).toBe(join(readEvents(whole), 0, "content"));
  });
});

describe("sandbox tools", () => {
  test("are all called in parallel, with arguments in several pieces", async () => {
    const chunks = await askStream(chat("[sandbox:tools]", TOOLS));
    const deltas = chunks.flatMap(({ choices }) => choices[0]["delta"]["tool_calls"] ?? []) as Json[];
    const heads = deltas.filter(({ id }) => id !== undefined);
    expect(heads).toMatchObject([
      { index: 0, type: "function", function: { name: "get_weather", arguments: "" } },
      { index: 1, type: "function", function: { name: "get_time", arguments: "" } },
    ]);
    const parts = [0, 1].map((index) =>
      deltas.filter((delta) => delta["index"] === index).map((delta) => delta["function"]["arguments"]),
    );
    expect(parts.map((pieces) => JSON.parse(pieces.join("")))).toEqual([{ city: "aaa", unit: "C" }, {}]);
    expect(parts.every((pieces) => pieces.length > 2)).toBe(true);
    expect(finishes(chunks)).toEqual(["tool_calls"]);
    expect(join(chunks, 0, "content")).toBe("");
  });

  const CHOICES: { name: string; text: string; rest: Json; called: string[]; finish: string }[] = [
    { name: "auto", text: "hi", rest: {}, called: [], finish: "stop" },
    {
      name: "required",
      text: "hi",
      rest: { tool_choice: "required" },
      called: ["get_weather"],
      finish: "tool_calls",
    },
    {
      name: "named",
      text: "hi",
      rest: { tool_choice: { type: "function", function: { name: "get_time" } } },
      called: ["get_time"],
      finish: "stop",
    },
    {
      name: "none beats the marker",
      text: "[sandbox:tools]",
      rest: { tool_choice: "none" },
      called: [],
      finish: "stop",
    },
    {
      name: "marker with a name",
      text: "[sandbox:tool=get_time]",
      rest: {},
      called: ["get_time"],
      finish: "tool_calls",
    },
    {
      name: "not in parallel",
      text: "[sandbox:tools]",
      rest: { parallel_tool_calls: false },
      called: ["get_weather"],
      finish: "tool_calls",
    },
  ];
  for (const { name, text, rest, called, finish } of CHOICES) {
    test(`are called as tool_choice says: ${name}`, async () => {
      const { choices } = await askJson(chat(text, { ...TOOLS, ...rest }));
      const calls: Json[] = choices[0]["message"]["tool_calls"] ?? [];
      expect(calls.map((call) => call["function"]["name"])).toEqual(called);
      expect(choices[0]["finish_reason"]).toBe(finish);
      if (called.length > 0) expect(choices[0]["message"]["content"]).toBeNull();
    });
  }

  test("have results that are answered with text, despite markers and tool_choice required", async () => {
    const messages = [
      { role: "user", content: "[sandbox:tools] weather?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "a", content: "sunny" },
      { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "noon" }] },
    ];
    const body = { model: "echo", ...TOOLS, tool_choice: "required" };
    const first = await askJson({ ...body, messages });
    expect(first["choices"][0]["message"]["content"]).toBe("The tools answered: sunny; noon");
    const second = await askJson({ ...body, messages: [...messages, { role: "user", content: "and now?" }] });
    expect(second["choices"][0]["message"]["content"]).toBe(
      "The tools answered: sunny; noon\nYou said: and now?",
    );
  });

  test("sandbox reasoning precedes the text", async () => {
    const chunks = await askStream(chat("why? [sandbox:reasoning]"));
    const kinds = chunks.slice(1, -1).map(({ choices }) => Object.keys(choices[0]["delta"])[0]);
    expect(kinds.lastIndexOf("reasoning_content")).toBeLessThan(kinds.indexOf("content"));
    expect(join(chunks, 0, "reasoning_content")).toBe('The user said: "why?". I answer it.');
  });
});

describe("the agent of the sandbox", () => {
  const agent = (messages: readonly Json[], rest: Json = {}) => ({
    ...chat(""),
    model: "agent",
    messages,
    ...rest,
  });
  const messageOf = async (body: Json) => (await askJson(body))["choices"][0]["message"];
  const question = { role: "user", content: "How is the weather?" };
  const call = { id: "call_1", type: "function", function: { name: "get_weather", arguments: "{}" } };
  const called = { role: "assistant", content: null, tool_calls: [call] };
  const result = { role: "tool", tool_call_id: "call_1", content: "sunny" };

  test("calls the first tool without being told to, with arguments that fit its schema", async () => {
    const { tool_calls } = await messageOf(agent([question], TOOLS));
    const { name, arguments: args } = tool_calls[0].function;
    expect([tool_calls.length, name, JSON.parse(args)]).toEqual([
      1,
      "get_weather",
      { city: "aaa", unit: "C" },
    ]);
  });

  test("answers results with text, and calls again after the next question", async () => {
    const answered = [question, called, result];
    expect(await messageOf(agent(answered, TOOLS))).toMatchObject({ content: "The tools answered: sunny" });
    const next = [...answered, { role: "assistant", content: "It is sunny." }, question];
    expect((await messageOf(agent(next, TOOLS)))["tool_calls"]).toHaveLength(1);
  });

  test("calls nothing if tool_choice is none, and the tool that tool_choice or a marker names", async () => {
    expect((await messageOf(agent([question], { ...TOOLS, tool_choice: "none" })))["content"]).toContain(
      "You said",
    );
    const clock = { type: "function", function: { name: clockTool.function.name } };
    const marked = { role: "user", content: `[sandbox:tool=${clockTool.function.name}]` };
    for (const body of [agent([question], { ...TOOLS, tool_choice: clock }), agent([marked], TOOLS)])
      expect((await messageOf(body))["tool_calls"]).toMatchObject([
        { function: { name: clockTool.function.name } },
      ]);
  });

  test("lists what it sees of the conversation before the last user message", async () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Look!" }, image] },
      called,
      result,
      { role: "assistant", content: "Sunny." },
      { role: "user", content: "And now?" },
    ];
    expect((await messageOf(agent(messages)))["content"]).toBe(
      "You said: And now?\nBefore that: system: Be brief.; user: Look! [image_url]; assistant: [call of get_weather]; tool: sunny; assistant: Sunny.",
    );
    expect((await messageOf(agent([question])))["content"]).toBe("You said: How is the weather?");
  });

  test("names its model in documents and in streams", async () => {
    expect((await askJson(agent([question])))["model"]).toBe("agent");
    const chunks = await askStream(agent([question]));
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(["agent"]));
  });
});

describe("sandbox tool choices of allowed tools", () => {
  const choose = (mode: string, name: string) => ({
    ...TOOLS,
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode, tools: [{ type: "function", function: { name } }] },
    },
  });

  test("hide the other tools from the model", async () => {
    const name = clockTool.function.name;
    for (const body of [
      chat("hi", choose("required", name)),
      chat("[sandbox:tools]", choose("auto", name)),
      { ...chat("hi", choose("auto", name)), model: "agent" },
    ]) {
      const { choices } = await askJson(body);
      expect(choices[0].message.tool_calls).toMatchObject([{ function: { name } }]);
    }
    expect((await askJson(chat("hi", choose("auto", name))))["choices"][0].message.content).toBe(
      "You said: hi",
    );
  });

  test("must name a tool of the request", async () => {
    const { status, text } = await ask(chat("hi", choose("required", "unknown")));
    expect([status, text]).toEqual([400, expect.stringContaining("not found in 'tools'")]);
  });
});

describe("sandbox instances of schemas", () => {
  const SCHEMAS: { name: string; schema: unknown; value: unknown }[] = [
    { name: "none", schema: undefined, value: {} },
    { name: "const", schema: { const: [1] }, value: [1] },
    { name: "enum by type", schema: { type: "string", enum: [1, "a"] }, value: "a" },
    { name: "nullable", schema: { type: ["null", "integer"], minimum: 3 }, value: 3 },
    { name: "open bounds", schema: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, value: 0.5 },
    { name: "multiples", schema: { type: "integer", minimum: 7, multipleOf: 5 }, value: 10 },
    { name: "negative", schema: { type: "integer", maximum: -2 }, value: -2 },
    {
      name: "list",
      schema: { type: "array", items: { type: "boolean" }, minItems: 2 },
      value: [false, false],
    },
    { name: "tuple", schema: { prefixItems: [{ const: 1 }, { const: 2 }], minItems: 2 }, value: [1, 2] },
    { name: "format", schema: { type: "string", format: "date" }, value: "2025-01-01" },
    {
      name: "pattern",
      schema: { type: "string", pattern: "^[A-Z]{2}-\\d+$", minLength: 6 },
      value: "AA-000",
    },
    {
      name: "all of",
      schema: {
        allOf: [
          { properties: { a: { minimum: 1 } } },
          { properties: { a: { type: "integer" } }, required: ["a"] },
        ],
      },
      value: { a: 1 },
    },
    { name: "any of, the first that can be", schema: { anyOf: [false, { type: "null" }] }, value: null },
    {
      name: "a tree that ends",
      schema: {
        $ref: "#/$defs/node",
        $defs: {
          node: {
            type: "object",
            properties: { next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
            required: ["next"],
          },
        },
      },
      value: expect.objectContaining({ next: expect.anything() }),
    },
    {
      name: "a name of Object's own",
      schema: { type: "object", required: ["constructor"] },
      value: expect.anything(),
    },
  ];
  for (const { name, schema, value } of SCHEMAS) {
    test(name, () => expect(makeInstanceOfSchema(schema)).toEqual({ ok: true, value }));
  }

  for (const [name, schema] of Object.entries({
    "a tree without end": { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] },
    "an alternative without end": { anyOf: [{ $ref: "#" }, { $ref: "#" }] },
    "a missing reference": { $ref: "#/nowhere" },
    "a reference to elsewhere": { $ref: "https://example.com/schema" },
    "contradicting bounds": { type: "number", minimum: 2, maximum: 1 },
    "too large": { description: "x".repeat(100_000) },
  })) {
    test(`do not exist for an impossible schema: ${name}`, () =>
      expect(makeInstanceOfSchema(schema).ok).toBe(false));
  }

  test("that are impossible for a tool are a 400 that names the tool", async () => {
    const tools = [{ type: "function", function: { name: "odd", parameters: { $ref: "#/nowhere" } } }];
    const read = await ask(chat("[sandbox:tools]", { tools }));
    expect(read.status).toBe(400);
    expect(read.text).toContain("'odd'");
  });

  const PATTERNS = [
    "^[a-z]+$",
    "^\\d{4}-\\d{2}$",
    "^(foo|bar)(?:baz)?$",
    "^[^a-z]x{2,}$",
    "^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$",
    "^#[0-9a-fA-F]{6}$",
    "^\\/[\\s\\S]*$",
    "^(?<year>[12]\\d{3})$",
    "",
  ];
  for (const pattern of PATTERNS) {
    test(`match the pattern ${pattern}`, () =>
      expect(makeInstanceOfPattern(pattern)!).toMatch(new RegExp(pattern)));
  }
  for (const pattern of ["(?=a)b", "\\bx", "(a)\\1", "[a", "(a", "a)", "*"]) {
    test(`do not exist for the unsupported pattern ${pattern}`, () =>
      expect(makeInstanceOfPattern(pattern)).toBeNull());
  }
});

/** Returns a request as text, with a tool whose schema has this depth. */
function nestedTools(depth: number): string {
  const schema = '{"allOf":['.repeat(depth) + "]}".repeat(depth);
  const tools = `[{"type":"function","function":{"name":"f","parameters":${schema}}}]`;
  return `{"model":"echo","messages":[{"role":"user","content":"[sandbox:tools]"}],"tools":${tools}}`;
}

describe("invalid sandbox requests", () => {
  const REJECTED: { name: string; body: Json | string; status: number; says: string }[] = [
    { name: "no JSON", body: "{", status: 400, says: "could not parse the JSON body" },
    { name: "no messages", body: { model: "echo" }, status: 400, says: "'messages'" },
    { name: "an empty list", body: { model: "echo", messages: [] }, status: 400, says: "'messages'" },
    { name: "a wrong type", body: chat("x", { max_tokens: "9" }), status: 400, says: "'max_tokens'" },
    {
      name: "a role it does not know",
      body: { model: "echo", messages: [{ role: "x" }] },
      status: 400,
      says: "'messages.0.role'",
    },
    {
      name: "another model",
      body: { ...chat("x"), model: "gpt" },
      status: 404,
      says: "`gpt` does not exist",
    },
    {
      name: "a tool choice without its tool",
      body: chat("x", { tool_choice: "required" }),
      status: 400,
      says: "tools",
    },
    { name: "tools nested without end", body: nestedTools(10_000), status: 400, says: "'tools'" },
    {
      name: "an unknown marker",
      body: chat("[sandbox:typo]"),
      status: 400,
      says: "[sandbox:stall[=TOKENS]]",
    },
    {
      name: "a name of Object's own as marker",
      body: chat("[sandbox:constructor]"),
      status: 400,
      says: "Unknown marker",
    },
    {
      name: "an argument out of range",
      body: chat("[sandbox:long=10001]"),
      status: 400,
      says: "Unknown marker",
    },
    {
      name: "a status it does not know",
      body: chat("[sandbox:error=418]"),
      status: 400,
      says: "Unknown marker",
    },
    {
      name: "two failures",
      body: chat("[sandbox:cut][sandbox:stall]"),
      status: 400,
      says: "Only one marker",
    },
    {
      name: "a tool that was not given",
      body: chat("[sandbox:tool=x]", TOOLS),
      status: 400,
      says: "not in 'tools'",
    },
  ];
  for (const { name, body, status, says } of REJECTED) {
    test(name, async () => {
      const read = await ask(body);
      expect(read).toMatchObject({ status, type: "application/json" });
      expect(JSON.parse(read.text)["error"]["message"]).toContain(says);
    });
  }

  test("to another path are a 404", async () =>
    expect((await ask(chat("x"), undefined, "/v1/nope")).status).toBe(404));
});

const BROKEN = /\{"con\n/;

/** The effect of each failing marker on a stream and on a document. */
const FAILURES: { marker: string; stream: Partial<Read>; document: Partial<Read>; says?: RegExp }[] = [
  ...[400, 401, 402, 403, 404, 429, 500, 502, 503, 529].map((status) => ({
    marker: `error=${status}`,
    stream: { status, end: "end", type: "application/json" },
    document: { status, end: "end" },
    says: /^\{"error":\{"message":"[A-Z]/,
  })),
  { marker: "error=429,retry-after=2", stream: { status: 429 }, document: { status: 429 } },
  { marker: "quota", stream: { status: 429 }, document: { status: 429 }, says: /insufficient_quota/ },
  {
    marker: "context",
    stream: { status: 400 },
    document: { status: 400 },
    says: /maximum context length is 8192 tokens/,
  },
  {
    marker: "html",
    stream: { status: 200, type: "text/html; charset=utf-8" },
    document: { status: 200 },
    says: /^<html>/,
  },
  { marker: "html=502", stream: { status: 502 }, document: { status: 502 } },
  {
    marker: "empty",
    stream: { status: 200, text: "", end: "end" },
    document: { status: 200, text: "", end: "end" },
  },
  {
    marker: "error-body",
    stream: { status: 200, type: "application/json" },
    document: { status: 200 },
    says: /^\{"error":.*500\}\}$/,
  },
  {
    marker: "error-first",
    stream: { end: "end" },
    document: { end: "end" },
    says: /^(data: )?\{"error":.*500\}\}\s*$/,
  },
  { marker: "error-late", stream: { end: "end" }, document: { end: "end" }, says: /\{"error":.*500\}\}\s*$/ },
  {
    marker: "error-late=0",
    stream: { end: "end" },
    document: { end: "end" },
    says: /\{"error":.*500\}\}\s*$/,
  },
  {
    marker: "402-body",
    stream: { status: 200, type: "application/json" },
    document: { status: 200 },
    says: /^\{"error":.*402\}\}$/,
  },
  {
    marker: "402-first",
    stream: { end: "end" },
    document: { end: "end" },
    says: /^(data: )?\{"error":.*402\}\}\s*$/,
  },
  { marker: "402-late", stream: { end: "end" }, document: { end: "end" }, says: /\{"error":.*402\}\}\s*$/ },
  { marker: "stall", stream: { end: "open" }, document: { end: "open" } },
  { marker: "stall=0", stream: { end: "open" }, document: { end: "open" } },
  { marker: "cut", stream: { end: "truncated" }, document: { end: "truncated" } },
  { marker: "cut-tool", stream: { end: "truncated" }, document: { end: "truncated" } },
  { marker: "no-end", stream: { end: "end" }, document: { end: "end" } },
  { marker: "double-finish", stream: { end: "end" }, document: { end: "end" } },
  { marker: "half-utf8", stream: { end: "end" }, document: { end: "end" } },
  { marker: "no-usage", stream: { end: "end" }, document: { end: "end" } },
  { marker: "garbage", stream: { end: "end" }, document: { end: "end" } },
];

const HEADLESS: Record<string, string> = {
  refused: "connect_failed",
  reset: "reset",
  "connect-timeout": "connect_timeout",
  silent: "open",
};

describe("sandbox failures", () => {
  for (const { marker, stream, document, says } of FAILURES) {
    test(`with the marker ${marker} occur in streams and documents`, async () => {
      const body = chat(`hello there [sandbox:${marker}]`, {
        ...TOOLS,
        stream_options: { include_usage: true },
      });
      const [streamed, whole] = [await ask({ ...body, stream: true }), await ask(body)];
      expect(streamed).toMatchObject(stream);
      expect(whole).toMatchObject(document);
      if (says !== undefined) for (const read of [streamed, whole]) expect(read.text).toMatch(says);
      // Failures do not look like a complete answer, except these, whose fault is elsewhere.
      const isWhole =
        streamed.status === 200 &&
        streamed.text.includes('"finish_reason":"') &&
        streamed.text.includes("[DONE]");
      expect(isWhole).toBe(["double-finish", "no-usage", "garbage"].includes(marker));
      expect(await ask({ ...body, stream: true })).toEqual(streamed);
    });
  }

  for (const [marker, outcome] of Object.entries(HEADLESS)) {
    test(`with the marker ${marker} have no head`, async () => {
      for (const stream of [true, false]) {
        const clock = createManualClock();
        const { response } = open(chat(`[sandbox:${marker}]`, { stream }), clock);
        await settle(null);
        clock.advance(CONNECT_TIMEOUT_MS);
        const kind = response.then(
          () => "answered",
          (error) => error.kind as string,
        );
        expect(await Promise.race([kind, settle("open")])).toBe(outcome);
      }
    });
  }

  test("have a Retry-After header only if requested", async () => {
    const { header } = await open(chat("[sandbox:error=429,retry-after=2]")).response;
    expect(header("retry-after")).toBe("2");
    expect((await open(chat("[sandbox:error=429]")).response).header("retry-after")).toBeNull();
  });

  test("that are late follow after tokens", async () => {
    for (const [marker, words] of [
      ["error-late", "You said: hello"],
      ["cut=1", "You"],
      ["stall=0", ""],
      ["402-late=2", "You said:"],
    ]) {
      const read = await ask(chat(`hello there [sandbox:${marker}]`, { stream: true }));
      const chunks = readEvents(read).filter(({ choices }) => choices !== undefined);
      expect(join(chunks, 0, "content")).toBe(words!);
      expect(finishes(chunks)).toEqual([]);
    }
  });

  test("with cut-tool break off within the arguments", async () => {
    const chunks = readEvents(await ask(chat("[sandbox:cut-tool]", { ...TOOLS, stream: true })));
    expect(chunks.at(-1)!["choices"][0]["delta"]["tool_calls"]).toEqual([
      { index: 0, function: { arguments: '{"city":' } },
    ]);
  });

  test("with no-end have no finish_reason in streams and documents", async () => {
    const read = await ask(chat("hi [sandbox:no-end]", { stream: true }));
    expect(finishes(readEvents(read))).toEqual([]);
    expect(join(readEvents(read), 0, "content")).toBe("You said: hi");
    expect(read.text).not.toContain("[DONE]");
    expect((await askJson(chat("hi [sandbox:no-end]")))["choices"][0]["finish_reason"]).toBeNull();
  });

  test("with double-finish have two finish_reasons", async () => {
    expect(finishes(await askStream(chat("hi [sandbox:double-finish]")))).toEqual(["stop", "stop"]);
  });

  test("with no-usage have no usage, even if requested", async () => {
    const body = chat("hi [sandbox:no-usage]", { stream_options: { include_usage: true } });
    expect((await askStream(body)).some((chunk) => chunk["usage"])).toBe(false);
    expect(await askJson(body)).not.toHaveProperty("usage");
  });

  test("with garbage have one invalid event among valid ones, or half a document", async () => {
    const read = await ask(chat("hi [sandbox:garbage]", { stream: true }));
    expect(read.text).toMatch(BROKEN);
    const events = read.text.split("\n\n").filter((event) => event.includes("chat.completion.chunk"));
    expect(
      join(
        events.map((event) => JSON.parse(event.slice(6))),
        0,
        "content",
      ),
    ).toBe("You said: hi");
    const { text } = await ask(chat("hi [sandbox:garbage]"));
    expect(() => JSON.parse(text)).toThrow();
  });

  test("with half-utf8 split a character between pieces and end within another", async () => {
    for (const stream of [true, false]) {
      const { pieces } = await ask(chat("hi [sandbox:half-utf8]", { stream }));
      const decodes = (bytes: Uint8Array) => {
        try {
          return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
        } catch {
          return null;
        }
      };
      expect(decodes(pieces.at(-1)!)).toBeNull();
      expect(decodes(Buffer.concat(pieces))).toBeNull();
      expect(decodes(Buffer.concat(pieces).subarray(0, -2))).toContain("🦉");
    }
  });

  test("are listed completely in docs/sandbox.md and in this file", () => {
    const docs = readFileSync(new URL("../../docs/sandbox.md", import.meta.url), "utf8");
    const documented = [...docs.matchAll(/^\| `\[sandbox:(.*?)\]` \|/gm)].map((match) => match[1]!);
    expect(documented.toSorted()).toEqual(MARKER_FORMS.toSorted());
    const nameOf = (form: string) => /^[a-z0-9-]+/.exec(form)![0];
    const tested = new Set([...FAILURES.map(({ marker }) => nameOf(marker)), ...Object.keys(HEADLESS)]);
    const healthy = ["tools", "tool", "reasoning", "long", "slow", "split"];
    expect([...tested, ...healthy].toSorted()).toEqual([...new Set(MARKER_FORMS.map(nameOf))].toSorted());
  });
});

describe("a cancelled sandbox exchange", () => {
  const kindOf = (promise: Promise<unknown>) => promise.then(String, (error) => error.kind as string);

  test("rejects its response before the head", async () => {
    for (const text of ["hi", "[sandbox:silent]", "[sandbox:connect-timeout]", "[sandbox:refused]"]) {
      const clock = createManualClock();
      const exchange = open(chat(text), clock);
      exchange.cancel();
      exchange.cancel();
      expect(await kindOf(exchange.response)).toBe("cancelled");
      expect(clock.pending()).toBe(0);
    }
  });

  test("rejects a pending read and all later reads", async () => {
    for (const text of [
      "[sandbox:slow=1000]",
      "[sandbox:stall=0][sandbox:slow=1000]",
      "[sandbox:stall=0]",
      "hi",
    ]) {
      const clock = createManualClock();
      const exchange = open(chat(text, { stream: true }), clock);
      const response = await exchange.response;
      if (text === "[sandbox:stall=0]") await response.read();
      const waiting = kindOf(response.read());
      exchange.cancel();
      expect(await waiting).toBe("cancelled");
      expect(await kindOf(response.read())).toBe("cancelled");
      expect(clock.pending()).toBe(0);
    }
  });

  test("a sandbox body that broke off or ended stays so", async () => {
    const cut = await open(chat("[sandbox:cut=0]", { stream: true })).response;
    expect((await readAll(cut)).end).toBe("truncated");
    expect(await kindOf(cut.read())).toBe("truncated");
    const whole = await open(chat("hi")).response;
    await readAll(whole);
    expect(await whole.read()).toBeNull();
  });
});
