import { createHash } from "node:crypto";
import { z } from "zod";
import { countTokens } from "./count-tokens.ts";
import { describeBadRequest, type SandboxError } from "./reply.ts";

/** The model that repeats what the user says. */
export const SANDBOX_MODEL = "echo";

/** The model that calls tools on its own, as the model of an agent does. */
export const SANDBOX_AGENT_MODEL = "agent";

/** The maximum number of choices of an answer. */
const MAX_CHOICES = 8;

/** The maximum number of stop sequences, as at OpenAI. */
const MAX_STOPS = 4;

/** The tokens of an image, file or recording. */
const TOKENS_PER_MEDIUM = 85;

/** Prompts of at least this length are partly cached, in blocks, as at OpenAI. Tokens. */
const CACHED_FROM = 1024;
const CACHE_BLOCK = 128;

export interface SandboxTool {
  readonly name: string;
  /** A JSON Schema; undefined for none. */
  readonly parameters: unknown;
}

/** The fields of a chat request that the sandbox uses. */
export interface SandboxRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** The limit in tokens; null for the sandbox's own. */
  readonly maxTokens: number | null;
  readonly stop: readonly string[];
  readonly choices: number;
  readonly format:
    | { readonly kind: "text" | "json_object" }
    | { readonly kind: "json_schema"; readonly schema: unknown };
  readonly tools: readonly SandboxTool[];
  /** An object if the request names a tool. */
  readonly toolChoice: "none" | "auto" | "required" | { readonly name: string };
  readonly parallelCalls: boolean;
  /** The text of the last user message, including markers; empty if there is none. */
  readonly userText: string;
  /** Whether that message follows the last assistant message. */
  readonly userSpokeLast: boolean;
  /** The texts of the tool results after the last assistant message. */
  readonly results: readonly string[];
  /** The messages that the agent lists in its text: all before the last user message, as `role: text`. Empty for the echo. */
  readonly earlier: readonly string[];
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** A hash of the body. Hexadecimal. */
  readonly fingerprint: string;
}

/** The deepest nesting of tools and schemas, so that they can be serialized as JSON. */
const MAX_NESTING = 200;

function isShallow(value: unknown, left = MAX_NESTING): boolean {
  if (typeof value !== "object" || value === null) return true;
  return left > 0 && Object.values(value).every((child) => isShallow(child, left - 1));
}

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const content = z.union([z.string(), z.array(part)]).nullish();
const call = z.looseObject({
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
});
const message = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content,
  tool_calls: z.array(call).nullish(),
});
const tool = z.looseObject({
  function: z.looseObject({ name: z.string(), parameters: z.unknown().optional() }),
});
const named = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({ name: z.string() }),
});
const schema = z.unknown().refine((value) => isShallow(value), "nested too deeply");
const limit = z.int().min(1).nullish();

/** The schema of `stop`. */
export const stopSequences = z.union([z.string(), z.array(z.string()).max(MAX_STOPS)]).nullish();

const chatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: limit,
  max_completion_tokens: limit,
  stop: stopSequences,
  n: z.int().min(1).max(MAX_CHOICES).nullish(),
  response_format: z
    .discriminatedUnion("type", [
      z.looseObject({ type: z.literal("text") }),
      z.looseObject({ type: z.literal("json_object") }),
      z.looseObject({
        type: z.literal("json_schema"),
        json_schema: z.looseObject({ schema: schema.optional() }),
      }),
    ])
    .nullish(),
  tools: z
    .array(tool)
    .refine((tools) => isShallow(tools), "nested too deeply")
    .nullish(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      named,
      z.looseObject({
        type: z.literal("allowed_tools"),
        allowed_tools: z.looseObject({ mode: z.enum(["auto", "required"]), tools: z.array(named).min(1) }),
      }),
    ])
    .nullish(),
  parallel_tool_calls: z.boolean().nullish(),
});

type ChatRequest = z.infer<typeof chatRequest>;
type Message = ChatRequest["messages"][number];

/** Why a request is rejected, and the status. */
interface Rejected {
  readonly ok: false;
  readonly status: 400 | 404;
  readonly error: SandboxError;
}

/** A request, or why it is rejected. */
export type ReadRequest = { readonly ok: true; readonly request: SandboxRequest } | Rejected;

/** Parses a body and validates it with a schema. */
export function readBody<T>(
  body: Uint8Array | null,
  shape: z.ZodType<T>,
): { readonly ok: true; readonly value: T } | Rejected {
  const json = parseJson(body ?? new Uint8Array());
  if (json === undefined) return reject("We could not parse the JSON body of your request.");
  const parsed = shape.safeParse(json);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issue = parsed.error.issues[0]!;
  const param = issue.path.join(".");
  return reject(`Invalid value for '${param}': ${issue.message}.`, param);
}

/** Parses a chat request. Other fields are ignored, such as `seed` and `temperature`. */
export function readRequest(body: Uint8Array | null): ReadRequest {
  const read = readBody(body, chatRequest);
  if (!read.ok) return read;
  const chat = read.value;
  if (chat.model !== SANDBOX_MODEL && chat.model !== SANDBOX_AGENT_MODEL)
    return { ok: false, status: 404, error: describeUnknownModel(chat.model) };
  const request = readChat(chat, createHash("sha256").update(body!).digest("hex"));
  const { toolChoice } = request;
  const unknown = listNamed(chat).find((name) => !request.tools.some((tool) => tool.name === name));
  if (unknown !== undefined) return reject(`Tool choice '${unknown}' not found in 'tools'.`, "tool_choice");
  if (toolChoice === "required" && request.tools.length === 0) {
    return reject("'tool_choice' is only allowed when 'tools' are specified.", "tool_choice");
  }
  return { ok: true, request };
}

