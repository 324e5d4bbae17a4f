import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAICompatible, type OpenAICompatibleProviderSettings } from "@ai-sdk/openai-compatible";
import {
  APICallError,
  generateObject,
  generateText,
  type LanguageModel,
  Output,
  stepCountIs,
  streamObject,
  streamText,
  tool,
} from "ai";
import { z } from "zod";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";

let gateway: TestGateway;
let echo: LanguageModel;

beforeAll(async () => {
  gateway = await startTestGateway();
  echo = modelOf(gateway);
});
afterAll(() => gateway.stop());

function modelOf(
  { base, key }: TestGateway,
  settings: Partial<OpenAICompatibleProviderSettings> = {},
  id = "sandbox/echo",
): LanguageModel {
  const provider = createOpenAICompatible({
    name: "gateway",
    baseURL: base,
    apiKey: key,
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...settings,
  });
  return provider(id);
}

const ran: unknown[] = [];
const TOOLS = {
  weather: tool({
    description: "The weather at a place.",
    inputSchema: z.object({ city: z.enum(["Paris", "Rome"]) }),
    execute: async (input) => {
      ran.push(input);
      return "sunny";
    },
  }),
  time: tool({ inputSchema: z.object({}), execute: async () => "noon" }),
};

/** Errors of a stream are parts. The default handler would print them. */
const QUIETLY = { onError: () => {}, maxRetries: 0 };

async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("this should have failed");
}

describe("generateText", () => {
  test("returns text, finish reason, usage and the model that answered", async () => {
    const result = await generateText({ model: echo, system: "Be brief.", prompt: "Hello!" });
    expect(result.text).toBe("You said: Hello!");
    expect(result.finishReason).toBe("stop");
    expect(result.usage).toMatchObject({ outputTokens: 4 });
    expect(result.usage.inputTokens).toBeGreaterThan(0);
    expect(result.response).toMatchObject({ modelId: "sandbox/echo" });
    expect(result.response.id).toStartWith("gen_");
    expect(result.warnings ?? []).toEqual([]);
  });

  test("returns the reasoning once and separate from the text", async () => {
    const result = await generateText({ model: echo, prompt: "[sandbox:reasoning] Hello!" });
    const plain = (await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({
        model: "sandbox/echo",
        messages: [{ role: "user", content: "[sandbox:reasoning] Hello!" }],
      }),
    }).then((response) => response.json())) as { choices: { message: { reasoning: string } }[] };
    expect(result.reasoningText).toBe(plain.choices[0]?.message.reasoning as string);
    expect(result.text).toBe("You said: Hello!");
    expect(result.usage.outputTokenDetails.reasoningTokens).toBeGreaterThan(0);
  });

  test("runs a tool loop of several steps with parallel calls", async () => {
    ran.length = 0;
    const result = await generateText({
      model: echo,
      prompt: "[sandbox:tools] Weather and time?",
      tools: TOOLS,
      stopWhen: stepCountIs(5),
    });
    expect(result.steps).toHaveLength(2);
    const [asked] = result.steps;
    expect(asked?.finishReason).toBe("tool-calls");
    expect(asked?.toolCalls.map(({ toolName, input }) => [toolName, input])).toEqual([
      ["weather", { city: "Paris" }],
      ["time", {}],
    ]);
    expect(ran).toEqual([{ city: "Paris" }]);
    expect(result.text).toBe("The tools answered: sunny; noon");
  });
});

describe("streamText", () => {
  test("returns text, finish reason and usage", async () => {
    const result = streamText({ model: echo, prompt: "Hello there!" });
    const pieces = await Array.fromAsync(result.textStream);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe("You said: Hello there!");
    expect(await result.finishReason).toBe("stop");
    expect(await result.usage).toMatchObject({ inputTokens: 3, outputTokens: 6, totalTokens: 9 });
  });

  test("returns the usage whether or not the client requests it", async () => {
    for (const includeUsage of [true, false]) {
      const result = streamText({ model: modelOf(gateway, { includeUsage }), prompt: "Hello!" });
      expect(await result.text).toBe("You said: Hello!");
      expect(await result.usage).toMatchObject({ inputTokens: 2, outputTokens: 4, totalTokens: 6 });
    }
  });

  test("returns the reasoning once and separate from the text", async () => {
    const whole = await generateText({ model: echo, prompt: "[sandbox:reasoning] Hello!" });
    const result = streamText({ model: echo, prompt: "[sandbox:reasoning] Hello!" });
    const kinds = (await Array.fromAsync(result.fullStream)).map(({ type }) => type);
    expect(kinds.indexOf("reasoning-delta")).toBeLessThan(kinds.indexOf("text-delta"));
    expect(await result.reasoningText).toBe(whole.reasoningText as string);
    expect(await result.text).toBe("You said: Hello!");
  });

  test("runs a tool loop of several steps with parallel calls", async () => {
    ran.length = 0;
    const result = streamText({
      model: echo,
      prompt: "[sandbox:tools] Weather and time?",
      tools: TOOLS,
      stopWhen: stepCountIs(5),
    });
    expect(await result.text).toBe("The tools answered: sunny; noon");
    const [asked, answered] = await result.steps;
    expect(asked?.finishReason).toBe("tool-calls");
    expect(asked?.toolCalls.map(({ toolName, input }) => [toolName, input])).toEqual([
      ["weather", { city: "Paris" }],
      ["time", {}],
    ]);
    expect(answered?.finishReason).toBe("stop");
    expect(ran).toEqual([{ city: "Paris" }]);
  });

  test("reads events that arrive in chunks of any size", async () => {
    const result = streamText({ model: echo, prompt: "[sandbox:split=7] Grüße, 🦉!" });
    expect(await result.text).toBe("You said: Grüße, 🦉!");
  });
});

