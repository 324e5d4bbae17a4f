import { isObject, type JsonObject, joinTexts, listAt, objectAt, objectsIn, textAt } from "./json-shape.ts";
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

/** What the vendor has sent, to compare with what comes back. */
interface Memory {
  /** Thinking texts by their signature. */
  readonly thinkings: Map<string, string>;
  /** Ids of tool calls that were made after thinking. */
  readonly thoughtCalls: Set<string>;
}

/** Anthropic's Messages API, with thinking whose signature must be sent back. */
export function createAnthropicMessages(): WireFormat {
  const memory: Memory = { thinkings: new Map(), thoughtCalls: new Set() };
  return {
    name: "anthropic-messages",
    hasPath: (path) => path === "/v1/messages" || path === "/v1/messages/count_tokens",
    findKey: ({ headers }) =>
      headers.get("x-api-key") ?? /^Bearer (.+)$/.exec(headers.get("authorization") ?? "")?.[1] ?? null,
    read: (request) => readRequest(request, memory),
    renderRejection,
  };
}

function renderRejection({ message, status }: Rejection): Response {
  const type = status === 401 ? "authentication_error" : "invalid_request_error";
  return Response.json(
    { type: "error", error: { type, message }, request_id: `req_${makeId(24)}` },
    { status },
  );
}

const FIELDS = new Set(
  `cache_control container context_management inference_geo max_tokens mcp_servers messages metadata model output_config
  output_format service_tier speed stop_sequences stream system temperature thinking tool_choice tools top_k
  top_p`.split(/\s+/),
);

function readRequest(request: IncomingRequest, memory: Memory): ReadRequest | Response {
  const { body, headers, path } = request;
  if (headers.get("anthropic-version") === null) reject("anthropic-version: header is required");
  const model = textAt(body["model"], "model");
  const thinking = readThinking(body);
  const isCounting = path.endsWith("/count_tokens");
  if (!isCounting) requireFields(body);
  requireFewCacheMarks(body);
  const messages = listAt(body["messages"], "messages").map((message, index) =>
    readMessage(message, `messages.${index}`, headers),
  );
  const turns = joinTurns(messages);
  requirePairs(turns);
  const losses = thinking === "off" ? [] : checkThinking(turns, thinking, memory);
  if (isCounting) return Response.json({ input_tokens: Math.ceil(JSON.stringify(body).length / 4) });
  const toolChoice = objectsIn([body["tool_choice"]])[0];
  const conversation: Conversation = {
    tools: readTools(body["tools"]),
    entries: turns.flatMap(({ blocks, role }) => blocks.map(({ block }) => entryOf(block, role))),
    allowsParallelCalls: toolChoice?.["disable_parallel_tool_use"] !== true,
  };
  const display = objectsIn([body["thinking"]])[0]?.["display"];
  return {
    conversation,
    losses,
    answer(reply, usage) {
      const blocks = blocksOf(reply, thinking !== "off", display === "omitted", memory);
      return body["stream"] === true
        ? stream(model, blocks, reply, usage)
        : whole(model, blocks, reply, usage);
    },
  };
}

function requireFields(body: JsonObject): void {
  for (const name of Object.keys(body)) {
    if (!FIELDS.has(name)) reject(`${name}: Extra inputs are not permitted`);
  }
  if (typeof body["max_tokens"] !== "number") reject("max_tokens: Field required");
}

type Thinking = "off" | "enabled" | "adaptive";

