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
  signatureItems,
  type Turn,
  textItems,
  textOf,
  type WireReader,
} from "../conversation.ts";
import { resultText } from "../facts.ts";

/** OpenAI's Responses API. */
export const openaiResponses: WireReader = { readRequest, readAnswer, joinStream };

function readRequest(body: Json): Conversation {
  const input = typeof body.input === "string" ? [{ role: "user", content: body.input }] : listOf(body.input);
  const instructions = textItems("text", body.instructions);
  return {
    turns: [
      ...(instructions.length > 0 ? [{ role: "system" as const, items: instructions }] : []),
      ...input.map(readTurn),
    ],
    tools: listOf(body.tools)
      .filter(({ type }) => type === "function" || type === "custom")
      .map(({ name, description, parameters }) => ({
        name,
        description: description ?? null,
        schema: parameters ?? { type: "object", properties: {} },
      })),
  };
}

function readTurn(item: Json): Turn {
  if (RESULT.test(item.type ?? "")) {
    const media = listOf(item.output).flatMap(readMedia);
    const text = resultText(item.output);
    return {
      role: "tool",
      items: [{ kind: "result", id: item.call_id, name: item.name ?? "", text, media }],
    };
  }
  if (item.role === undefined || item.role === "assistant")
    return { role: "assistant", items: readItem(item) };
  const items = readContent(item.content);
  return { role: item.role === "user" ? "user" : "system", items };
}

const RESULT = /^(function|custom_tool)_call_output$/;

function readContent(content: Json): Item[] {
  if (!Array.isArray(content)) return textItems("text", content);
  return content.flatMap((part): Item[] => {
    const media = readMedia(part).map((one): Item => ({ kind: "media", media: one }));
    if (media.length > 0) return media;
    return part.type === "refusal" ? textItems("refusal", part.refusal) : textItems("text", part.text);
  });
}

function readMedia(part: Json): Media[] {
  switch (part?.type) {
    case "input_image":
      return [mediaFromUrl("image", part.image_url ?? part.file_id)];
    case "input_file":
      return [mediaFromUrl("file", part.file_data ?? part.file_url ?? part.file_id)];
    case "input_audio":
      return [
        {
          what: "audio",
          mediaType: `audio/${part.input_audio.format}`,
          data: part.input_audio.data,
          url: null,
        },
      ];
    default:
      return [];
  }
}

/** An item that the model produced. */
function readItem(item: Json): Item[] {
  switch (item.type ?? "message") {
    case "message":
      return readContent(item.content);
    case "reasoning":
      return [
        ...textItems("reasoning", textOf(item.content), textOf(item.summary)),
        ...signatureItems(item.encrypted_content),
      ];
    case "function_call":
      return [{ kind: "call", id: item.call_id, name: item.name, args: item.arguments }];
    case "custom_tool_call":
      return [{ kind: "call", id: item.call_id, name: item.name, args: item.input }];
    case "image_generation_call":
      return typeof item.result === "string"
        ? [{ kind: "media", media: { what: "image", mediaType: null, data: item.result, url: null } }]
        : [];
    default:
      return [{ kind: "hosted", value: item.type }];
  }
}

function readAnswer(body: Json): Answer {
  const items = listOf(body.output).flatMap(readItem);
  const parts = listOf(body.output).flatMap(({ content }) => listOf(content));
  const { usage } = body;
  return {
    items,
    citations: parts.flatMap(({ annotations }) => listOf(annotations).flatMap(({ url }) => url ?? [])),
    finish: readFinish(body, items),
    usage: {
      prompt: usage?.input_tokens ?? null,
      completion: usage?.output_tokens ?? null,
      cached: usage?.input_tokens_details?.cached_tokens ?? null,
    },
  };
}

function readFinish({ status, incomplete_details: cause }: Json, items: readonly Item[]): Finish {
  if (status === "incomplete") return cause?.reason === "content_filter" ? "filter" : "length";
  return items.some(({ kind }) => kind === "call") ? "tools" : "stop";
}

/** The last event has the answer; items count as they were when done, because a vendor encrypts anew each time. */
function joinStream(latin1: string): Json {
  const events = readSse(latin1);
  const { response } = events.findLast((event) => event.response) ?? { response: {} };
  const done = events.filter(({ type }) => type === "response.output_item.done");
  return done.length === 0 ? response : { ...response, output: done.map(({ item }) => item) };
}
