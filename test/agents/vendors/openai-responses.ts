import { isObject, type JsonObject, joinTexts, listAt, objectAt, objectsIn, textAt } from "./json-shape.ts";
import { type Rejection, reject } from "./rejection.ts";
import type { Conversation, Entry, OfferedTool, PlannedCall, Reply } from "./scripted-model.ts";
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

/** What the vendor has sent, to compare with what comes back. */
interface Memory {
  /** Encrypted reasoning, by the id of its item. */
  readonly reasonings: Map<string, string>;
  /** The reasoning item before a call, by the call's `call_id`. */
  readonly reasonedCalls: Map<string, string>;
}

/** OpenAI's Responses API without storage: reasoning is sent encrypted in both directions. */
export function createOpenaiResponses(): WireFormat {
  const memory: Memory = { reasonings: new Map(), reasonedCalls: new Map() };
  return {
    name: "openai-responses",
    hasPath: (path) => path === "/v1/responses",
    findKey: ({ headers }) => /^Bearer (.+)$/.exec(headers.get("authorization") ?? "")?.[1] ?? null,
    read: (request) => readRequest(request, memory),
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
  `background client_metadata context_management conversation include input instructions max_output_tokens max_tool_calls
  metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention
  reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs
  top_p truncation user`.split(/\s+/),
);

function readRequest({ body }: IncomingRequest, memory: Memory): ReadRequest {
  for (const name of Object.keys(body)) {
    if (!FIELDS.has(name)) reject(`Unknown parameter: '${name}'.`, name);
  }
  const model = textAt(body["model"], "model");
  const { input } = body;
  const items = typeof input === "string" ? [{ role: "user", content: input }] : listAt(input, "input");
  const offered = readTools(body["tools"]);
  const { entries, losses } = readItems(items, memory);
  const conversation: Conversation = {
    tools: offered.map(({ tool }) => tool),
    entries,
    allowsParallelCalls: body["parallel_tool_calls"] !== false,
  };
  const include = Array.isArray(body["include"]) ? body["include"] : [];
  const shape: AnswerShape = {
    reasons: isObject(body["reasoning"]) && body["reasoning"]["effort"] !== "none",
    encrypts: include.includes("reasoning.encrypted_content"),
    summarizes: typeof objectsIn([body["reasoning"]])[0]?.["summary"] === "string",
    namespaceOf: (name) => offered.find(({ tool }) => tool.name === name)?.namespace ?? null,
  };
  return {
    conversation,
    losses,
    answer(reply, usage) {
      const output = outputOf(reply, shape, memory);
      const response = responseOf(model, body);
      return body["stream"] === true
        ? stream(response, output, usage)
        : Response.json({ ...response, status: "completed", output, usage: usageOf(usage) });
    },
  };
}

interface NamespacedTool {
  readonly tool: OfferedTool;
  readonly namespace: string | null;
}

function readTools(tools: unknown, namespace: string | null = null): NamespacedTool[] {
  if (tools === undefined) return [];
  return listAt(tools, "tools").flatMap((entry, index): NamespacedTool[] => {
    const place = `tools[${index}]`;
    const tool = objectAt(entry, place);
    if (tool["type"] === "namespace") return readTools(tool["tools"], textAt(tool["name"], `${place}.name`));
    // Hosted tools belong to the vendor; this model does not use them.
    if (tool["type"] !== "function" && tool["type"] !== "custom") return [];
    const name = textAt(tool["name"], `${place}.name`);
    if (!/^[\w-]{1,64}$/.test(name)) {
      reject(`Invalid '${place}.name': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$'.`, place);
    }
    if (tool["type"] === "custom") return [{ tool: { name, parameters: null }, namespace }];
    const parameters = objectAt(tool["parameters"] ?? {}, `${place}.parameters`);
    if (tool["parameters"] != null && parameters["type"] !== "object") {
      reject(
        `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"'.`,
        place,
      );
    }
    return [{ tool: { name, parameters }, namespace }];
  });
}

const CALL_TYPES = new Set(["function_call", "custom_tool_call"]);
const RESULT_TYPES = new Set(["function_call_output", "custom_tool_call_output"]);

/** Checks the prefix of an item's id, if it has an id. */
const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fc",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctc",
};

