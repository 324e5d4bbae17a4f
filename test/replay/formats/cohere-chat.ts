import {
  type Answer,
  type Conversation,
  type Finish,
  type Item,
  type Json,
  listOf,
  type Media,
  mediaFromUrl,
  readSse,
  type Turn,
  textItems,
  textOf,
  type WireReader,
} from "../conversation.ts";
import { resultText } from "../facts.ts";

/** Cohere's chat, version 2. */
export const cohereChat: WireReader = { readRequest, readAnswer, joinStream };

function readRequest(body: Json): Conversation {
  return {
    turns: listOf(body.messages).map(readTurn),
    tools: listOf(body.tools).map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? null,
      schema: parameters,
    })),
  };
}

function readTurn(message: Json): Turn {
  const { role, content } = message;
  if (role === "assistant") return { role, items: readAssistant(message) };
  if (role !== "tool") return { role, items: readContent(content) };
  const text = Array.isArray(content)
    ? content.map((part) => part.text ?? resultText(part.document?.data)).join("\n")
    : resultText(content);
  return { role, items: [{ kind: "result", id: message.tool_call_id, name: "", text, media: [] }] };
}

function readContent(content: Json): Item[] {
  if (!Array.isArray(content)) return textItems("text", content);
  return content.flatMap((part): Item[] => {
    if (part.type === "thinking") return textItems("reasoning", part.thinking);
    const media = readMedia(part);
    return media === null ? textItems("text", part.text) : [{ kind: "media", media }];
  });
}

function readMedia(part: Json): Media | null {
  return part.type === "image_url" ? mediaFromUrl("image", part.image_url.url) : null;
}

function readAssistant({ tool_plan, content, tool_calls }: Json): Item[] {
  return [
    ...textItems("reasoning", tool_plan),
    ...readContent(content),
    ...listOf(tool_calls).map(
      (call): Item => ({
        kind: "call",
        id: call.id,
        name: call.function.name,
        args: call.function.arguments ?? "",
      }),
    ),
  ];
}

const FINISHES: Readonly<Record<string, Finish>> = {
  COMPLETE: "stop",
  STOP_SEQUENCE: "stop",
  MAX_TOKENS: "length",
  TOOL_CALL: "tools",
};

function readAnswer({ message, finish_reason, usage }: Json): Answer {
  const sources = listOf(message.citations).flatMap((citation) => listOf(citation.sources));
  return {
    items: readAssistant(message),
    citations: sources.flatMap(({ document }) => document?.url ?? []),
    finish: FINISHES[finish_reason] ?? "stop",
    usage: {
      prompt: usage?.billed_units?.input_tokens ?? usage?.tokens?.input_tokens ?? null,
      completion: usage?.billed_units?.output_tokens ?? usage?.tokens?.output_tokens ?? null,
      // Most of what Cohere itself adds to the prompt is cached, and none of it is billed.
      cached: null,
    },
  };
}

function joinStream(latin1: string): Json {
  const message: Json = { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] };
  const body: Json = { message };
  for (const { type, index, delta } of readSse(latin1)) {
    const piece = delta?.message ?? {};
    if (type === "content-start") message.content[index] = { ...piece.content };
    if (type === "content-delta") appendText(message.content[index], piece.content);
    if (type === "tool-plan-delta") message.tool_plan += piece.tool_plan;
    if (type === "tool-call-start") message.tool_calls[index] = structuredClone(piece.tool_calls);
    if (type === "tool-call-delta")
      message.tool_calls[index].function.arguments += piece.tool_calls.function.arguments;
    if (type === "citation-start") message.citations.push(piece.citations);
    if (type === "message-end") Object.assign(body, delta);
  }
  message.content = message.content.filter((part: Json) => textOf([part]) !== "" || part?.thinking);
  return body;
}

function appendText(part: Json, { text, thinking }: Json): void {
  if (text !== undefined) part.text = (part.text ?? "") + text;
  if (thinking !== undefined) part.thinking = (part.thinking ?? "") + thinking;
}
