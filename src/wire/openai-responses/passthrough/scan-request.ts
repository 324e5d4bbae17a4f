import { ENVELOPE_START } from "../../canonical/model/reasoning-envelope.ts";
import { checkResultIds } from "../../conversation/calls/check-result-ids.ts";
import type { OutlineAssistant, OutlineMessage } from "../../conversation/calls/outline.ts";
import { correctDataUrl } from "../../conversation/media-types.ts";
import { readRoutingMembers } from "../../conversation/preferences.ts";
import { countPromptBytes, type PromptNodes, sizeOf } from "../../conversation/prompt-nodes.ts";
import type { ScannedRequest } from "../../conversation/scanned-request.ts";
import {
  type CountedScan,
  isFilled,
  isTrue,
  isWord,
  itemsOf,
  type JsonNode,
  lookUp,
  memberOf,
  numberOf,
  sliceOf,
  stringOf,
  stringViewOf,
  wordTable,
} from "../../json/scan.ts";
import { scanBody } from "../../json/scan-body.ts";
import { applySplices, type Splice } from "../../json/splice.ts";
import { isHostedCall } from "../hosted-calls.ts";
import { OPENAI_START, originOfItem } from "../reasoning-origin.ts";
import { checkResponsesRequest } from "./check-request.ts";
import { RESPONSES_REQUEST_SHAPE } from "./request-shape.ts";

/** A Responses request that was scanned and checked. Its bytes are unchanged; the nodes give the positions of its values. */
export interface ScannedResponsesRequest extends ScannedRequest {
  /** The vendor may truncate the conversation before its model sees it. */
  readonly mayBeShortened: boolean;
  /** It contains what no upstream can read, references to items or other vendors' reasoning, so its bytes cannot be forwarded. */
  readonly needsHub: boolean;
  /** It contains reasoning items that are not encrypted. */
  readonly hasPlainReasoning: boolean;
  /** It has tools or calls of type `custom`. */
  readonly hasCustomTools: boolean;
  /** It has namespaces of tools, calls in one, or items that add tools: what only hosts with namespaces know. */
  readonly hasNamespaces: boolean;
  /** The vendors that encrypted the reasoning in it, see `REASONING_ORIGINS`. */
  readonly reasoningOrigins: ReadonlySet<string>;
}

/**
 * Scans and checks the body of a Responses request (docs/api/responses.md).
 * @throws GatewayError `invalid_request`, which names the field and the remedy; `invalid_model` for a malformed model id.
 */
export function scanResponsesRequest(bytes: Buffer): ScannedResponsesRequest {
  return scanBody(bytes, RESPONSES_REQUEST_SHAPE, readRequest);
}

function readRequest(
  text: string,
  { root, values, nodes }: CountedScan,
  bytes: Buffer,
): ScannedResponsesRequest {
  const input = itemsOf(root, "input");
  const corrections = correctMedia(text, input);
  if (corrections.length > 0) return scanResponsesRequest(applySplices(bytes, corrections));
  checkResponsesRequest(text, root);
  const reasoning = readReasoning(text, input);
  const prompt = findPrompt(root, input);
  const outline = outlineInput(text, input);
  checkResultIds(outline);
  const { fallbackModels, preferences, preset } = readRoutingMembers(text, root);
  const tools = itemsOf(root, "tools");
  return {
    fallbackModels,
    preferences,
    preset,
    bytes,
    text,
    root,
    values,
    nodes,
    model: stringOf(text, memberOf(root, "model")) as string,
    stream: isTrue(text, memberOf(root, "stream")),
    maxTokens: numberOf(text, memberOf(root, "max_output_tokens")),
    outline: { read: () => outline },
    promptTextBytes: countPromptBytes(prompt),
    prompt,
    mayBeShortened:
      isWord(text, memberOf(root, "truncation"), "auto") ||
      (memberOf(root, "context_management")?.kind ?? "null") !== "null",
    needsHub:
      reasoning.isForeign || input.some((item) => isWord(text, memberOf(item, "type"), "item_reference")),
    hasPlainReasoning: reasoning.isPlain,
    hasCustomTools:
      tools.some((tool) => isWord(text, memberOf(tool, "type"), "custom")) ||
      input.some((item) => lookUp(text, memberOf(item, "type"), CUSTOM_ITEMS)),
    hasNamespaces:
      tools.some((tool) => isWord(text, memberOf(tool, "type"), "namespace")) ||
      input.some(
        (item) =>
          isFilled(memberOf(item, "namespace")) || isWord(text, memberOf(item, "type"), "additional_tools"),
      ),
    reasoningOrigins: reasoning.origins,
  };
}

/** Returns the edits that normalize the media types of images and files. After they are applied, there are none. */
function correctMedia(text: string, input: readonly JsonNode[]): readonly Splice[] {
  const splices: Splice[] = [];
  for (const item of input)
    for (const list of LISTS_OF_PARTS)
      for (const part of itemsOf(item, list)) {
        correctDataUrl(text, memberOf(part, "image_url"), splices);
        correctDataUrl(text, memberOf(part, "file_data"), splices);
      }
  return splices;
}

const LISTS_OF_PARTS = ["content", "output"];