function readItems(
  items: readonly unknown[],
  memory: Memory,
): { readonly entries: Entry[]; readonly losses: string[] } {
  const entries: Entry[] = [];
  const losses: string[] = [];
  const open = new Set<string>();
  const reasonings = new Set<string>();
  for (const [index, value] of items.entries()) {
    const place = `input[${index}]`;
    const item = objectAt(value, place);
    const type = typeof item["type"] === "string" ? item["type"] : "message";
    requireItemId(item, type, place);
    if (CALL_TYPES.has(type)) {
      const entry = readCall(item, place);
      if (open.has(entry.id)) reject(`Duplicate item found with call_id ${entry.id}.`, place);
      open.add(entry.id);
      entries.push(entry);
      losses.push(...findLostReasoning(item, entry.id, reasonings, memory));
    } else if (RESULT_TYPES.has(type)) {
      const entry = readResult(item, place);
      if (!open.delete(entry.id)) {
        reject(`No tool call found for function call output with call_id ${entry.id}.`, place);
      }
      entries.push(entry);
    } else if (type === "reasoning") reasonings.add(readReasoning(item, place, memory));
    else if (type === "message") entries.push(readMessage(item, place));
    else reject(`Invalid value: '${type}'.`, `${place}.type`);
  }
  if (open.size > 0) reject(`No tool output found for function call ${[...open].join(", ")}.`, "input");
  return { entries, losses };
}

function requireItemId(item: JsonObject, type: string, place: string): void {
  const { id } = item;
  const prefix = ID_PREFIXES[type];
  if (id === undefined || id === null || prefix === undefined) return;
  if (!textAt(id, `${place}.id`).startsWith(prefix)) {
    reject(`Invalid '${place}.id': '${id}'. Expected an ID that begins with '${prefix}'.`, `${place}.id`);
  }
}

function readCall(item: JsonObject, place: string): Entry & { kind: "call" } {
  textAt(item["type"] === "function_call" ? item["arguments"] : item["input"], `${place}.arguments`);
  const id = textAt(item["call_id"], `${place}.call_id`);
  if (id === "" || id.length > 64) {
    reject(
      `Invalid '${place}.call_id': string of wrong length. Expected 1 to 64 characters, got ${id.length}.`,
      place,
    );
  }
  return { kind: "call", id, name: textAt(item["name"], `${place}.name`) };
}

function readResult(item: JsonObject, place: string): Entry & { kind: "result" } {
  const { output } = item;
  if (typeof output !== "string") requireParts(output, `${place}.output`, INPUT_PARTS);
  return { kind: "result", id: textAt(item["call_id"], `${place}.call_id`), text: joinTexts(output) };
}

const INPUT_PARTS = new Set(["input_text", "input_image", "input_file"]);
const OUTPUT_PARTS = new Set(["output_text", "refusal"]);

function requireParts(content: unknown, place: string, types: ReadonlySet<string>): void {
  for (const [index, part] of listAt(content, place).entries()) {
    const { type } = objectAt(part, `${place}[${index}]`);
    if (!types.has(String(type))) {
      reject(
        `Invalid value: '${type}'. Supported values are: ${[...types].map((name) => `'${name}'`).join(", ")}.`,
        `${place}[${index}]`,
      );
    }
  }
}

