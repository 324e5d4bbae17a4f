import { type JsonObject, joinTexts, listAt, objectAt, objectsIn, textAt } from "./json-shape.ts";
import { type Rejection, reject } from "./rejection.ts";
import type { Conversation, Entry, OfferedTool, Reply } from "./scripted-model.ts";
import {
  cutText,
  type IncomingRequest,
  makeId,
  type ReadRequest,
  type StreamEvent,
  streamEvents,
  type VendorUsage,
  type WireFormat,
} from "./simulated-vendor.ts";

/** The vendor whose behavior is simulated, where vendors of the format differ. */
export type ChatHost = "openai" | "deepseek";

/**
 * Simulates chat completions. OpenAI rejects unknown fields, and `max_tokens` for reasoning models, and does
 * not send reasoning. DeepSeek sends it as `reasoning_content`, and requires it back while tools are being
 * called.
 */
export function createOpenaiChat(host: ChatHost): WireFormat {
  return {
    name: "openai-chat",
    hasPath: (path) => path === "/v1/chat/completions",
    findKey: ({ headers }) => /^Bearer (.+)$/.exec(headers.get("authorization") ?? "")?.[1] ?? null,
    read: (request) => readRequest(request, host),
    renderRejection,
  };
}

function renderRejection({ message, field, status }: Rejection): Response {
  return Response.json(
    { error: { message, type: "invalid_request_error", param: field, code: null } },
    { status },
  );
}

const FIELDS = new Set(
  `audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages metadata modalities
  model n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort
  response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools
  top_logprobs top_p user verbosity web_search_options`.split(/\s+/),
);

const REASONING_MODELS = /^(gpt-5|o\d)/;

function readRequest({ body }: IncomingRequest, host: ChatHost): ReadRequest {
  const model = textAt(body["model"], "model");
  if (host === "openai") requireKnownFields(body, model);
  else requireReasoning(objectsIn(body["messages"]));
  const isStreamed = body["stream"] === true;
  if (body["stream_options"] !== undefined && !isStreamed) {
    reject("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options");
  }
  const wantsUsage = objectsIn([body["stream_options"]])[0]?.["include_usage"] === true;
  const conversation: Conversation = {
    tools: readTools(body["tools"]),
    entries: readMessages(listAt(body["messages"], "messages")),
    allowsParallelCalls: body["parallel_tool_calls"] !== false,
  };
  return {
    conversation,
    losses: [],
    answer: (reply, usage) =>
      isStreamed ? stream(model, reply, usage, wantsUsage, host) : whole(model, reply, usage, host),
  };
}

function requireKnownFields(body: JsonObject, model: string): void {
  if (body["max_tokens"] !== undefined && REASONING_MODELS.test(model)) {
    reject(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
    );
  }
  for (const name of Object.keys(body)) {
    if (!FIELDS.has(name)) reject(`Unrecognized request argument supplied: ${name}`);
  }
}

/** Requires reasoning in each message of the model since the last user message. */
function requireReasoning(messages: readonly JsonObject[]): void {
  const lastWords = messages.findLastIndex(({ role }) => role === "user");
  for (const [index, { role, reasoning_content }] of messages.entries()) {
    if (index < lastWords || role !== "assistant" || typeof reasoning_content === "string") continue;
    reject(
      `Missing \`reasoning_content\` field in the assistant message at message index ${index}. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls`,
    );
  }
}

function readTools(tools: unknown): OfferedTool[] {
  if (tools === undefined) return [];
  return listAt(tools, "tools").map((tool, index) => {
    const place = `tools[${index}].function`;
    const fn = objectAt(objectAt(tool, `tools[${index}]`)["function"], place);
    const name = textAt(fn["name"], `${place}.name`);
    if (!/^[\w-]{1,64}$/.test(name)) {
      reject(`Invalid '${place}.name': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$'.`, place);
    }
    if (fn["parameters"] === undefined) return { name, parameters: {} };
    const parameters = objectAt(fn["parameters"], `${place}.parameters`);
    if (parameters["type"] !== "object") {
      reject(
        `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"'.`,
        place,
      );
    }
    return { name, parameters };
  });
}

/** Tool calls without a result so far, by id. */
type Pending = Set<string>;

function readMessages(messages: readonly unknown[]): Entry[] {
  const entries: Entry[] = [];
  let pending: Pending = new Set();
  let answered: Pending = new Set();
  for (const [index, message] of messages.entries()) {
    const place = `messages[${index}]`;
    const fields = objectAt(message, place);
    if (fields["role"] === "tool") {
      entries.push(readResult(fields, place, pending, answered));
      continue;
    }
    requireAnswered(pending, place);
    answered = new Set();
    if (fields["role"] === "assistant") {
      const { read, ids } = readAssistant(fields, place);
      entries.push(...read);
      pending = ids;
    } else entries.push(readText(fields, place));
  }
  requireAnswered(pending, "messages");
  return entries;
}

