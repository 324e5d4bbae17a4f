import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { type LanguageModel, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { type MistralClient, openMistral } from "../support/vendors/mistral-sdk.ts";
import { chunkOf, type Play, startVendor, textOf, type Vendor } from "../support/vendors/vendor.ts";

/** What a client library reports about a stream that broke. */
interface Report {
  /** The errors that the library threw or passed to a callback. */
  readonly errors: readonly unknown[];
  /** The finish reasons that the library reported. */
  readonly finishes: readonly string[];
}

let vendor: Vendor;
let gateway: TestGateway;
/** How often a library ran the tool. */
let toolRuns = 0;

beforeAll(async () => {
  vendor = startVendor();
  gateway = await startTestGateway({
    repeats: 0,
    yaml: `
providers:
  mistral:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-mistral-0123456789]
    models: [{id: mistralai/code, name: up-code}]
  vendor:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-vendor-0123456789]
    models: [{id: acme/model, name: up-model}]`,
  });
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

const ROLE = chunkOf({ role: "assistant", content: "" });
const callOf = (args: string) =>
  chunkOf({
    tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "pay", arguments: args } }],
  });

const moreOf = (args: string) => chunkOf({ tool_calls: [{ index: 0, function: { arguments: args } }] });

/** The vendor's events before it breaks, and whether the gateway's response has begun by then. */
const SENT = {
  "before the first event": { events: [], hasBegun: false },
  "after the role": { events: [ROLE], hasBegun: false },
  "after reasoning and before any text": {
    events: [ROLE, chunkOf({ reasoning_content: "Hm." })],
    hasBegun: true,
  },
  "after text": { events: [ROLE, textOf("Alpha one"), textOf(" two")], hasBegun: true },
  "in the middle of a tool call": { events: [ROLE, callOf(""), moreOf('{"dollars": 1')], hasBegun: true },
  "in the middle of a tool call after text": {
    events: [ROLE, textOf("Alpha"), callOf('{"dollars": 1')],
    hasBegun: true,
  },
} as const;
type BreakPosition = keyof typeof SENT;

/** How the vendor's stream breaks. */
const BREAKS = {
  "an error event": [{ error: { message: "The engine crashed.", code: 500 } }],
  "an end without a finish reason": [],
} as const;
type Break = keyof typeof BREAKS;

/** Returns a vendor that breaks after the client has received the response head. */
function breakOff(position: BreakPosition, how: Break): Play {
  return async (call) => {
    const { events, hasBegun } = SENT[position];
    await call.begin();
    await call.events(...events);
    if (hasBegun) await call.gate();
    await call.events(...BREAKS[how]);
    await call.end();
  };
}

const fetchAndContinue = (async (...request: Parameters<typeof fetch>) => {
  const response = await fetch(...request);
  for (const call of vendor.calls) call.openGate();
  return response;
}) as typeof fetch;

const MODEL = "acme/model";
const MESSAGES = [{ role: "user" as const, content: "Hello!" }];
const FUNCTION = {
  name: "pay",
  description: "Pays.",
  parameters: { type: "object", properties: { dollars: { type: "number" } } },
};

async function report(run: (finishes: string[]) => Promise<unknown>): Promise<Report> {
  const finishes: string[] = [];
  try {
    await run(finishes);
    return { errors: [], finishes };
  } catch (error) {
    return { errors: [error], finishes };
  }
}

const openai = () =>
  new OpenAI({ baseURL: gateway.base, apiKey: gateway.key, maxRetries: 0, fetch: fetchAndContinue });

/** Reads a stream with the AI SDK, which runs tools by itself. */
async function reportAiSdk(model: LanguageModel): Promise<Report> {
  const errors: unknown[] = [];
  const finishes: string[] = [];
  const { fullStream } = streamText({
    model,
    prompt: "Hello!",
    maxRetries: 0,
    maxOutputTokens: 100,
    stopWhen: stepCountIs(3),
    tools: {
      pay: tool({
        inputSchema: z.object({ dollars: z.number().optional() }),
        execute: async () => void toolRuns++,
      }),
    },
    onError: ({ error }) => void errors.push(error),
  });
  for await (const part of fullStream)
    if (part.type === "finish-step" || part.type === "finish") finishes.push(part.finishReason);
  return { errors, finishes };
}

