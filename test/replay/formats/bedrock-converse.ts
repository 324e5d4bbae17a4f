import { FrameSplitter } from "../../../src/wire/bedrock-converse/event-frames.ts";
import {
  type Answer,
  type Conversation,
  type Finish,
  type Item,
  type Json,
  listOf,
  type Media,
  signatureItems,
  type Turn,
  textItems,
  textOf,
  type WireReader,
} from "../conversation.ts";
import { resultText } from "../facts.ts";

/** Amazon Bedrock's Converse. */
export const bedrockConverse: WireReader = { readRequest, readAnswer, joinStream };

function readRequest(body: Json): Conversation {
  const system = textItems("text", textOf(body.system));
  return {
    turns: [
      ...(system.length > 0 ? [{ role: "system" as const, items: system }] : []),
      ...listOf(body.messages).map(
        ({ role, content }): Turn => ({ role, items: listOf(content).flatMap(readBlock) }),
      ),
    ],
    tools: listOf(body.toolConfig?.tools).flatMap(({ toolSpec }) =>
      toolSpec === undefined
        ? []
        : [
            {
              name: toolSpec.name,
              description: toolSpec.description ?? null,
              schema: toolSpec.inputSchema.json,
            },
          ],
    ),
  };
}

function readBlock(block: Json): Item[] {
  if (typeof block.text === "string") return textItems("text", block.text);
  if (block.reasoningContent) {
    const { reasoningText, redactedContent } = block.reasoningContent;
    return [
      ...textItems("reasoning", reasoningText?.text),
      ...signatureItems(reasoningText?.signature, redactedContent),
    ];
  }
  if (block.toolUse) {
    const { toolUseId, name, input } = block.toolUse;
    return [{ kind: "call", id: toolUseId, name, args: JSON.stringify(input ?? {}) }];
  }
  if (block.toolResult) return [readResult(block.toolResult)];
  if (block.guardContent) return textItems("text", block.guardContent.text?.text);
  const media = readMedia(block);
  if (media !== null) return [{ kind: "media", media }];
  const [type = ""] = Object.keys(block);
  return type === "cachePoint" ? [] : [{ kind: "hosted", value: type }];
}

function readResult({ toolUseId, content }: Json): Item {
  const blocks = listOf(content);
  const texts = blocks.map((block) => block.text ?? (block.json === undefined ? "" : resultText(block.json)));
  const media = blocks.flatMap((block) => readMedia(block) ?? []);
  return { kind: "result", id: toolUseId, name: "", text: texts.join("\n"), media };
}

function readMedia({ image, document, video, audio }: Json): Media | null {
  const found = image ?? document ?? video ?? audio;
  if (!found) return null;
  const what = image ? "image" : document ? "file" : video ? "video" : "audio";
  const mediaType = image ? `image/${image.format}` : document ? (DOCUMENTS[document.format] ?? null) : null;
  const { bytes, s3Location, text } = found.source;
  const data = bytes ?? (text === undefined ? null : Buffer.from(text).toString("base64"));
  return { what, mediaType, data, url: s3Location?.uri ?? null };
}

const DOCUMENTS: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  csv: "text/csv",
};

const FINISHES: Readonly<Record<string, Finish>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  tool_use: "tools",
  guardrail_intervened: "filter",
  content_filtered: "filter",
};

function readAnswer(body: Json): Answer {
  const { usage, stopReason } = body;
  const counted = [usage?.inputTokens, usage?.cacheReadInputTokens, usage?.cacheWriteInputTokens];
  return {
    items: listOf(body.output?.message?.content).flatMap(readBlock),
    citations: [],
    finish: FINISHES[stopReason] ?? "stop",
    usage: {
      prompt: usage === undefined ? null : counted.reduce((sum, count) => sum + (count ?? 0), 0),
      completion: usage?.outputTokens ?? null,
      cached: usage?.cacheReadInputTokens ?? null,
    },
  };
}

/** Frames of the AWS event stream; a header names the type of each. */
function joinStream(latin1: string): Json {
  const blocks: Json[] = [];
  const inputs: string[] = [];
  const body: Json = { output: { message: { role: "assistant", content: blocks } } };
  for (const [type, event] of readFrames(latin1)) {
    const at = event.contentBlockIndex;
    if (type === "contentBlockStart" && event.start?.toolUse)
      blocks[at] = { toolUse: { ...event.start.toolUse } };
    if (type === "contentBlockDelta") appendToBlock(blocks, inputs, at, event.delta);
    if (type === "messageStop") body.stopReason = event.stopReason;
    if (type === "metadata") body.usage = event.usage;
  }
  for (const [at, input] of inputs.entries())
    if (blocks[at]?.toolUse && input) blocks[at].toolUse.input = JSON.parse(input);
  body.output.message.content = blocks.filter((block) => block !== undefined);
  return body;
}

function appendToBlock(blocks: Json[], inputs: string[], at: number, delta: Json): void {
  if (delta.toolUse) inputs[at] = (inputs[at] ?? "") + (delta.toolUse.input ?? "");
  if (typeof delta.text === "string") blocks[at] = { text: (blocks[at]?.text ?? "") + delta.text };
  const reasoning = delta.reasoningContent;
  if (!reasoning) return;
  const { text = "", signature = "" } = blocks[at]?.reasoningContent?.reasoningText ?? {};
  blocks[at] = {
    reasoningContent:
      reasoning.redactedContent !== undefined
        ? { redactedContent: reasoning.redactedContent }
        : {
            reasoningText: {
              text: text + (reasoning.text ?? ""),
              signature: signature + (reasoning.signature ?? ""),
            },
          },
  };
}

const MAX_FRAME_BYTES = 2 ** 24;

function readFrames(latin1: string): [type: string, event: Json][] {
  const { complete } = new FrameSplitter(MAX_FRAME_BYTES).push(latin1);
  return complete.map(({ headers, payload }) => [
    headers.get(":event-type") ?? "",
    JSON.parse(Buffer.from(payload, "latin1").toString("utf8") || "{}"),
  ]);
}