function readThinking(body: JsonObject): Thinking {
  if (body["thinking"] === undefined) return "off";
  const { type, budget_tokens: budget } = objectAt(body["thinking"], "thinking");
  if (type === "disabled") return "off";
  if (type !== "enabled" && type !== "adaptive") {
    reject(
      `thinking: Input tag '${type}' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'`,
    );
  }
  if (type === "enabled" && (typeof budget !== "number" || budget < 1024)) {
    reject("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
  }
  if (body["temperature"] !== undefined && body["temperature"] !== 1) {
    reject("`temperature` may only be set to 1 when thinking is enabled.");
  }
  const choice = objectsIn([body["tool_choice"]])[0]?.["type"];
  if (choice === "any" || choice === "tool") {
    reject("Thinking may not be enabled when tool_choice forces tool use.");
  }
  return type;
}

const MAX_CACHE_MARKS = 4;

function requireFewCacheMarks(body: JsonObject): void {
  const contents = objectsIn(body["messages"]).flatMap(({ content }) => objectsIn(content));
  const marked = [...objectsIn(body["system"]), ...objectsIn(body["tools"]), ...contents].filter((part) =>
    isObject(part["cache_control"]),
  );
  if (marked.length > MAX_CACHE_MARKS) {
    reject(`A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`);
  }
}

function readTools(tools: unknown): OfferedTool[] {
  if (tools === undefined) return [];
  const names = new Set<string>();
  return listAt(tools, "tools").map((entry, index): OfferedTool => {
    const tool = objectAt(entry, `tools.${index}`);
    const name = textAt(tool["name"], `tools.${index}.custom.name`);
    if (!/^[\w-]{1,128}$/.test(name)) {
      reject(`tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    }
    if (names.has(name)) reject("tools: Tool names must be unique.");
    names.add(name);
    // A hosted tool has a type and no schema.
    if (typeof tool["type"] === "string" && tool["type"] !== "custom") return { name, parameters: {} };
    const schema = objectAt(tool["input_schema"], `tools.${index}.custom.input_schema`);
    if (schema["type"] !== "object") {
      reject(`tools.${index}.custom.input_schema.type: Input should be 'object'`);
    }
    return { name, parameters: schema };
  });
}

interface PlacedBlock {
  readonly block: JsonObject;
  readonly place: string;
}

interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly place: string;
  readonly blocks: readonly PlacedBlock[];
}

/** Betas that allow system messages at any position. */
const SYSTEM_MESSAGES_BETA = /mid-conversation/;

function readMessage(message: unknown, place: string, headers: Headers): Turn {
  const { role, content } = objectAt(message, place);
  const takesSystem = SYSTEM_MESSAGES_BETA.test(headers.get("anthropic-beta") ?? "");
  if (role !== "user" && role !== "assistant" && !(role === "system" && takesSystem)) {
    reject(`messages: Unexpected role "${role}". Allowed roles are "user" or "assistant".`);
  }
  if (typeof content === "string") {
    if (content === "") reject(`${place}: user messages must have non-empty content`);
    return { role, place, blocks: [{ block: { type: "text", text: content }, place }] };
  }
  const blocks = listAt(content, `${place}.content`).map((entry, index) => {
    const block = objectAt(entry, `${place}.content.${index}`);
    requireBlock(block, role, `${place}.content.${index}`);
    return { block, place: `${place}.content.${index}` };
  });
  if (blocks.length === 0) reject(`${place}: all messages must have non-empty content`);
  return { role, place, blocks };
}

const BLOCK_TYPES: Readonly<Record<Turn["role"], ReadonlySet<string>>> = {
  system: new Set(["text"]),
  user: new Set(["text", "image", "document", "tool_result", "search_result", "container_upload"]),
  assistant: new Set(["text", "tool_use", "thinking", "redacted_thinking", "server_tool_use", "fallback"]),
};

function requireBlock(block: JsonObject, role: Turn["role"], place: string): void {
  const { type } = block;
  if (typeof type !== "string" || !BLOCK_TYPES[role].has(type)) {
    reject(
      `${place}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${[...BLOCK_TYPES[role]].join(", ")}`,
    );
  }
  if (type === "text" && textAt(block["text"], `${place}.text`) === "") {
    reject("messages: text content blocks must be non-empty");
  }
  if (type === "tool_use") {
    if (!/^[\w-]+$/.test(textAt(block["id"], `${place}.tool_use.id`))) {
      reject(`${place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
    }
    textAt(block["name"], `${place}.tool_use.name`);
    if (!isObject(block["input"])) reject(`${place}.tool_use.input: Input should be a valid dictionary`);
  }
  if (type === "tool_result") textAt(block["tool_use_id"], `${place}.tool_result.tool_use_id`);
}

/** Joins consecutive messages of one role into turns. System messages are not part of turns. */
function joinTurns(messages: readonly Turn[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const last = turns.at(-1);
    if (last?.role === message.role) {
      turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...message.blocks] };
    } else turns.push(message);
  }
  return turns;
}

function blocksOfType({ blocks }: Turn, type: string): readonly PlacedBlock[] {
  return blocks.filter(({ block }) => block["type"] === type);
}

/**
 * Requires every call to have its result at the beginning of the next turn, and every result its call in the
 * previous turn.
 */
function requirePairs(turns: readonly Turn[]): void {
  if (turns[0]?.role !== "user") reject('messages: first message must use the "user" role');
  for (const [index, turn] of turns.entries()) {
    const calls = blocksOfType(turn, "tool_use").map(({ block }) => String(block["id"]));
    if (new Set(calls).size < calls.length) reject(`${turn.place}: \`tool_use\` ids must be unique`);
    const next = turns[index + 1];
    const answered = leadingResults(next).map(({ block }) => String(block["tool_use_id"]));
    const open = calls.filter((id) => !answered.includes(id));
    if (open.length > 0) {
      reject(
        `${turn.place}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
    if (next !== undefined) requireCalls(next, new Set(calls));
  }
  if (turns[0] !== undefined) requireCalls(turns[0], new Set());
}

function leadingResults(turn: Turn | undefined): readonly PlacedBlock[] {
  if (turn === undefined) return [];
  const end = turn.blocks.findIndex(({ block }) => block["type"] !== "tool_result");
  return end < 0 ? turn.blocks : turn.blocks.slice(0, end);
}

function requireCalls(turn: Turn, calls: ReadonlySet<string>): void {
  const seen = new Set<string>();
  if (turn.role !== "user") return;
  for (const { block, place } of blocksOfType(turn, "tool_result")) {
    const id = String(block["tool_use_id"]);
    if (!calls.has(id)) {
      reject(
        `${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (seen.has(id))
      reject(
        `${place}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    seen.add(id);
  }
}

/**
 * Requires thinking to come back unchanged, before the calls that were made after it. With adaptive thinking
 * the real vendor allows it to be omitted; here that counts as a loss.
 */
function checkThinking(turns: readonly Turn[], thinking: Thinking, memory: Memory): string[] {
  for (const turn of turns)
    for (const placed of blocksOfType(turn, "thinking")) requireSigned(placed, memory);
  const lastWords = turns.findLastIndex(
    (turn) => turn.role === "user" && blocksOfType(turn, "tool_result").length === 0,
  );
  return turns.slice(lastWords + 1).flatMap((turn): string[] => {
    const wasThought = blocksOfType(turn, "tool_use").some(({ block }) =>
      memory.thoughtCalls.has(String(block["id"])),
    );
    const first = turn.blocks[0];
    const type = String(first?.block["type"]);
    if (!wasThought || type === "thinking" || type === "redacted_thinking") return [];
    const message = `${first?.place}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). To avoid this requirement, disable \`thinking\`.`;
    return thinking === "enabled" ? reject(message) : [message];
  });
}

function requireSigned({ block, place }: PlacedBlock, { thinkings }: Memory): void {
  const { signature, thinking } = block;
  if (typeof signature !== "string") reject(`${place}.thinking.signature: Field required`);
  if (typeof thinking !== "string") reject(`${place}.thinking.thinking: Field required`);
  const given = thinkings.get(signature);
  if (given === undefined) reject(`${place}: Invalid \`signature\` in \`thinking\` block`);
  if (given !== thinking) {
    reject(
      `${place}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
    );
  }
}

function entryOf(block: JsonObject, role: Turn["role"]): Entry {
  switch (block["type"]) {
    case "tool_use":
      return { kind: "call", id: String(block["id"]), name: String(block["name"]) };
    case "tool_result":
      return { kind: "result", id: String(block["tool_use_id"]), text: joinTexts(block["content"]) };
    default:
      return { kind: "text", role, text: joinTexts([block]) };
  }
}

/** Returns the reply as complete content blocks. */
function blocksOf(reply: Reply, thinks: boolean, isOmitted: boolean, memory: Memory): JsonObject[] {
  const signature = Buffer.from(makeId(160)).toString("base64");
  const thinking = isOmitted ? "" : reply.reasoning;
  const calls = reply.calls.map((call) => ({
    type: "tool_use",
    id: `toolu_01${makeId(22)}`,
    name: call.name,
    input: call.arguments,
  }));
  if (thinks) {
    memory.thinkings.set(signature, thinking);
    for (const { id } of calls) memory.thoughtCalls.add(id);
  }
  return [
    ...(thinks ? [{ type: "thinking", thinking, signature }] : []),
    { type: "text", text: reply.text },
    ...calls,
  ];
}

function messageOf(model: string): JsonObject {
  return { id: `msg_01${makeId(22)}`, type: "message", role: "assistant", model };
}

function usageOf({ input, output }: VendorUsage): JsonObject {
  return {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    service_tier: "standard",
  };
}

function stopReasonOf({ calls }: Reply): string {
  return calls.length > 0 ? "tool_use" : "end_turn";
}

function whole(model: string, content: readonly JsonObject[], reply: Reply, usage: VendorUsage): Response {
  return Response.json({
    ...messageOf(model),
    content,
    stop_reason: stopReasonOf(reply),
    stop_sequence: null,
    usage: usageOf(usage),
  });
}

function stream(model: string, blocks: readonly JsonObject[], reply: Reply, usage: VendorUsage): Response {
  const message = {
    ...messageOf(model),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf({ ...usage, output: 1 }),
  };
  const delta = { stop_reason: stopReasonOf(reply), stop_sequence: null };
  const events = [
    { type: "message_start", message },
    { type: "ping" },
    ...blocks.flatMap((block, index) => eventsOfBlock(block, index)),
    { type: "message_delta", delta, usage: usageOf(usage) },
    { type: "message_stop" },
  ];
  return streamEvents(events.map((data): StreamEvent => ({ event: data.type, data })));
}

function eventsOfBlock(block: JsonObject, index: number): { type: string }[] {
  const deltas = deltasOf(block).map((delta) => ({ type: "content_block_delta", index, delta }));
  return [
    { type: "content_block_start", index, content_block: emptied(block) } as { type: string },
    ...deltas,
    { type: "content_block_stop", index } as { type: string },
  ];
}

/** Returns a block as a stream begins it. */
function emptied(block: JsonObject): JsonObject {
  switch (block["type"]) {
    case "thinking":
      return { ...block, thinking: "", signature: "" };
    case "tool_use":
      return { ...block, input: {} };
    default:
      return { ...block, text: "" };
  }
}

function deltasOf(block: JsonObject): JsonObject[] {
  switch (block["type"]) {
    case "thinking":
      return [
        ...cutText(String(block["thinking"])).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: block["signature"] },
      ];
    case "tool_use":
      return ["", ...cutText(JSON.stringify(block["input"]))].map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      }));
    default:
      return cutText(String(block["text"])).map((text) => ({ type: "text_delta", text }));
  }
}