function reject(text: string, param: string | null = null): Rejected {
  return { ok: false, status: 400, error: describeBadRequest(text, param) };
}

function describeUnknownModel(model: string): SandboxError {
  return {
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    type: "invalid_request_error",
    param: null,
    code: "model_not_found",
  };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

function readChat(chat: ChatRequest, fingerprint: string): SandboxRequest {
  return {
    ...readLimits(chat),
    ...readTools(chat),
    ...readConversation(chat.messages),
    ...readModel(chat),
    ...countPrompt(chat),
    stream: chat.stream ?? false,
    includeUsage: chat.stream_options?.include_usage ?? false,
    fingerprint,
  };
}

function readLimits(chat: ChatRequest): Pick<SandboxRequest, "maxTokens" | "stop" | "choices" | "format"> {
  const format = chat.response_format;
  return {
    maxTokens: chat.max_completion_tokens ?? chat.max_tokens ?? null,
    stop: [chat.stop ?? []].flat().filter((sequence) => sequence !== ""),
    choices: chat.n ?? 1,
    format:
      format?.type === "json_schema"
        ? { kind: "json_schema", schema: format.json_schema.schema }
        : { kind: format?.type ?? "text" },
  };
}

function readTools(chat: ChatRequest): Pick<SandboxRequest, "tools" | "toolChoice" | "parallelCalls"> {
  const choice = chat.tool_choice ?? "auto";
  const tools = (chat.tools ?? []).map(({ function: { name, parameters } }) => ({ name, parameters }));
  const parallelCalls = chat.parallel_tool_calls ?? true;
  if (typeof choice === "string") return { tools, toolChoice: choice, parallelCalls };
  if (isNamed(choice)) return { tools, toolChoice: { name: choice.function.name }, parallelCalls };
  const allowed = new Set(listNamed(chat));
  return {
    tools: tools.filter(({ name }) => allowed.has(name)),
    toolChoice: choice.allowed_tools.mode,
    parallelCalls,
  };
}

type ToolChoice = Exclude<ChatRequest["tool_choice"], string | null | undefined>;

function isNamed(choice: ToolChoice): choice is z.infer<typeof named> {
  return choice.type === "function";
}

/** Returns the names of the tools that `tool_choice` names. */
function listNamed({ tool_choice: choice }: ChatRequest): readonly string[] {
  if (choice === null || choice === undefined || typeof choice === "string") return [];
  const chosen = isNamed(choice) ? [choice] : choice.allowed_tools.tools;
  return chosen.map((tool) => tool.function.name);
}

function readConversation(
  messages: readonly Message[],
): Pick<SandboxRequest, "userText" | "userSpokeLast" | "results"> {
  const lastAssistant = messages.findLastIndex(({ role }) => role === "assistant");
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const results = messages
    .slice(lastAssistant + 1)
    .filter(({ role }) => role === "tool" || role === "function");
  return {
    userText: lastUser < 0 ? "" : readText(messages[lastUser]!),
    userSpokeLast: lastUser > lastAssistant,
    results: results.map(readText),
  };
}

function readModel({ model, messages }: ChatRequest): Pick<SandboxRequest, "model" | "earlier"> {
  if (model !== SANDBOX_AGENT_MODEL) return { model, earlier: [] };
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  return { model, earlier: messages.slice(0, Math.max(lastUser, 0)).map(describeMessage) };
}

/** Describes a message: its role, its text, the types of its other parts, and the names of its calls. */
function describeMessage(message: Message): string {
  const { role, content, tool_calls: calls } = message;
  const parts = Array.isArray(content) ? content.filter(({ text }) => text === undefined) : [];
  const names = [
    ...parts.map(({ type }) => type),
    ...(calls ?? []).map((call) => `call of ${call.function?.name}`),
  ];
  const text = readText(message);
  return `${role}: ${[...(text === "" ? [] : [text]), ...names.map((name) => `[${name}]`)].join(" ")}`;
}

function readText({ content }: Message): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text }) => text ?? "").join("");
}

function countPrompt(chat: ChatRequest): Pick<SandboxRequest, "promptTokens" | "cachedTokens"> {
  const tools = chat.tools?.length ? countTokens(JSON.stringify(chat.tools)) : 0;
  const counts = chat.messages.map(countMessage);
  const promptTokens = counts.reduce((sum, count) => sum + count, tools);
  const known = promptTokens - counts.at(-1)!;
  const cachedTokens = promptTokens < CACHED_FROM ? 0 : Math.floor(known / CACHE_BLOCK) * CACHE_BLOCK;
  return { promptTokens, cachedTokens };
}

function countMessage(message: Message): number {
  const calls = (message.tool_calls ?? []).map((call) => `${call.function?.name}${call.function?.arguments}`);
  const media = Array.isArray(message.content)
    ? message.content.filter(({ text }) => text === undefined)
    : [];
  return countTokens(readText(message) + calls.join("")) + media.length * TOKENS_PER_MEDIUM;
}
