import { foldStream } from "../../fidelity/answers/fold.ts";
import {
  type Answer,
  type Conversation,
  type Finish,
  type Item,
  type Json,
  listOf,
  type Media,
  readSse,
  signatureItems,
  type Turn,
  textItems,
  type WireReader,
} from "../conversation.ts";
import { resultText } from "../facts.ts";

/** Anthropic's Messages API. */
export const anthropicMessages: WireReader = { readRequest, readAnswer, joinStream };

function readRequest(body: Json): Conversation {
  const system = readContent(body.system);
  return {
    turns: [
      ...(system.length > 0 ? [{ role: "system" as const, items: system }] : []),
      ...listOf(body.messages).map(readTurn),
    ],
    tools: listOf(body.tools)
      .filter(({ type }) => type === undefined || type === null || type === "custom")
      .map(({ name, description, input_schema }) => ({
        name,
        description: description ?? null,
        schema: input_schema,
      })),
  };
}

function readTurn({ role, content }: Json): Turn {
  return { role: role === "assistant" || role === "system" ? role : "user", items: readContent(content) };
}

function readContent(content: Json): Item[] {
  return typeof content === "string" ? textItems("text", content) : listOf(content).flatMap(readBlock);
}

function readBlock(block: Json): Item[] {
  switch (block.type) {
    case "text":
      return textItems("text", block.text);
    case "thinking":
      return [...textItems("reasoning", block.thinking), ...signatureItems(block.signature)];
    case "redacted_thinking":
      return signatureItems(block.data);
    case "tool_use":
      return [{ kind: "call", id: block.id, name: block.name, args: JSON.stringify(block.input) }];
    case "tool_result": {
      const media = listOf(block.content).flatMap(readMedia);
      const text = resultText(block.content);
      return [{ kind: "result", id: block.tool_use_id, name: "", text, media }];
    }
    default: {
      const media = readMedia(block);
      return media.length > 0
        ? media.map((one) => ({ kind: "media", media: one }))
        : [{ kind: "hosted", value: block.type }];
    }
  }
}

function readMedia({ type, source }: Json): Media[] {
  if (type !== "image" && type !== "document") return [];
  const what = type === "image" ? "image" : "file";
  const isText = source.type === "text";
  const data = isText ? Buffer.from(source.data).toString("base64") : (source.data ?? null);
  return [{ what, mediaType: source.media_type ?? null, data, url: source.url ?? source.file_id ?? null }];
}

const FINISHES: Readonly<Record<string, Finish>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tools",
  refusal: "filter",
  pause_turn: "pause",
};

function readAnswer(body: Json): Answer {
  const { usage } = body;
  // Compaction is a separate run of the model, which the totals do not include.
  const runs = [usage, ...listOf(usage?.iterations).filter(({ type }) => type === "compaction")];
  const texts = listOf(body.content).filter(({ type }) => type === "text");
  return {
    items: readContent(body.content),
    citations: texts.flatMap(({ citations }) => listOf(citations).flatMap(({ url }) => url || [])),
    finish: FINISHES[body.stop_reason] ?? "stop",
    usage: {
      prompt: usage === undefined ? null : sumOf(runs, ...PROMPT_COUNTS),
      completion: usage === undefined ? null : sumOf(runs, "output_tokens"),
      cached: usage === undefined ? null : sumOf(runs, "cache_read_input_tokens"),
    },
  };
}

const PROMPT_COUNTS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];

function sumOf(runs: readonly Json[], ...names: readonly string[]): number {
  return runs.reduce((sum, run) => sum + names.reduce((own, name) => own + (run[name] ?? 0), 0), 0);
}

function joinStream(latin1: string): Json {
  const events = readSse(latin1);
  const body: Json = foldStream("messages", events);
  // A turn that continues calls made by a program has them complete in its first event.
  const begun = listOf(events.find(({ type }) => type === "message_start")?.message.content);
  return body.content.length > 0 || begun.length === 0 ? body : { ...body, content: begun };
}
