import { checkResultIds } from "../../conversation/check-result-ids.ts";
import type { OutlineMessage } from "../../conversation/outline.ts";
import { type ProviderPreferences, readRoutingParameters } from "../../conversation/preferences.ts";
import { countPromptBytes, type PromptNodes, sizeOf } from "../../conversation/prompt-nodes.ts";
import {
  type CountedScan,
  isTrue,
  type JsonNode,
  memberOf,
  numberOf,
  parseMember,
  stringOf,
} from "../../json/scan.ts";
import { scanBody } from "../../json/scan-body.ts";
import { applySplices } from "../../json/splice.ts";
import { checkChatRequest } from "./check-request.ts";
import { correctRequest } from "./correct-request.ts";
import { modernise } from "./legacy-functions.ts";
import { CHAT_REQUEST_SHAPE } from "./request-shape.ts";
import { readRole } from "./role.ts";

/** A chat completion request that has passed the door. The bytes stay as they came; the nodes say where things stand. */
export interface ScannedChatRequest {
  readonly bytes: Buffer;
  /** The same bytes read as Latin-1. */
  readonly text: string;
  readonly root: JsonNode;
  /** About how many values the body has, and of how many it is known where they stand. */
  readonly values: number;
  readonly nodes: number;
  readonly model: string;
  /** Models to fall back to, in the client's order. */
  readonly fallbackModels: readonly string[];
  readonly preferences: ProviderPreferences;
  readonly stream: boolean;
  /** The most tokens an answer may have, in either spelling; null where the client does not say. */
  readonly maxTokens: number | null;
  /** How many answers it wants. */
  readonly answers: number;
  /** The client asked for the usage in a chunk of its own. */
  readonly wantsUsageChunk: boolean;
  readonly outline: readonly OutlineMessage[];
  /** Bytes of text in the conversation, media left out; a bound on the prompt's tokens is made of it. */
  readonly promptTextBytes: number;
  readonly prompt: PromptNodes;
  /** It has tools of type `custom`, or calls of such. */
  readonly hasCustomTools: boolean;
  /** It speaks of functions in the fields that came before tools; its answer has to do so too. */
  readonly usesFunctions: boolean;
}

/**
 * Reads and checks a request's body (specification 2.1 to 2.3 and 8; docs/contract.md, "Chat completions"), after what
 * clients spell otherwise was corrected in it.
 * @throws GatewayError `invalid_request` that names the field and the remedy, `invalid_model` for a malformed id.
 */
export function scanChatRequest(bytes: Buffer): ScannedChatRequest {
  return scanBody(bytes, CHAT_REQUEST_SHAPE, (text, scan) => {
    const { root } = scan;
    const modern = modernise(text, root);
    if (modern !== null) {
      const { splices, usesFunctions } = modern;
      return { ...scanChatRequest(applySplices(bytes, splices)), usesFunctions };
    }
    const { splices, hasCustomTools } = correctRequest(text, root);
    if (splices.length > 0) return scanChatRequest(applySplices(bytes, splices));
    checkChatRequest(text, root);
    return readChatRequest(bytes, text, scan, hasCustomTools);
  });
}

function readChatRequest(
  bytes: Buffer,
  text: string,
  { root, values, nodes }: CountedScan,
  hasCustomTools: boolean,
): ScannedChatRequest {
  const messages = memberOf(root, "messages")?.items ?? [];
  const streamOptions = memberOf(root, "stream_options");
  const prompt = findPrompt(root, messages);
  const outline = messages.map((message, at) => readOutline(text, message, at));
  checkResultIds(outline);
  return {
    bytes,
    text,
    root,
    values,
    nodes,
    model: stringOf(text, memberOf(root, "model")) as string,
    ...readRoutingParameters(parseMember(text, root, "models"), parseMember(text, root, "provider")),
    stream: isTrue(text, memberOf(root, "stream")),
    maxTokens: maxTokensOf(text, root),
    answers: numberOf(text, memberOf(root, "n")) ?? 1,
    wantsUsageChunk: isTrue(text, memberOf(streamOptions, "include_usage")),
    outline,
    promptTextBytes: countPromptBytes(prompt),
    prompt,
    hasCustomTools,
    usesFunctions: false,
  };
}

function maxTokensOf(text: string, root: JsonNode): number | null {
  return (
    numberOf(text, memberOf(root, "max_completion_tokens")) ?? numberOf(text, memberOf(root, "max_tokens"))
  );
}

function readOutline(text: string, message: JsonNode, at: number): OutlineMessage {
  const role = readRole(text, message);
  if (role === "tool") {
    const callId = stringOf(text, memberOf(message, "tool_call_id")) ?? "";
    return callId === ""
      ? { kind: "result", callId, field: `messages[${at}].tool_call_id` }
      : { kind: "result", callId };
  }
  if (role !== "assistant") return OTHER;
  const calls = memberOf(message, "tool_calls")?.items;
  if (!calls || calls.length === 0) return ASSISTANT_WITHOUT_CALLS;
  return {
    kind: "assistant",
    callIds: calls.map((call) => stringOf(text, memberOf(call, "id")) ?? ""),
    describeCall: (index) => describeCall(text, calls[index]),
  };
}

const OTHER: OutlineMessage = { kind: "other" };
const ASSISTANT_WITHOUT_CALLS: OutlineMessage = { kind: "assistant", callIds: [], describeCall: () => "" };

/** Name and arguments of a call as they came; of kinds that have neither the whole call. */
function describeCall(text: string, call: JsonNode | undefined): string {
  const fn = memberOf(call, "function") ?? call;
  return fn === undefined ? "" : text.slice(fn.start, fn.end);
}

/** Text in contents and arguments. Images and files are not text: their bytes say nothing of their tokens. */
function findPrompt(root: JsonNode, messages: readonly JsonNode[]): PromptNodes {
  const texts: JsonNode[] = [];
  let mayHaveMedia = false;
  const add = (node: JsonNode | undefined) => {
    if (node !== undefined) texts.push(node);
  };
  for (const message of messages) {
    const content = memberOf(message, "content");
    if (content?.kind === "string") texts.push(content);
    for (const part of content?.items ?? []) {
      const said = memberOf(part, "text");
      if (said === undefined) mayHaveMedia = true;
      else texts.push(said);
    }
    for (const call of memberOf(message, "tool_calls")?.items ?? [])
      add(memberOf(memberOf(call, "function"), "arguments"));
  }
  const tools = memberOf(root, "tools");
  return { texts, otherBytes: tools?.items ? sizeOf(tools) : 0, mayHaveMedia };
}