describe("structured objects", () => {
  const schema = z.object({ city: z.enum(["Paris", "Rome"]), degrees: z.number().int() });

  test("are returned by generateObject, streamObject and Output.object", async () => {
    const expected = { city: "Paris", degrees: 0 } as const;
    const { object } = await generateObject({ model: echo, schema, prompt: "Where is it warm?" });
    expect(object).toEqual(expected);
    const streamed = streamObject({ model: echo, schema, prompt: "Where is it warm?" });
    expect((await Array.fromAsync(streamed.partialObjectStream)).at(-1)).toEqual(expected);
    expect(await streamed.object).toEqual(expected);
    const { output } = await generateText({
      model: echo,
      output: Output.object({ schema }),
      prompt: "Where is it warm?",
    });
    expect(output).toEqual(expected);
  });
});

describe("an APICallError tells whether the request can be retried after", () => {
  test.each([
    ["a field out of range", "x", { temperature: 3 }, 400, false, /temperature/],
    ["a rejection by the upstream", "[sandbox:error=400] x", {}, 400, false, /temperature/],
    ["a prompt that is too long", "[sandbox:context] x", {}, 400, false, /maximum context length is \d+/],
    ["a rate limit of the upstream", "[sandbox:error=429] x", {}, 429, true, /limiting/],
    ["a failed upstream", "[sandbox:error=500] x", {}, 502, true, /failed/],
    ["an overloaded upstream", "[sandbox:error=503] x", {}, 503, true, /overloaded/],
  ] as const)("%s", async (_name, prompt, more, status, isRetryable, message) => {
    const error = await errorOf(generateText({ model: echo, prompt, maxRetries: 0, ...more }));
    expect(APICallError.isInstance(error)).toBe(true);
    const { statusCode, responseHeaders, ...rest } = error as APICallError;
    expect([statusCode, rest.isRetryable]).toEqual([status, isRetryable]);
    expect((error as Error).message).toMatch(message);
    expect(responseHeaders?.["x-request-id"]).toStartWith("req_");
  });

  test("an invalid key or a management key", async () => {
    for (const [apiKey, status] of [
      ["sk-wrong", 401],
      [gateway.adminKey, 403],
    ] as const) {
      const model = modelOf(gateway, { apiKey });
      const error = await errorOf(generateText({ model, prompt: "x", maxRetries: 0 }));
      expect(error).toMatchObject({ statusCode: status, isRetryable: false });
    }
  });

  test("a stream that failed before its first event", async () => {
    const result = streamText({ model: echo, prompt: "[sandbox:error=503] x", ...QUIETLY });
    const parts = await Array.fromAsync(result.fullStream);
    const failed = parts.find((part) => part.type === "error");
    expect(failed?.error).toMatchObject({ statusCode: 503, isRetryable: true });
  });

  test.each(["error-late", "cut", "no-end"])("a stream that breaks in the middle: %s", async (marker) => {
    const result = streamText({ model: echo, prompt: `[sandbox:${marker}] one two three`, ...QUIETLY });
    const parts = await Array.fromAsync(result.fullStream);
    const text = parts.map((part) => (part.type === "text-delta" ? part.text : "")).join("");
    expect(text).toStartWith("You said:");
    expect(parts.some((part) => part.type === "error")).toBe(true);
    const finish = parts.findLast((part) => part.type === "finish");
    expect(finish?.finishReason ?? "error").toBe("error");
  });
});

describe("AI SDK clients", () => {
  test("cancel the upstream request when they abort", async () => {
    const abort = new AbortController();
    const result = streamText({
      model: echo,
      prompt: "[sandbox:stall=3] one two three",
      abortSignal: abort.signal,
      ...QUIETLY,
    });
    let sawAbort = false;
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") abort.abort();
      if (part.type === "abort") sawAbort = true;
    }
    expect(sawAbort).toBe(true);
    await eventually("a cancelled request", () =>
      gateway.log.find(({ fields }) => fields["outcome"] === "cancelled"),
    );
  });

  test("can use free models without a key, and no others", async () => {
    const { text } = await generateText({
      model: modelOf(gateway, { apiKey: "anonymous" }, "sandbox/echo:free"),
      prompt: "Hello!",
    });
    expect(text).toBe("You said: Hello!");
    const paid = generateText({ model: modelOf(gateway, { apiKey: "" }), prompt: "x", maxRetries: 0 });
    expect(await errorOf(paid)).toMatchObject({ statusCode: 401, isRetryable: false });
  });
});
