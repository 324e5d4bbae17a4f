import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { type Client, FORMAT_OF } from "../fidelity/formats.ts";
import { type Conversation, type Item, type Json, listOf, type Media, type Turn } from "./conversation.ts";

/** A client API as its library uses it. */
export interface ClientApi {
  readonly name: Client;
  readonly format: FormatName;
  readonly path: string;
  /** Builds a request from a conversation of any format. */
  write(conversation: Conversation): Json;
  /** The next request of the conversation: the answer as received, then a result for each call, or the user's next message. */
  nextTurn(request: Json, answer: Json): Json;
  /** The same for a client that keeps only the fields of the specification; absent if the API has no such clients. */
  nextBareTurn?(request: Json, answer: Json): Json;
  /** Types of the items with which it answers items that no other API has. */
  answersItems?(answer: Json): readonly string[];
}

/** The user's message after an answer without calls. */
export const NEXT_MESSAGE = "Go on.";

/** The result of a call. */
export function resultOf(place: number): string {
  return `The result of call ${place + 1}.`;
}

/** All client APIs, by name. */
export const CLIENT_APIS: Readonly<Record<Client, ClientApi>> = {
  chat: {
    name: "chat",
    format: FORMAT_OF.chat,
    path: "/chat/completions",
    write: ({ turns, tools }) => ({
      messages: turns.flatMap(writeChatTurn),
      ...(tools.length === 0 ? {} : { tools: tools.map(writeChatTool) }),
    }),
    nextTurn: (request, { choices: [{ message }] }) => ({
      ...request,
      messages: [...request.messages, message, ...answerChat(message)],
    }),
    nextBareTurn: (request, { choices: [{ message }] }) => ({
      ...request,
      messages: [...request.messages, bareMessage(message), ...answerChat(message)],
    }),
  },
  responses: {
    name: "responses",
    format: FORMAT_OF.responses,
    path: "/responses",
    write: ({ turns, tools }) => ({
      input: turns.flatMap(writeItems),
      ...(tools.length === 0 ? {} : { tools: tools.map(writeResponsesTool) }),
    }),
    nextTurn: (request, answer) => ({
      ...request,
      input: [...asItems(request.input), ...answer.output, ...answerItems(answer.output)],
    }),
    answersItems: ({ output }) =>
      answerItems(output).flatMap(({ type }) => (type === undefined || CALL_OUTPUT.test(type) ? [] : [type])),
  },
  messages: {
    name: "messages",
    format: FORMAT_OF.messages,
    path: "/messages",
    write: ({ turns, tools }) => ({
      max_tokens: 64_000,
      messages: turns.filter(({ role }) => role !== "system").map(writeMessage),
      ...writeSystem(turns),
      ...(tools.length === 0 ? {} : { tools: tools.map(writeMessagesTool) }),
    }),
    nextTurn: (request, answer) => ({
      ...request,
      messages: [
        ...request.messages,
        { role: "assistant", content: answer.content },
        ...(answer.stop_reason === "pause_turn"
          ? []
          : [{ role: "user", content: answerBlocks(answer.content) }]),
      ],
    }),
  },
};

function dataUrl({ mediaType, data, url }: Media): string {
  return data === null ? (url as string) : `data:${mediaType ?? "application/octet-stream"};base64,${data}`;
}

function joinTexts(items: readonly Item[]): string {
  return items.map((item) => (item.kind === "text" ? item.value : "")).join("\n");
}

type Call = Extract<Item, { kind: "call" }>;
type Result = Extract<Item, { kind: "result" }>;

const callsOf = (items: readonly Item[]) => items.filter((item): item is Call => item.kind === "call");
const resultsOf = (items: readonly Item[]) => items.filter((item): item is Result => item.kind === "result");

