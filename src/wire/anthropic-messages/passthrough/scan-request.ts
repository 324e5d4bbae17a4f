import {
  type CountedScan,
  isTrue,
  isWord,
  type JsonNode,
  lookUp,
  memberOf,
  NO_NODES,
  numberOf,
  sliceOf,
  stringOf,
  stringViewOf,
  wordTable,
} from "../../../base/json/scan.ts";
import { scanBody } from "../../../base/json/scan-body.ts";
import { applySplices, type Splice } from "../../../base/json/splice.ts";
import { ENVELOPE_START } from "../../canonical/model/reasoning-envelope.ts";
import { checkResultIds } from "../../conversation/calls/check-result-ids.ts";
import type { OutlineMessage, OutlineResult } from "../../conversation/calls/outline.ts";
import { correctMediaType } from "../../conversation/media-types.ts";
import { readRoutingMembers } from "../../conversation/preferences.ts";
import { countPromptBytes, type PromptNodes, sizeOf } from "../../conversation/prompt-nodes.ts";
import type { ScannedRequest } from "../../conversation/scanned-request.ts";
import { checkMessagesRequest } from "./check-request.ts";
import {
  MESSAGES_REQUEST_SHAPE,
  type MessagesBlock,
  type MessagesBody,
  type MessagesMessage,
} from "./request-shape.ts";

/** A Messages request that was scanned and checked. Its bytes are unchanged; the nodes give the positions of its values. */
export interface ScannedMessagesRequest extends ScannedRequest {
  readonly root: MessagesBody;
  readonly messages: readonly MessagesMessage[];
  /** Tokens that the model may think; 0 if none are set. */
  readonly thinkingBudget: number;
  /** The vendor may shorten the conversation before its model sees it. */
  readonly mayBeShortened: boolean;
  /**
   * Another vendor's reasoning may travel in it (canonical/reasoning-envelope). Then the bytes cannot be forwarded:
   * an upstream of this format would reject the signature.
   */
  readonly mayCarryReasoning: boolean;
}

/**
 * Scans and checks the body of a Messages request.
 * @throws GatewayError `invalid_request`, which names the field and the remedy; `invalid_model` for a malformed model id.
 */
export function scanMessagesRequest(bytes: Buffer): ScannedMessagesRequest {
  return scanBody(bytes, MESSAGES_REQUEST_SHAPE, readScanned);
}

function readScanned(
  text: string,
  { root, values, nodes }: CountedScan<MessagesBody>,
  bytes: Buffer,
): ScannedMessagesRequest {
  const messages = root.fields.messages?.items ?? [];
  const corrections = correctMedia(text, messages);
  if (corrections.length > 0) return scanMessagesRequest(applySplices(bytes, corrections));
  checkMessagesRequest(text, root);
  const prompt = findPrompt(text, root, messages);
  const outline = messages.flatMap((message, at) => outlineMessage(text, message, at));
  checkResultIds(outline);
  const { fallbackModels, preferences, preset } = readRoutingMembers(text, root);
  return {
    fallbackModels,
    preferences,
    preset,
    bytes,
    text,
    root,
    messages,
    values,
    nodes,
    model: stringOf(text, root.fields.model) as string,
    stream: isTrue(text, root.fields.stream),
    maxTokens: numberOf(text, root.fields.max_tokens),
    thinkingBudget: numberOf(text, root.fields.thinking?.fields.budget_tokens) ?? 0,
    promptTextBytes: countPromptBytes(prompt),
    prompt,
    mayBeShortened: root.fields.context_management?.kind === "object",
    outline: { read: () => outline },
    // Searched in the bytes, which is many times faster than in the text.
    mayCarryReasoning: bytes.includes(ENVELOPE_START),
  };
}

/** Returns the edits that normalize the media types of images and documents. After they are applied, there are none. */
function correctMedia(text: string, messages: readonly MessagesMessage[]): readonly Splice[] {
  const splices: Splice[] = [];
  for (const message of messages)
    for (const block of message.fields.content?.items ?? []) {
      correctMediaType(text, block.fields.source?.fields.media_type, splices);
      for (const part of block.fields.content?.items ?? [])
        correctMediaType(text, part.fields.source?.fields.media_type, splices);
    }
  return splices;
}

