import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import {
  expectCompleteHistories,
  runTool,
  SMALL_TALK,
  STRICT_MODELS,
  type StrictVendors,
  startStrictVendors,
  TASK,
  TASK_ANSWER,
} from "./strict-vendors.ts";

let vendors: StrictVendors;

beforeAll(async () => {
  // Only the client preserves the reasoning that vendors require.
  vendors = await startStrictVendors("limits: {turn_memory_bytes: 0}");
});
afterAll(() => vendors.stop());
beforeEach(() => vendors.clear());

const TOOLS = {
  write_file: tool({
    inputSchema: z.object({ path: z.string(), content: z.string() }),
    execute: async () => runTool("write_file"),
  }),
  read_file: tool({
    inputSchema: z.object({ path: z.string() }),
    execute: async () => runTool("read_file"),
  }),
};

/** The SDK's own provider for each API, and its options for reasoning. */
const PROVIDERS = {
  "@ai-sdk/anthropic": {
    modelOf: (id: string): LanguageModel =>
      createAnthropic({ baseURL: `${vendors.gateway.base}/v1`, apiKey: vendors.gateway.key })(id),
    options: { anthropic: { thinking: { type: "enabled", budgetTokens: 2_000 } } },
  },
  "@ai-sdk/openai, responses": {
    modelOf: (id: string): LanguageModel =>
      createOpenAI({ baseURL: vendors.gateway.base, apiKey: vendors.gateway.key }).responses(id),
    options: {
      openai: {
        store: false,
        reasoningEffort: "low",
        reasoningSummary: "auto",
        include: ["reasoning.encrypted_content"],
        forceReasoning: true,
      },
    },
  },
};

type ProviderName = keyof typeof PROVIDERS;

const CASES = (Object.keys(PROVIDERS) as ProviderName[]).flatMap((name) =>
  Object.values(STRICT_MODELS).map((model) => [name, model] as const),
);

describe.each(CASES)("%s with %s", (name, model) => {
  const { modelOf, options } = PROVIDERS[name];

  test("returns text, finish reason and usage", async () => {
    const result = await generateText({ model: modelOf(model), prompt: "Hello!", maxRetries: 0 });
    expect([result.text, result.finishReason, result.response.modelId]).toEqual([SMALL_TALK, "stop", model]);
    expect(result.usage.inputTokens).toBeGreaterThan(0);
    expect(result.usage.outputTokens).toBeGreaterThan(0);
  });

  test("completes a task in three steps with parallel calls, and sends its reasoning back", async () => {
    const result = await generateText({
      model: modelOf(model),
      prompt: TASK,
      tools: TOOLS,
      stopWhen: stepCountIs(5),
      maxOutputTokens: 8_000,
      maxRetries: 0,
      providerOptions: options,
    });
    expect(result.text).toBe(TASK_ANSWER);
    expectCompleteHistories(vendors, 3);
  });

  test("completes the task with streams", async () => {
    const errors: unknown[] = [];
    const result = streamText({
      model: modelOf(model),
      prompt: TASK,
      tools: TOOLS,
      stopWhen: stepCountIs(5),
      maxOutputTokens: 8_000,
      maxRetries: 0,
      providerOptions: options,
      onError: ({ error }) => void errors.push(error),
    });
    const text = await result.text;
    expect([errors, text]).toEqual([[], TASK_ANSWER]);
    expectCompleteHistories(vendors, 3);
  });
});

describe.each(Object.keys(PROVIDERS) as ProviderName[])("%s", (name) => {
  const { modelOf } = PROVIDERS[name];

  test("throws errors with their status, and with whether to retry", async () => {
    const ask = (prompt: string) =>
      generateText({ model: modelOf("sandbox/echo"), prompt, maxRetries: 0 }).then(
        () => null,
        (error) => error,
      );
    for (const [marker, status, isRetryable] of [
      ["error=400", 400, false],
      ["error=503", 503, true],
      ["error=429", 429, true],
    ] as const) {
      const error = await ask(`[sandbox:${marker}] x`);
      expect(error).toBeInstanceOf(APICallError);
      expect([error.statusCode, error.isRetryable]).toEqual([status, isRetryable]);
    }
  });

  test("reports an error if a stream breaks off", async () => {
    const errors: unknown[] = [];
    const result = streamText({
      model: modelOf("sandbox/echo"),
      prompt: "[sandbox:cut] one two three",
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    });
    let text = "";
    const finishes: string[] = [];
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") text += part.text;
      if (part.type === "finish") finishes.push(part.finishReason);
    }
    expect(text).toStartWith("You");
    expect(errors.length).toBeGreaterThan(0);
    expect(finishes).not.toContain("stop");
  });
});
