import {
  type CountedScan,
  isTrue,
  type JsonNode,
  numberOf,
  sliceOf,
  stringOf,
  stringViewOf,
} from "../../../base/json/scan.ts";
import { scanBody } from "../../../base/json/scan-body.ts";
import { applySplices } from "../../../base/json/splice.ts";
import { checkResultIds } from "../../conversation/calls/check-result-ids.ts";
import type { OutlineAssistant, OutlineMessage, OutlineResult } from "../../conversation/calls/outline.ts";
import { NO_ROUTING, readRoutingMembers } from "../../conversation/preferences.ts";
import { countPromptBytes, type PromptNodes, sizeOf } from "../../conversation/prompt-nodes.ts";
import type { RequestOutline, ScannedRequest } from "../../conversation/scanned-request.ts";
import { type ChatMedia, type ChatMessages, checkChatRequest } from "./check-request.ts";
import { correctRequest } from "./correct-request.ts";
import type { MessageFacts } from "./fit-scanned.ts";
import { replaceLegacyFunctions } from "./legacy-functions.ts";
import {
  CHAT_REQUEST_SHAPE,
  type ChatBody,
  type ChatCall,
  type ChatMessage,
  type ChatTool,
  MARKS,
} from "./request-shape.ts";
import { readRole } from "./role.ts";

/** A chat completion request that was scanned and checked. Its bytes are unchanged; the nodes give the positions of its values. */
export interface ScannedChatRequest extends ScannedRequest {
  readonly root: ChatBody;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  /** The parts with images, files, audio and video. */
  readonly media: readonly ChatMedia[];
  /** The facts about the messages that some host may not accept. */
  readonly facts: MessageFacts;
  /** It is certain that hosts that take any id accept its tool calls and results as they are. */
  readonly hasCallsInOrder: boolean;
  /** Whether fields may identify its conversation or user, or are tags. */
  readonly hasHints: boolean;
  /** The number of answers (`n`). */
  readonly answers: number;
  /** Whether the client asked for a usage chunk (`stream_options.include_usage`). */
  readonly wantsUsageChunk: boolean;
  /** The request has tools or calls of type `custom`. */
  readonly hasCustomTools: boolean;
  /** A tool or a call has a name that is longer than chat hosts accept. */
  readonly hasLongNames: boolean;
  /** It uses the deprecated function fields, so its answer must use `function_call`. */
  readonly usesFunctions: boolean;
}

/**
 * Scans and checks a request's body (docs/api/chat.md, "Request"), after non-standard spellings of clients were corrected
 * in it.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model` for a malformed model id.
 */
export function scanChatRequest(bytes: Buffer): ScannedChatRequest {
  return scanBody(bytes, CHAT_REQUEST_SHAPE, readChatRequest);
}

/**
 * Reads a body that was scanned. Does not search for values that the marks of the scan exclude. `text` is the body, bytes as Latin-1.
 * @throws as `scanChatRequest`.
 */
export function readChatRequest(
  text: string,
  scan: CountedScan<ChatBody>,
  bytes: Buffer,
): ScannedChatRequest {
  const { root, values, nodes, marks } = scan;
  const legacy = replaceLegacyFunctions(text, scan);
  if (legacy !== null) {
    const { splices, usesFunctions } = legacy;
    return { ...scanChatRequest(applySplices(bytes, splices)), usesFunctions };
  }
  const { splices, hasCustomTools, hasLongNames } = correctRequest(text, scan);
  if (splices.length > 0) return scanChatRequest(applySplices(bytes, splices));
  const checked = checkChatRequest(text, root);
  const { hasResults, areInOrder, media } = checked;
  const { fields } = root;
  const messages = fields.messages?.items ?? [];
  const prompt = toPrompt(fields, checked);
  const hasCalls = hasResults || (marks & MARKS.tools) !== 0;
  const outline = hasCalls ? new ChatOutline(text, messages) : NO_CALLS;
  if (!areInOrder) checkResultIds(outline.read());
  const isRouted = (marks & MARKS.routing) !== 0;
  const { fallbackModels, preferences, preset } = isRouted ? readRoutingMembers(text, root) : NO_ROUTING;
  return {
    fallbackModels,
    preferences,
    preset,
    bytes,
    text,
    root,
    messages,
    tools: fields.tools?.items ?? [],
    media,
    facts: checked,
    values,
    nodes,
    model: stringOf(text, fields.model) as string,
    stream: isTrue(text, fields.stream),
    maxTokens: numberOf(text, fields.max_completion_tokens) ?? numberOf(text, fields.max_tokens),
    answers: numberOf(text, fields.n) ?? 1,
    wantsUsageChunk: isTrue(text, fields.stream_options?.fields.include_usage),
    outline,
    hasCallsInOrder: areInOrder,
    hasHints: (marks & MARKS.hints) !== 0,
    promptTextBytes: countPromptBytes(prompt),
    prompt,
    hasCustomTools,
    hasLongNames,
    usesFunctions: false,
  };
}

/** The outline of a request whose messages may have calls or results. */
class ChatOutline implements RequestOutline {
  private outlined: readonly OutlineMessage[] | null = null;

  constructor(
    private readonly text: string,
    private readonly messages: readonly ChatMessage[],
  ) {}

  read(): readonly OutlineMessage[] {
    this.outlined ??= this.messages.map((message, at) => outlineMessage(this.text, message, at));
    return this.outlined;
  }
}

/** The outline of a request without calls and results. */
const NO_CALLS: RequestOutline = { read: () => [] };

function outlineMessage(text: string, message: ChatMessage, at: number): OutlineMessage {
  const role = readRole(text, message);
  if (role === "tool") {
    const callId = stringViewOf(text, message.fields.tool_call_id) ?? "";
    return new ResultOutline(text, callId, { at, content: message.fields.content });
  }
  if (role !== "assistant") return OTHER;
  return new AssistantOutline(text, message.fields.tool_calls?.items ?? []);
}

const OTHER: OutlineMessage = { kind: "other" };

class ResultOutline implements OutlineResult {
  readonly kind = "result";
  readonly field?: string;
  private readonly content: JsonNode | undefined;

  constructor(
    private readonly text: string,
    readonly callId: string,
    { at, content }: { readonly at: number; readonly content: JsonNode | undefined },
  ) {
    this.content = content;
    if (callId === "") this.field = `messages[${at}].tool_call_id`;
  }

  describeResult(): string {
    return sliceOf(this.text, this.content);
  }
}

class AssistantOutline implements OutlineAssistant {
  readonly kind = "assistant";
  private ids: readonly string[] | null = null;

  constructor(
    private readonly text: string,
    private readonly calls: readonly ChatCall[],
  ) {}

  get callIds(): readonly string[] {
    this.ids ??= this.calls.map((call) => stringViewOf(this.text, call.fields.id) ?? "");
    return this.ids;
  }

  /** Returns name and arguments of a call as they came; the whole call for kinds that have neither. */
  describeCall(index: number): string {
    const call = this.calls[index];
    const fn = call?.fields.function ?? call;
    return sliceOf(this.text, fn);
  }
}

/** Media are left out, because their tokens do not depend on their bytes. */
function toPrompt(
  { tools, response_format }: ChatBody["fields"],
  { texts, mayHaveMedia }: ChatMessages,
): PromptNodes {
  const hasSchemas = tools !== undefined || response_format !== undefined;
  return { texts, otherBytes: tools?.items ? sizeOf(tools) : 0, mayHaveMedia, hasSchemas };
}