/**
 * Returns whether an assistant message contains an image. Models of other vendors generate such images; Anthropic rejects them.
 */
export function hasGeneratedImages({ text, messages }: ScannedMessagesRequest): boolean {
  return messages.some((message) => {
    const blocks = message.fields.content?.items;
    if (!blocks || !isWord(text, message.fields.role, "assistant")) return false;
    return blocks.some((block) => isWord(text, block.fields.type, "image"));
  });
}

const OTHER: OutlineMessage = { kind: "other" };
/** Blocks of calls that the vendor or an MCP server executes. */
const HOSTED_CALLS = wordTable({ server_tool_use: true, mcp_tool_use: true });

function outlineMessage(text: string, message: MessagesMessage, at: number): readonly OutlineMessage[] {
  const blocks = message.fields.content?.items ?? [];
  if (isWord(text, message.fields.role, "assistant")) return [outlineTurn(text, blocks)];
  const outline: OutlineMessage[] = [];
  for (const [index, block] of blocks.entries()) {
    if (isWord(text, block.fields.type, "tool_result")) {
      outline.push(outlineResult(text, block, `messages[${at}].content[${index}]`));
    } else if (outline.at(-1) !== OTHER) outline.push(OTHER);
  }
  return outline.length === 0 ? [OTHER] : outline;
}

function outlineTurn(text: string, blocks: readonly MessagesBlock[]): OutlineMessage {
  const calls = blocks.filter((block) => isWord(text, block.fields.type, "tool_use"));
  const hosted = blocks.filter((block) => lookUp(text, block.fields.type, HOSTED_CALLS));
  const idOf = (block: MessagesBlock): string => stringViewOf(text, block.fields.id) ?? "";
  return {
    kind: "assistant",
    callIds: calls.map(idOf),
    ...(hosted.length === 0 ? {} : { hostedIds: hosted.map(idOf) }),
    describeCall: (index) => describeCall(text, calls[index]),
  };
}

function describeCall(text: string, call: MessagesBlock | undefined): string {
  return `${sliceOf(text, call?.fields.name)} ${sliceOf(text, call?.fields.input)}`;
}

function outlineResult(text: string, block: MessagesBlock, field: string): OutlineResult {
  const callId = stringViewOf(text, block.fields.tool_use_id) ?? "";
  const describeResult = () => sliceOf(text, block.fields.content);
  return callId === ""
    ? { kind: "result", callId, field: `${field}.tool_use_id`, describeResult }
    : { kind: "result", callId, describeResult };
}

function findPrompt(text: string, root: MessagesBody, messages: readonly MessagesMessage[]): PromptNodes {
  const texts: JsonNode[] = [];
  const { tools, output_config, output_format } = root.fields;
  // The present field for the schema of an answer, and the one before.
  const hasSchemas = [tools, output_config, output_format].some((member) => member !== undefined);
  let otherBytes = tools?.items ? sizeOf(tools) : 0;
  let mayHaveMedia = false;
  const addContent = (content: JsonNode | undefined): void => {
    if (content?.kind === "string") texts.push(content);
    for (const block of content?.items ?? NO_NODES) addBlock(block);
  };
  /** Counts texts, thinking, inputs, results and documents of text. The tokens of other media do not depend on their bytes. */
  const addBlock = (block: JsonNode): void => {
    const blockText = memberOf(block, "text");
    if (blockText !== undefined) texts.push(blockText);
    otherBytes += sizeOf(memberOf(block, "thinking")) + sizeOf(memberOf(block, "input"));
    const source = memberOf(block, "source");
    mayHaveMedia ||= source !== undefined;
    const data = isWord(text, memberOf(source, "type"), "text") ? memberOf(source, "data") : undefined;
    if (data !== undefined) texts.push(data);
    addContent(memberOf(block, "content"));
  };
  for (const message of messages) addContent(message.fields.content);
  addContent(root.fields.system);
  return { texts, otherBytes, mayHaveMedia, hasSchemas };
}
