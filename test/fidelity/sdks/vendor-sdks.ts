import { GoogleGenAI } from "@google/genai";
import { openMistral } from "../../support/vendors/mistral-sdk.ts";
import { parseArguments, type SdkReading, serve } from "./sdk-reading.ts";

interface Piece {
  name: string;
  args: string;
}

/** Reads a chat stream with Mistral's library, and joins the pieces, which the library does not. */
export async function readMistral(stream: string): Promise<SdkReading> {
  const client = await openMistral({ apiKey: "k", serverURL: "http://127.0.0.1", fetcher: serve(stream) });
  const events = await client.chat.stream({ model: "m", messages: [{ role: "user", content: "hi" }] });
  const reading = { text: "", finish: "" };
  const calls = new Map<number, Piece>();
  for await (const { data } of events) {
    const choice = data.choices.find(({ index }) => index === 0);
    if (choice === undefined) continue;
    const { content, toolCalls } = choice.delta;
    reading.text += joinTexts(content);
    reading.finish = choice.finishReason ?? reading.finish;
    for (const { index, function: called } of toolCalls ?? []) {
      const piece = calls.get(index ?? 0) ?? { name: "", args: "" };
      calls.set(index ?? 0, piece);
      piece.name ||= called.name;
      piece.args +=
        typeof called.arguments === "string" ? called.arguments : JSON.stringify(called.arguments);
    }
  }
  return { ...reading, calls: [...calls.values()].map(({ name, args }) => [name, parseArguments(args)]) };
}

/** Mistral's models return content in parts, including thoughts. */
function joinTexts(content: unknown): string {
  if (typeof content === "string") return content;
  const parts: { readonly type: string; readonly text?: string }[] = Array.isArray(content) ? content : [];
  return parts.map(({ type, text }) => (type === "text" ? text : "")).join("");
}

/** Reads a Gemini stream with Google's library. */
export async function readGoogle(stream: string): Promise<SdkReading> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: serve(stream) });
  try {
    const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: server.url.href } });
    const responses = await client.models.generateContentStream({ model: "m", contents: "hi" });
    const calls: [string, unknown][] = [];
    let text = "";
    let finish = "";
    for await (const response of responses) {
      const [candidate] = response.candidates ?? [];
      for (const part of candidate?.content?.parts ?? []) {
        if (part.text !== undefined && part.thought !== true) text += part.text;
        if (part.functionCall?.name) calls.push([part.functionCall.name, part.functionCall.args ?? {}]);
      }
      finish = candidate?.finishReason ?? finish;
    }
    return { text, calls, finish: calls.length > 0 && finish === "STOP" ? "tool_calls" : WORDS[finish]! };
  } finally {
    await server.stop(true);
  }
}

const WORDS: Readonly<Record<string, string>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
};