function readMessage(item: JsonObject, place: string): Entry {
  const { role, content } = item;
  if (role !== "user" && role !== "system" && role !== "developer" && role !== "assistant") {
    reject(
      `Invalid value: '${role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
      `${place}.role`,
    );
  }
  if (typeof content !== "string") {
    requireParts(content, `${place}.content`, role === "assistant" ? OUTPUT_PARTS : INPUT_PARTS);
  }
  return { kind: "text", role: role === "developer" ? "system" : role, text: joinTexts(content) };
}

function readReasoning(item: JsonObject, place: string, { reasonings }: Memory): string {
  listAt(item["summary"], `${place}.summary`);
  const id = textAt(item["id"], `${place}.id`);
  const sealed = item["encrypted_content"];
  if (typeof sealed !== "string") {
    reject(
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`,
      "input",
    );
  }
  if (reasonings.get(id) !== sealed) {
    reject(
      `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
    );
  }
  return id;
}

/**
 * A call with its item id requires the reasoning before it. For a call without, missing reasoning counts as a
 * loss.
 */
function findLostReasoning(
  item: JsonObject,
  callId: string,
  reasonings: ReadonlySet<string>,
  memory: Memory,
): string[] {
  const needed = memory.reasonedCalls.get(callId);
  if (needed === undefined || reasonings.has(needed)) return [];
  if (typeof item["id"] === "string") {
    reject(
      `Item '${item["id"]}' of type '${item["type"]}' was provided without its required 'reasoning' item: '${needed}'.`,
      "input",
    );
  }
  return [`The reasoning before the call ${callId} did not come back.`];
}

/** Returns the output items that the client requested. */
interface AnswerShape {
  readonly reasons: boolean;
  readonly encrypts: boolean;
  readonly summarizes: boolean;
  namespaceOf(tool: string): string | null;
}

/** Returns the reply as complete output items. */
function outputOf(reply: Reply, shape: AnswerShape, memory: Memory): JsonObject[] {
  const id = `rs_${makeId(48)}`;
  const sealed = `gAAAAA${makeId(160)}`;
  const reasoning = {
    id,
    type: "reasoning",
    summary: shape.summarizes ? [{ type: "summary_text", text: reply.reasoning }] : [],
    ...(shape.encrypts && { encrypted_content: sealed }),
  };
  const message = {
    id: `msg_${makeId(48)}`,
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: reply.text, annotations: [], logprobs: [] }],
  };
  const calls = reply.calls.map((call) => callItem(call, shape));
  if (shape.reasons && shape.encrypts) {
    memory.reasonings.set(id, sealed);
    for (const call of calls) memory.reasonedCalls.set(String(call["call_id"]), id);
  }
  return [...(shape.reasons ? [reasoning] : []), message, ...calls];
}

function callItem(call: PlannedCall, { namespaceOf }: AnswerShape): JsonObject {
  const callId = `call_${makeId(24)}`;
  const namespace = namespaceOf(call.name);
  const head = {
    status: "completed",
    call_id: callId,
    name: call.name,
    ...(namespace !== null && { namespace }),
  };
  return typeof call.arguments === "string"
    ? { id: `ctc_${makeId(48)}`, type: "custom_tool_call", ...head, input: call.arguments }
    : { id: `fc_${makeId(48)}`, type: "function_call", ...head, arguments: JSON.stringify(call.arguments) };
}

function usageOf({ input, output, reasoning }: VendorUsage): JsonObject {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

function responseOf(model: string, body: JsonObject): JsonObject {
  return {
    id: `resp_${makeId(48)}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: "in_progress",
    error: null,
    incomplete_details: null,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    model,
    output: [],
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: null,
    reasoning: body["reasoning"] ?? { effort: null, summary: null },
    store: body["store"] ?? true,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    top_p: 1,
    truncation: "disabled",
    usage: null,
    metadata: {},
  };
}

type TypedEvent = JsonObject & { readonly type: string };

function stream(response: JsonObject, output: readonly JsonObject[], usage: VendorUsage): Response {
  const events: TypedEvent[] = [
    { type: "response.created", response },
    { type: "response.in_progress", response },
    ...output.flatMap(eventsOfItem),
    {
      type: "response.completed",
      response: { ...response, status: "completed", output, usage: usageOf(usage) },
    },
  ];
  return streamEvents(
    events.map(
      (event, index): StreamEvent => ({
        event: event.type,
        data: { ...event, sequence_number: index },
      }),
    ),
  );
}

function eventsOfItem(item: JsonObject, index: number): TypedEvent[] {
  const place = { output_index: index };
  return [
    { type: "response.output_item.added", ...place, item: begunItem(item) },
    ...eventsWithin(item, { ...place, item_id: item["id"] }),
    { type: "response.output_item.done", ...place, item },
  ];
}

/** Returns an item as a stream begins it. */
function begunItem(item: JsonObject): JsonObject {
  switch (item["type"]) {
    case "reasoning":
      return { ...item, summary: [] };
    case "message":
      return { ...item, status: "in_progress", content: [] };
    case "function_call":
      return { ...item, status: "in_progress", arguments: "" };
    default:
      return { ...item, status: "in_progress", input: "" };
  }
}

function eventsWithin(item: JsonObject, place: JsonObject): TypedEvent[] {
  switch (item["type"]) {
    case "reasoning":
      return objectsIn(item["summary"]).flatMap((part, summary_index) =>
        eventsOfPart("response.reasoning_summary_part", "response.reasoning_summary_text", part, {
          ...place,
          summary_index,
        }),
      );
    case "message":
      return objectsIn(item["content"]).flatMap((part, content_index) =>
        eventsOfPart("response.content_part", "response.output_text", part, { ...place, content_index }),
      );
    case "function_call":
      return eventsOfText("response.function_call_arguments", "arguments", String(item["arguments"]), place);
    default:
      return eventsOfText("response.custom_tool_call_input", "input", String(item["input"]), place);
  }
}

function eventsOfPart(
  partEvent: string,
  textEvent: string,
  part: JsonObject,
  place: JsonObject,
): TypedEvent[] {
  return [
    { type: `${partEvent}.added`, ...place, part: { ...part, text: "" } },
    ...eventsOfText(textEvent, "text", String(part["text"]), place),
    { type: `${partEvent}.done`, ...place, part },
  ];
}

function eventsOfText(event: string, field: string, text: string, place: JsonObject): TypedEvent[] {
  return [
    ...cutText(text).map((delta) => ({ type: `${event}.delta`, ...place, delta })),
    { type: `${event}.done`, ...place, [field]: text },
  ];
}
