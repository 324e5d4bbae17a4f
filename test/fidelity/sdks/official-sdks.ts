import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { parseArguments, type SdkReading, serve } from "./sdk-reading.ts";

const SETTINGS = { apiKey: "k", baseURL: "http://127.0.0.1", maxRetries: 0 };

/** Reads a chat stream with the `openai` library. */
export async function readOpenAiChat(stream: string): Promise<SdkReading> {
  const client = new OpenAI({ ...SETTINGS, fetch: serve(stream) });
  const running = client.chat.completions.stream({
    model: "m",
    messages: [{ role: "user", content: "hi" }],
  });
  const { choices } = await running.finalChatCompletion();
  const [choice] = choices;
  const calls = choice?.message.tool_calls ?? [];
  return {
    text: choice?.message.content ?? "",
    calls: calls.map((call) => [call.function.name, parseArguments(call.function.arguments)]),
    finish: choice?.finish_reason ?? "",
  };
}

/** Reads a Responses stream with the `openai` library. */
export async function readOpenAiResponses(stream: string): Promise<SdkReading> {
  const client = new OpenAI({ ...SETTINGS, fetch: serve(stream) });
  const response = await client.responses.stream({ model: "m", input: "hi" }).finalResponse();
  const calls = response.output.flatMap((item): [string, unknown][] => {
    if (item.type === "function_call") return [[item.name, parseArguments(item.arguments)]];
    return item.type === "custom_tool_call" ? [[item.name, item.input]] : [];
  });
  const cause = response.incomplete_details?.reason;
  return {
    text: response.output_text,
    calls,
    finish: cause === "max_output_tokens" ? "length" : (cause ?? (calls.length > 0 ? "tool_calls" : "stop")),
  };
}

const STOPS: Readonly<Record<string, string>> = {
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content_filter",
};

/** Reads a Messages stream with Anthropic's library. */
export async function readAnthropic(stream: string): Promise<SdkReading> {
  const client = new Anthropic({ ...SETTINGS, fetch: serve(stream) });
  const running = client.messages.stream({
    model: "m",
    max_tokens: 1,
    messages: [{ role: "user", content: "hi" }],
  });
  const message = await running.finalMessage();
  return {
    text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    calls: message.content.flatMap((block) =>
      block.type === "tool_use" ? [[block.name, block.input] as const] : [],
    ),
    finish: STOPS[message.stop_reason ?? ""] ?? "stop",
  };
}
