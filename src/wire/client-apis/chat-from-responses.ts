import { parseFields } from "../../base/json/check-fields.ts";
import { type Fields, omit } from "../../base/json/fields.ts";
import { allFields, type JsonNode, memberOf, scanJson } from "../../base/json/scan.ts";
import { flattenTools } from "../canonical/fit/flatten-tools.ts";
import type { ConversationRequest, Tool } from "../canonical/model/request.ts";
import { TRAITS } from "../openai-chat/traits.ts";
import { openaiChat } from "../openai-chat/translate/codec.ts";
import { scanResponsesRequest } from "../openai-responses/passthrough/scan-request.ts";
import { openaiResponses } from "../openai-responses/translate/codec.ts";
import { hoistTools } from "../openai-responses/translate/request/hoist-tools.ts";

/**
 * Returns the body of a chat completion request. Cursor sends bodies in the form of Responses to this endpoint, and reads answers of this
 * API: these are converted before anything else reads them. All others are returned unchanged.
 * @throws GatewayError `invalid_request` as `scanResponsesRequest`.
 */
export function toChatBody(bytes: Buffer): Buffer {
  return hasMessages(bytes) || !isOfResponses(bytes) ? bytes : convert(bytes);
}

/** The beginning of a body, in which nearly all chat requests have their messages. Bytes. */
const HEAD_BYTES = 4_096;
const MESSAGES = /"messages"\s*:\s*\[/;

/** Whether a body certainly has messages. A property of that name in a tool's schema is an object. */
function hasMessages(bytes: Buffer): boolean {
  return MESSAGES.test(bytes.toString("latin1", 0, Math.min(bytes.length, HEAD_BYTES)));
}

const SHAPE = allFields({});

function isOfResponses(bytes: Buffer): boolean {
  if (!bytes.includes('"input"')) return false;
  const root = scanRoot(bytes);
  const isAbsent = (name: string): boolean => (memberOf(root, name)?.kind ?? "null") === "null";
  return isAbsent("messages") && !isAbsent("input");
}

/** Undefined for a body that is no JSON, which the parser reports. */
function scanRoot(bytes: Buffer): JsonNode | undefined {
  try {
    return scanJson(bytes.toString("latin1"), SHAPE);
  } catch {
    return undefined;
  }
}

/** Fields of Responses that the chat API has in another form, or that mean nothing in it. */
const CONVERTED: ReadonlySet<string> = new Set([
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "text",
  "max_output_tokens",
  "max_tool_calls",
  "include",
  "top_logprobs",
  "truncation",
  "background",
  "context_management",
]);

function convert(bytes: Buffer): Buffer {
  const { text, model } = scanResponsesRequest(bytes);
  const given = parseFields(bytes.toString("utf8"), text);
  // How much it reasons is decided for the endpoint; the chat API takes the same object.
  const request = { ...withChatTools(openaiResponses.decodeRequest(given)), reasoning: null };
  const { body } = openaiChat.encodeRequest(request, { name: model, maxOutputTokens: null, reasoning: null });
  return Buffer.from(JSON.stringify({ ...omit(body, STREAM_OPTIONS), ...omit(given, CONVERTED) } as Fields));
}

/** The encoder asks for the usage of streams, which the client has asked for or not. */
const STREAM_OPTIONS: ReadonlySet<string> = new Set(["stream_options"]);

/** Returns a request whose tools have the form of chat tools. Those that only a vendor runs stay, and are named if they are left out. */
function withChatTools(request: ConversationRequest): ConversationRequest {
  const flat = flattenTools(hoistTools(request), { format: TRAITS, takesCustomTools: true }).request;
  return { ...flat, tools: flat.tools.map(toChatTool) };
}

function toChatTool(tool: Tool): Tool {
  return tool.kind === "native" ? { ...tool, format: TRAITS.name } : tool;
}