function writeChatTurn({ role, items }: Turn): Json[] {
  const results = resultsOf(items).map((result) => ({
    role: "tool",
    tool_call_id: result.id,
    content: result.text,
  }));
  const others = items.filter(({ kind }) => kind === "text" || kind === "media");
  const calls = callsOf(items).map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.args },
  }));
  if (role === "assistant") {
    const content = joinTexts(items) || null;
    return [{ role, content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
  }
  if (others.length === 0) return results;
  return [...results, { role: role === "tool" ? "user" : role, content: writeChatContent(others) }];
}

function writeChatContent(items: readonly Item[]): Json {
  if (items.every(({ kind }) => kind === "text")) return joinTexts(items);
  return items.flatMap((item): Json[] => {
    if (item.kind === "text") return [{ type: "text", text: item.value }];
    return item.kind === "media" ? [writeChatMedia(item.media)] : [];
  });
}

/** Media that a client API supports; other clients never have them. */
const CARRIED: Readonly<Record<Client, readonly Media["what"][]>> = {
  chat: ["image", "file", "audio", "video"],
  responses: ["image", "file"],
  messages: ["image", "file"],
};

function carries(client: Client, item: Item): boolean {
  return item.kind !== "media" || CARRIED[client].includes(item.media.what);
}

function writeChatMedia(media: Media): Json {
  if (media.what === "image") return { type: "image_url", image_url: { url: dataUrl(media) } };
  if (media.what === "video") return { type: "video_url", video_url: { url: dataUrl(media) } };
  if (media.what === "audio") {
    const format = media.mediaType?.split("/")[1]?.replace("x-", "") ?? "wav";
    return { type: "input_audio", input_audio: { data: media.data, format } };
  }
  const source =
    media.data === null ? { file_id: media.url } : { filename: "file", file_data: dataUrl(media) };
  return { type: "file", file: source };
}

function writeChatTool({ name, description, schema }: Conversation["tools"][number]): Json {
  return {
    type: "function",
    function: { name, ...(description === null ? {} : { description }), parameters: schema },
  };
}

function bareMessage({ role, content, refusal, tool_calls, function_call }: Json): Json {
  return {
    role,
    content,
    ...(refusal ? { refusal } : {}),
    ...(listOf(tool_calls).length === 0 ? {} : { tool_calls: tool_calls.map(bareCall) }),
    ...(function_call === undefined ? {} : { function_call }),
  };
}

function bareCall(call: Json): Json {
  return { id: call.id, type: call.type, [call.type]: call[call.type] };
}

function answerChat({ tool_calls, function_call }: Json): Json[] {
  if (function_call) return [{ role: "function", name: function_call.name, content: resultOf(0) }];
  const calls = listOf(tool_calls);
  if (calls.length === 0) return [{ role: "user", content: NEXT_MESSAGE }];
  return calls.map(({ id }, place) => ({ role: "tool", tool_call_id: id, content: resultOf(place) }));
}

function writeItems({ role, items }: Turn): Json[] {
  const results = resultsOf(items).map((result) => ({
    type: "function_call_output",
    call_id: result.id,
    output: result.text,
  }));
  const calls = callsOf(items).map((call) => ({
    type: "function_call",
    call_id: call.id,
    name: call.name,
    arguments: call.args,
  }));
  const content = items
    .filter((item) => carries("responses", item))
    .flatMap((item): Json[] => {
      if (item.kind === "text")
        return [{ type: role === "assistant" ? "output_text" : "input_text", text: item.value }];
      return item.kind === "media" ? [writeItemMedia(item.media)] : [];
    });
  const said =
    content.length === 0 ? [] : [{ type: "message", role: role === "tool" ? "user" : role, content }];
  return [...results, ...said, ...calls];
}

function writeItemMedia(media: Media): Json {
  if (media.what === "image") return { type: "input_image", image_url: dataUrl(media), detail: "auto" };
  if (media.data === null) return { type: "input_file", file_id: media.url };
  return { type: "input_file", filename: "file", file_data: dataUrl(media) };
}

function writeResponsesTool({ name, description, schema }: Conversation["tools"][number]): Json {
  return { type: "function", name, description, parameters: schema, strict: false };
}

function asItems(input: Json): Json[] {
  return typeof input === "string" ? [{ role: "user", content: input }] : input;
}

/** The answers to items that the client must answer, by type. */
const ANSWERED: Readonly<Record<string, (item: Json, place: number) => Json>> = {
  function_call: ({ call_id }, place) => ({ type: "function_call_output", call_id, output: resultOf(place) }),
  custom_tool_call: ({ call_id }, place) => ({
    type: "custom_tool_call_output",
    call_id,
    output: resultOf(place),
  }),
  local_shell_call: ({ call_id }) => ({ type: "local_shell_call_output", id: call_id, output: "done" }),
  apply_patch_call: ({ call_id }) => ({
    type: "apply_patch_call_output",
    call_id,
    status: "completed",
    output: "done",
  }),
  mcp_approval_request: ({ id }) => ({
    type: "mcp_approval_response",
    approval_request_id: id,
    approve: true,
  }),
};

const CALL_OUTPUT = /^(function|custom_tool)_call_output$/;

function answerItems(output: Json): Json[] {
  const answers = listOf(output)
    .filter(({ type }) => type in ANSWERED)
    .map((item, place) => ANSWERED[item.type]?.(item, place));
  return answers.length > 0 ? answers : [{ role: "user", content: NEXT_MESSAGE }];
}

function writeSystem(turns: readonly Turn[]): Json {
  const system = turns.filter(({ role }) => role === "system").flatMap(({ items }) => items);
  return system.length === 0 ? {} : { system: joinTexts(system) };
}

function writeMessage({ role, items }: Turn): Json {
  return {
    role: role === "assistant" ? role : "user",
    content: items.filter((item) => carries("messages", item)).flatMap(writeBlock),
  };
}

function writeBlock(item: Item): Json[] {
  switch (item.kind) {
    case "text":
      return [{ type: "text", text: item.value }];
    case "call":
      return [{ type: "tool_use", id: item.id, name: item.name, input: JSON.parse(item.args || "{}") }];
    case "result":
      return [{ type: "tool_result", tool_use_id: item.id, content: item.text }];
    case "media":
      return [writeMediaBlock(item.media)];
    default:
      return [];
  }
}

function writeMediaBlock({ what, mediaType, data, url }: Media): Json {
  const source = data === null ? writeSource(url as string) : { type: "base64", media_type: mediaType, data };
  return { type: what === "image" ? "image" : "document", source };
}

function writeSource(url: string): Json {
  return /^https?:/.test(url) ? { type: "url", url } : { type: "file", file_id: url };
}

function writeMessagesTool({ name, description, schema }: Conversation["tools"][number]): Json {
  return { name, ...(description === null ? {} : { description }), input_schema: schema };
}

function answerBlocks(content: Json): Json[] {
  const calls = listOf(content).filter(({ type }) => type === "tool_use");
  if (calls.length === 0) return [{ type: "text", text: NEXT_MESSAGE }];
  return calls.map(({ id }, place) => ({ type: "tool_result", tool_use_id: id, content: resultOf(place) }));
}
