import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { parseArguments, type SdkReading, serve } from "./sdk-reading.ts";

type Fetch = typeof globalThis.fetch;
type Model = ReturnType<ReturnType<typeof createOpenAI>["chat"]>;

function settings(stream: string) {
  return { apiKey: "k", baseURL: "http://127.0.0.1", fetch: serve(stream) as unknown as Fetch };
}

/** Reads a chat stream with the AI SDK's provider for compatible hosts. */
export function readAiCompatible(stream: string): Promise<SdkReading> {
  const provider = createOpenAICompatible({ name: "gateway", includeUsage: true, ...settings(stream) });
  return readModel(provider("m"));
}

/** Reads a chat stream with the AI SDK's OpenAI provider. */
export function readAiOpenAiChat(stream: string): Promise<SdkReading> {
  return readModel(createOpenAI(settings(stream)).chat("m"));
}

/** Reads a Responses stream with the AI SDK. */
export function readAiResponses(stream: string): Promise<SdkReading> {
  return readModel(createOpenAI(settings(stream)).responses("m"));
}

/** Reads a Messages stream with the AI SDK. */
export function readAiAnthropic(stream: string): Promise<SdkReading> {
  return readModel(createAnthropic(settings(stream))("m"));
}

async function readModel(model: Pick<Model, "doStream">): Promise<SdkReading> {
  const { stream } = await model.doStream({
    prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  });
  let text = "";
  let finish = "";
  const calls: [string, unknown][] = [];
  for await (const part of stream) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") text += part.delta;
    if (part.type === "finish") finish = part.finishReason.unified.replace("-", "_");
    if (part.type === "tool-call" && part.providerExecuted !== true) {
      calls.push([part.toolName, parseArguments(part.input)]);
    }
  }
  return { text, calls, finish };
}
