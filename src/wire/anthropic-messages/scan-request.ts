import { ENVELOPE_START } from "../canonical/reasoning-envelope.ts";
import type { OutlineMessage } from "../conversation/outline.ts";
import { type ProviderPreferences, readGatewayWishes } from "../conversation/preferences.ts";
import {
  isTrue,
  isWord,
  type JsonNode,
  memberOf,
  numberOf,
  parseMember,
  scanJson,
  stringOf,
} from "../json/scan.ts";
import { scanBody } from "../json/scan-body.ts";
import { checkMessagesRequest } from "./check-request.ts";
import { MESSAGES_REQUEST_SHAPE } from "./request-shape.ts";

/** A Messages request that has passed the door. The bytes stay as they came; the nodes say where things stand. */
export interface ScannedMessagesRequest {
  readonly bytes: Buffer;
  /** The same bytes read as Latin-1. */
  readonly text: string;
  readonly root: JsonNode;
  readonly model: string;
  /** Models to fall back to, in the client's order. */
  readonly fallbackModels: readonly string[];
  readonly preferences: ProviderPreferences;
  readonly stream: boolean;
  /** Null where the client named none. */
  readonly maxTokens: number | null;
  /** Bytes of text in the conversation, media left out; a bound on the prompt's tokens is made of it. */
  readonly promptTextBytes: number;
  /** The calls and results as repair sees them: a user message gives one `result` for each of its results, and `other` for the rest. */
  readonly outline: readonly OutlineMessage[];
  /**
   * Another vendor's reasoning may travel in it (canonical/reasoning-envelope). Then the bytes cannot be forwarded:
   * an upstream of this format would refuse the signature.
   */
  readonly mayCarryReasoning: boolean;
}

/**
 * Reads and checks a request's body.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model` for a malformed id.
 */
export function scanMessagesRequest(bytes: Buffer): ScannedMessagesRequest {
  return scanBody(bytes, (text) => {
    const root = scanJson(text, MESSAGES_REQUEST_SHAPE);
    checkMessagesRequest(text, root);
    return readScanned(bytes, text, root);
  });
}

function readScanned(bytes: Buffer, text: string, root: JsonNode): ScannedMessagesRequest {
  const messages = memberOf(root, "messages")?.items ?? [];
  return {
    bytes,
    text,
    root,
    model: stringOf(text, memberOf(root, "model")) as string,
    ...readGatewayWishes(parseMember(text, root, "models"), parseMember(text, root, "provider")),
    stream: isTrue(text, memberOf(root, "stream")),
    maxTokens: numberOf(text, memberOf(root, "max_tokens")),
    promptTextBytes: countPrompt(text, root, messages),
    outline: messages.flatMap((message) => outlineMessage(text, message)),
    // In bytes it is found many times faster, where there are as many quotes.
    mayCarryReasoning: bytes.includes(ENVELOPE_START),
  };
}

const OTHER: OutlineMessage = { kind: "other" };

function outlineMessage(text: string, message: JsonNode): readonly OutlineMessage[] {
  const blocks = memberOf(message, "content")?.items ?? [];
  if (isWord(text, memberOf(message, "role"), "assistant")) {
    const calls = blocks.filter((block) => isWord(text, memberOf(block, "type"), "tool_use"));
    return [{ kind: "assistant", callIds: calls.map((call) => stringOf(text, memberOf(call, "id")) ?? "") }];
  }
  const outline: OutlineMessage[] = [];
  for (const block of blocks) {
    if (isWord(text, memberOf(block, "type"), "tool_result")) {
      outline.push({ kind: "result", callId: stringOf(text, memberOf(block, "tool_use_id")) ?? "" });
    } else if (outline.at(-1) !== OTHER) outline.push(OTHER);
  }
  return outline.length === 0 ? [OTHER] : outline;
}

function countPrompt(text: string, root: JsonNode, messages: readonly JsonNode[]): number {
  const tools = memberOf(root, "tools");
  return (
    messages.reduce((sum, message) => sum + countContent(text, memberOf(message, "content")), 0) +
    countContent(text, memberOf(root, "system")) +
    (tools?.items ? sizeOf(tools) : 0)
  );
}

function countContent(text: string, content: JsonNode | undefined): number {
  if (content?.kind === "string") return sizeOf(content);
  return (content?.items ?? []).reduce((sum, block) => sum + countBlock(text, block), 0);
}

/** Text, thinking, inputs, results and documents of text. Other media are not text: their bytes say nothing of their tokens. */
function countBlock(text: string, block: JsonNode): number {
  const source = memberOf(block, "source");
  const isText = isWord(text, memberOf(source, "type"), "text");
  return (
    sizeOf(memberOf(block, "text")) +
    sizeOf(memberOf(block, "thinking")) +
    sizeOf(memberOf(block, "input")) +
    (isText ? sizeOf(memberOf(source, "data")) : 0) +
    countContent(text, memberOf(block, "content"))
  );
}

function sizeOf(node: JsonNode | undefined): number {
  return node === undefined ? 0 : node.end - node.start;
}