function reportMistral(
  ask: (client: MistralClient) => ReturnType<MistralClient["chat"]["stream"]>,
): Promise<Report> {
  return report(async (finishes) => {
    const options = { apiKey: gateway.key, serverURL: gateway.url, fetcher: fetchAndContinue };
    for await (const { data } of await ask(await openMistral(options)))
      finishes.push(...data.choices.flatMap(({ finishReason }) => finishReason ?? []));
  });
}

const CLIENTS: Readonly<Record<string, () => Promise<Report>>> = {
  "openai, chat completions": () =>
    report(async (finishes) => {
      const tools = [{ type: "function" as const, function: FUNCTION }];
      const body = { model: MODEL, messages: MESSAGES, tools, stream: true as const };
      for await (const { choices } of await openai().chat.completions.create(body))
        finishes.push(...choices.flatMap(({ finish_reason }) => finish_reason ?? []));
    }),
  "openai, chat completions with its own tool runner": () =>
    report(() => {
      const run = { ...FUNCTION, parse: JSON.parse, function: () => `${toolRuns++}` };
      const tools = [{ type: "function" as const, function: run }];
      return openai()
        .chat.completions.runTools({ model: MODEL, messages: MESSAGES, tools, stream: true })
        .finalContent();
    }),
  "openai, responses": () =>
    report(async (finishes) => {
      const tools = [{ type: "function" as const, strict: false, ...FUNCTION }];
      const body = { model: MODEL, input: "Hello!", tools, stream: true as const };
      for await (const event of await openai().responses.create(body)) {
        if (event.type === "response.completed") finishes.push("stop");
        if (event.type === "response.failed") throw new Error(event.response.error?.message);
      }
    }),
  "AI SDK, openai provider, chat": () =>
    reportAiSdk(
      createOpenAI({ baseURL: gateway.base, apiKey: gateway.key, fetch: fetchAndContinue }).chat(MODEL),
    ),
  "AI SDK, openai provider, responses": () =>
    reportAiSdk(
      createOpenAI({ baseURL: gateway.base, apiKey: gateway.key, fetch: fetchAndContinue }).responses(MODEL),
    ),
  "AI SDK, openai-compatible provider": () =>
    reportAiSdk(
      createOpenAICompatible({
        name: "gateway",
        baseURL: gateway.base,
        apiKey: gateway.key,
        fetch: fetchAndContinue,
      })(MODEL),
    ),
  "AI SDK, anthropic provider": () =>
    reportAiSdk(
      createAnthropic({ baseURL: `${gateway.base}/v1`, apiKey: gateway.key, fetch: fetchAndContinue })(MODEL),
    ),
  "@anthropic-ai/sdk": () =>
    report(async (finishes) => {
      const client = new Anthropic({
        baseURL: gateway.base,
        apiKey: gateway.key,
        maxRetries: 0,
        fetch: fetchAndContinue,
      });
      const tools = [{ name: "pay", input_schema: { type: "object" as const } }];
      const stream = client.messages.stream({ model: MODEL, max_tokens: 100, messages: MESSAGES, tools });
      finishes.push((await stream.finalMessage()).stop_reason ?? "");
    }),
  "@mistralai/mistralai, chat": () =>
    reportMistral((client) =>
      client.chat.stream({
        model: MODEL,
        messages: MESSAGES,
        tools: [{ type: "function", function: FUNCTION }],
      }),
    ),
  "@mistralai/mistralai, fill in the middle": () =>
    reportMistral((client) => client.fim.stream({ model: "mistralai/code", prompt: "def add(a, b):" })),
};

describe.each(Object.keys(CLIENTS))("%s", (client) => {
  describe.each(Object.keys(BREAKS) as Break[])("reading a stream that breaks with %s", (how) => {
    test.each(Object.keys(SENT) as BreakPosition[])(
      "raises an error and runs no tool if it breaks %s",
      async (position) => {
        vendor.perform(breakOff(position, how));
        toolRuns = 0;
        const { errors, finishes } = await (CLIENTS[client] as () => Promise<Report>)();
        expect(errors).not.toEqual([]);
        expect(finishes.filter((finish) => finish !== "error")).toEqual([]);
        expect(toolRuns).toBe(0);
      },
    );
  });
});