function readReasoning(text: string, input: readonly JsonNode[]) {
  const origins = new Set<string>();
  let isForeign = false;
  let isPlain = false;
  for (const item of input) {
    if (!isWord(text, memberOf(item, "type"), "reasoning")) continue;
    const encrypted = memberOf(item, "encrypted_content");
    if (encrypted === undefined || !isFilled(encrypted)) isPlain = true;
    else if (text.startsWith(ENVELOPE_START, encrypted.start)) isForeign = true;
    else {
      const isOpenaiToken = text.startsWith(OPENAI_START, encrypted.start + 1);
      origins.add(originOfItem(stringOf(text, memberOf(item, "id")) ?? null, isOpenaiToken));
    }
  }
  return { origins, isForeign, isPlain };
}

/** Outlines what `decodeMessages` makes of the same items: neighbouring items of the model are one turn. */
function outlineInput(text: string, input: readonly JsonNode[]): OutlineMessage[] {
  const outline: OutlineMessage[] = [];
  let turn: Turn | null = null;
  for (const [at, item] of input.entries()) {
    const kind = kindOf(text, item);
    if (kind === "native") continue;
    if (kind === "result" || kind === "prompt") {
      turn = null;
      outline.push(kind === "result" ? outlineResult(text, item, at) : OTHER);
      continue;
    }
    if (turn === null) {
      turn = new Turn(text);
      outline.push(turn);
    }
    if (kind === "call") turn.addCall(item);
    if (kind === "hosted-call") turn.hostedIds.push(callIdOf(text, item));
  }
  return outline;
}

const OTHER: OutlineMessage = { kind: "other" };

/** Neighbouring items of the model. */
class Turn implements OutlineAssistant {
  readonly kind = "assistant";
  readonly callIds: string[] = [];
  readonly hostedIds: string[] = [];
  private readonly calls: JsonNode[] = [];
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  addCall(item: JsonNode): void {
    this.calls.push(item);
    this.callIds.push(callIdOf(this.text, item));
  }

  describeCall(index: number): string {
    const call = this.calls[index];
    const input = memberOf(call, "arguments") ?? memberOf(call, "input");
    return [memberOf(call, "name"), input]
      .map((node) => this.text.slice(node?.start ?? 0, node?.end ?? 0))
      .join(" ");
  }
}

function outlineResult(text: string, item: JsonNode, at: number): OutlineMessage {
  const callId = callIdOf(text, item);
  const describeResult = () => sliceOf(text, memberOf(item, "output"));
  return callId === ""
    ? { kind: "result", callId, field: `input[${at}].call_id`, describeResult }
    : { kind: "result", callId, describeResult };
}

function callIdOf(text: string, item: JsonNode): string {
  return stringViewOf(text, memberOf(item, "call_id")) ?? "";
}

/** Calls of free-text tools, and their results. */
const CUSTOM_ITEMS = wordTable<true>({ custom_tool_call: true, custom_tool_call_output: true });

type ItemKind = "prompt" | "turn" | "call" | "hosted-call" | "result" | "native";

const KINDS = wordTable<ItemKind>({
  reasoning: "turn",
  function_call: "call",
  custom_tool_call: "call",
  function_call_output: "result",
  custom_tool_call_output: "result",
});

/** Returns what an item of the input is. */
export function kindOf(text: string, item: JsonNode): ItemKind {
  const type = memberOf(item, "type");
  if (type?.kind !== "string" || isWord(text, type, "message")) {
    return isWord(text, memberOf(item, "role"), "assistant") ? "turn" : "prompt";
  }
  const known = lookUp(text, type, KINDS);
  if (known !== undefined) return known;
  const isCall = isHostedCall(stringViewOf(text, type) ?? "") && callIdOf(text, item) !== "";
  return isCall ? "hosted-call" : "native";
}

/** Counts texts, arguments and tools. The tokens of images and files do not depend on their bytes. */
function findPrompt(root: JsonNode, input: readonly JsonNode[]): PromptNodes {
  const texts: JsonNode[] = [];
  const tools = memberOf(root, "tools");
  const hasSchemas = tools !== undefined || memberOf(root, "text") !== undefined;
  let otherBytes = sizeOf(tools);
  let mayHaveMedia = false;
  const addContent = (content: JsonNode): void => {
    if (content.kind === "string") texts.push(content);
    for (const part of content.items ?? []) {
      const partText = memberOf(part, "text");
      if (partText === undefined) mayHaveMedia = true;
      else texts.push(partText);
    }
  };
  const addMember = (member: JsonNode & { readonly key: string }): void => {
    const { key } = member;
    if (key === "arguments" || key === "input") texts.push(member);
    else if (key === "summary") otherBytes += sumTexts(member);
    else if (key === "content" || key === "output") addContent(member);
  };
  for (const item of input) item.members?.forEach(addMember);
  const plain = memberOf(root, "input");
  if (plain?.kind === "string") texts.push(plain);
  const instructions = memberOf(root, "instructions");
  if (instructions !== undefined) texts.push(instructions);
  return { texts, otherBytes, mayHaveMedia, hasSchemas };
}

function sumTexts(value: JsonNode): number {
  if (value.kind === "string") return sizeOf(value);
  return (value.items ?? []).reduce((sum, part) => sum + sizeOf(memberOf(part, "text")), 0);
}