function requireAnswered(pending: Pending, place: string): void {
  if (pending.size === 0) return;
  const ids = [...pending].join(", ");
  reject(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids}`,
    place,
  );
}

function readText(fields: JsonObject, place: string): Entry {
  const { role, content } = fields;
  if (role !== "system" && role !== "developer" && role !== "user") {
    reject(
      `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'.`,
      `${place}.role`,
    );
  }
  requireContent(content, place);
  return { kind: "text", role: role === "user" ? "user" : "system", text: joinTexts(content) };
}

const PART_TYPES = new Set(["text", "image_url", "input_audio", "file", "refusal"]);

function requireContent(content: unknown, place: string): void {
  if (typeof content === "string") return;
  for (const [index, part] of listAt(content, `${place}.content`).entries()) {
    const { type } = objectAt(part, `${place}.content[${index}]`);
    if (!PART_TYPES.has(String(type))) {
      reject(
        `Invalid value: '${type}'. Supported values are: ${[...PART_TYPES].join(", ")}.`,
        `${place}.content[${index}].type`,
      );
    }
  }
}

function readAssistant(fields: JsonObject, place: string): { read: Entry[]; ids: Pending } {
  const { content, tool_calls: calls } = fields;
  if (content !== null && content !== undefined) requireContent(content, place);
  else if (calls === undefined && typeof fields["refusal"] !== "string") {
    reject(`Invalid value for 'content': expected a string, got null.`, `${place}.content`);
  }
  if (Array.isArray(calls) && calls.length === 0) {
    reject(`Invalid '${place}.tool_calls': empty array. Expected an array with minimum length 1.`, place);
  }
  const read: Entry[] = [{ kind: "text", role: "assistant", text: joinTexts(content) }];
  const ids: Pending = new Set();
  for (const [index, call] of (calls === undefined ? [] : listAt(calls, `${place}.tool_calls`)).entries()) {
    const entry = readCall(objectAt(call, `${place}.tool_calls[${index}]`), `${place}.tool_calls[${index}]`);
    if (ids.has(entry.id)) reject(`Duplicate tool call id: ${entry.id}`, place);
    ids.add(entry.id);
    read.push(entry);
  }
  return { read, ids };
}

function readCall(call: JsonObject, place: string): Entry & { kind: "call" } {
  const id = textAt(call["id"], `${place}.id`);
  if (id === "" || id.length > 64) {
    reject(
      `Invalid '${place}.id': string of wrong length. Expected 1 to 64 characters, got ${id.length}.`,
      place,
    );
  }
  if (call["type"] !== "function") reject(`Missing required parameter: '${place}.type'.`, `${place}.type`);
  const fn = objectAt(call["function"], `${place}.function`);
  textAt(fn["arguments"], `${place}.function.arguments`);
  return { kind: "call", id, name: textAt(fn["name"], `${place}.function.name`) };
}

function readResult(fields: JsonObject, place: string, pending: Pending, answered: Pending): Entry {
  const id = textAt(fields["tool_call_id"], `${place}.tool_call_id`);
  if (!pending.delete(id)) {
    reject(
      answered.has(id)
        ? `Duplicate value for 'tool_call_id' of '${id}' in message[${place}].`
        : "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      `${place}.role`,
    );
  }
  answered.add(id);
  requireContent(fields["content"], place);
  return { kind: "result", id, text: joinTexts(fields["content"]) };
}

function usageOf({ input, output, reasoning }: VendorUsage): JsonObject {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  };
}

function callsOf({ calls }: Reply): { id: string; name: string; text: string }[] {
  return calls.map((call) => ({
    id: `call_${makeId(24)}`,
    name: call.name,
    text: JSON.stringify(call.arguments),
  }));
}

function finishOf({ calls }: Reply): string {
  return calls.length > 0 ? "tool_calls" : "stop";
}

function headOf(model: string, object: string): JsonObject {
  return { id: `chatcmpl-${makeId(29)}`, object, created: Math.floor(Date.now() / 1000), model };
}

function whole(model: string, reply: Reply, usage: VendorUsage, host: ChatHost): Response {
  const calls = callsOf(reply).map(({ id, name, text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  const message = {
    role: "assistant",
    content: reply.text,
    ...(host === "deepseek" && { reasoning_content: reply.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return Response.json({
    ...headOf(model, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: finishOf(reply), logprobs: null }],
    usage: usageOf(usage),
  });
}

function stream(
  model: string,
  reply: Reply,
  usage: VendorUsage,
  wantsUsage: boolean,
  host: ChatHost,
): Response {
  const head = headOf(model, "chat.completion.chunk");
  const chunk = (delta: JsonObject, finish: string | null = null): StreamEvent => ({
    data: {
      ...head,
      choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
      ...(wantsUsage && { usage: null }),
    },
  });
  const events = [
    chunk({ role: "assistant", content: "" }),
    ...(host === "deepseek" ? cutText(reply.reasoning) : []).map((piece) =>
      chunk({ content: null, reasoning_content: piece }),
    ),
    ...cutText(reply.text).map((content) => chunk({ content })),
    ...callsOf(reply).flatMap(({ id, name, text }, index) => [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...cutText(text).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, finishOf(reply)),
    ...(wantsUsage ? [{ data: { ...head, choices: [], usage: usageOf(usage) } }] : []),
    { data: "[DONE]" },
  ];
  return streamEvents(events);
}
