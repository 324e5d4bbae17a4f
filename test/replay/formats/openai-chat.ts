import { foldStream } from "../../fidelity/answers/fold.ts";
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

/** OpenAI's chat completions, with the extensions of other hosts. */
export const openaiChat: WireReader = { readRequest, readAnswer, joinStream };

function readRequest(body: Json): Conversation {
  return {
    turns: listOf(body.messages).map(readTurn),
    tools: [
      ...listOf(body.tools).map((tool) => tool.function ?? tool.custom ?? tool),
      ...listOf(body.functions),
    ].map(({ name, description, parameters }) => ({
      name,
      description: description ?? null,
      schema: parameters ?? { type: "object", properties: {} },
    })),
  };
}

function readTurn(message: Json): Turn {
  switch (message.role) {
    case "assistant":
      return { role: "assistant", items: readAssistant(message) };
    case "tool":
    case "function":
      return { role: "tool", items: [readResult(message)] };
    case "user":
      return { role: "user", items: readContent(message.content) };
    default:
      return { role: "system", items: readContent(message.content) };
  }
}

function readResult({ tool_call_id, name, content }: Json): Item {
  const media = listOf(content).flatMap((part) => readMedia(part));
  return { kind: "result", id: tool_call_id ?? "", name: name ?? "", text: resultText(content), media };
}

function readContent(content: Json): Item[] {
  if (!Array.isArray(content)) return textItems("text", content);
  return content.flatMap((part): Item[] => {
    if (part.type === "thinking") return textItems("reasoning", textOf(part.thinking));
    if (part.type === "refusal") return textItems("refusal", part.refusal);
    const media = readMedia(part).map((one): Item => ({ kind: "media", media: one }));
    return media.length > 0 ? media : textItems("text", part.text);
  });
}

function readMedia(part: Json): Media[] {
  switch (part?.type) {
    case "image_url":
      return [mediaFromUrl("image", part.image_url.url ?? part.image_url)];
    case "input_audio":
      return [
        {
          what: "audio",
          mediaType: `audio/${part.input_audio.format}`,
          data: part.input_audio.data,
          url: null,
        },
      ];
    case "video_url":
      return [mediaFromUrl("video", part.video_url.url)];
    case "file":
      return [mediaFromUrl("file", part.file.file_data ?? part.file.file_id)];
    default:
      return [];
  }
}

function readAssistant(message: Json): Item[] {
  const details = listOf(message.reasoning_details);
  const thoughts = details.map((detail) => detail.text ?? detail.summary ?? "").join("");
  const legacy = message.function_call ? [{ id: "", function: message.function_call }] : [];
  const calls = [...listOf(message.tool_calls), ...legacy];
  const proofs = new Set([
    ...details.flatMap((detail) => [detail.signature, detail.data]),
    ...calls.map((call) => call.extra_content?.google?.thought_signature),
  ]);
  return [
    ...textItems("reasoning", thoughts || message.reasoning_content || message.reasoning),
    ...signatureItems(...proofs),
    ...readContent(message.content),
    ...textItems("refusal", message.refusal),
    ...listOf(message.images).flatMap((image): Item[] =>
      readMedia({ type: "image_url", ...image }).map((media) => ({ kind: "media", media })),
    ),
    ...calls.map(readCall),
  ];
}

function readCall(call: Json): Item {
  const {
    name,
    arguments: args,
    input,
  } = call.type === "custom" ? call.custom : (call.function ?? call.custom);
  const text = args ?? input ?? "";
  return {
    kind: "call",
    id: call.id ?? "",
    name,
    args: typeof text === "string" ? text : JSON.stringify(text),
  };
}

const FINISHES: Readonly<Record<string, Finish>> = {
  stop: "stop",
  eos: "stop",
  length: "length",
  tool_calls: "tools",
  function_call: "tools",
  content_filter: "filter",
};

function readAnswer(body: Json): Answer {
  const [choice] = listOf(body.choices);
  const { message } = choice;
  const items = readAssistant(message);
  const usage = body.usage ?? body.x_groq?.usage;
  const finish = FINISHES[choice.finish_reason] ?? "stop";
  return {
    items,
    citations: [
      ...listOf(message.annotations).flatMap((annotation) => annotation.url_citation?.url ?? []),
      ...listOf(body.citations).filter((url) => typeof url === "string"),
    ],
    finish: finish === "stop" && items.some(({ kind }) => kind === "call") ? "tools" : finish,
    usage: {
      prompt: usage?.prompt_tokens ?? null,
      completion: readCompletion(usage),
      cached: usage?.prompt_tokens_details?.cached_tokens ?? usage?.cached_tokens ?? null,
    },
  };
}

/** Some hosts count reasoning separately from the completion; the total includes both. */
function readCompletion(usage: Json): number | null {
  if (!usage?.completion_tokens) return null;
  return Math.max(usage.completion_tokens, (usage.total_tokens ?? 0) - usage.prompt_tokens);
}

function joinStream(latin1: string): Json {
  const chunks = readSse(latin1).map(tidyChunk);
  // Hosts that send content in parts continue in further parts, which have no index to join them by.
  const parts = chunks.flatMap((chunk) => listOf(chunk.choices?.[0]?.delta?.content));
  const body: Json = foldStream("chat", chunks);
  if (parts.length > 0) {
    const texts = chunks.map((chunk) => chunk.choices?.[0]?.delta?.content);
    const textParts = texts
      .filter((text) => typeof text === "string")
      .map((text) => ({ type: "text", text }));
    body.choices[0].message.content = [...parts, ...textParts];
  }
  const { usage } = chunks.findLast((chunk) => chunk.usage) ?? {};
  return { ...body, usage };
}

/** A chunk of a host that repeats names of calls as "" and the message next to its pieces, without either. */
function tidyChunk(chunk: Json): Json {
  const choices = listOf(chunk.choices).map(({ message: _, ...choice }) => {
    const calls = listOf(choice.delta?.tool_calls).map(tidyCall);
    return calls.length === 0 ? choice : { ...choice, delta: { ...choice.delta, tool_calls: calls } };
  });
  return { ...chunk, choices };
}

function tidyCall(call: Json): Json {
  if (call.function?.name !== "") return call;
  const { name: _, ...rest } = call.function;
  return { ...call, function: rest };
}
