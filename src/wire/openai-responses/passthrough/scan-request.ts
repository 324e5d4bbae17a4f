import { addPresent } from "../../../base/json/collect-nodes.ts";
import {
  type CountedScan,
  isFilled,
  isTrue,
  isWord,
  type JsonNode,
  lookUp,
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
import { ALLOWED_TOOLS } from "../../conversation/calls/check-tool-choice.ts";
import type { OutlineAssistant, OutlineMessage } from "../../conversation/calls/outline.ts";
import { correctDataUrl } from "../../conversation/media-types.ts";
import { readRoutingMembers } from "../../conversation/preferences.ts";
import { countPromptBytes, type PromptNodes, sizeOf } from "../../conversation/prompt-nodes.ts";
import type { ScannedRequest } from "../../conversation/scanned-request.ts";
import { isHostedCall } from "../hosted-calls.ts";
import { OPENAI_START, originOfItem } from "../reasoning-origin.ts";
import {
  RESPONSES_REQUEST_SHAPE,
  type ResponsesBody,
  type ResponsesContent,
  type ResponsesItem,
} from "../request-shape.ts";
import { type AskedState, readAskedState } from "../state/read-state.ts";
import { checkResponsesRequest } from "./check-request.ts";

/** A Responses request that was scanned and checked. Its bytes are unchanged; the nodes give the positions of its values. */
export interface ScannedResponsesRequest extends ScannedRequest {
  readonly root: ResponsesBody;
  /** The items of the input; none if it is a text. */
  readonly items: readonly ResponsesItem[];
  /** The vendor may truncate the conversation before its model sees it. */
  readonly mayBeShortened: boolean;
  /** Whether it contains references to items, or other vendors' reasoning. No upstream can read these, so the bytes cannot be forwarded. */
  readonly needsHub: boolean;
  /** It contains reasoning items that are not encrypted. */
  readonly hasPlainReasoning: boolean;
  /** It has tools or calls of type `custom`. */
  readonly hasCustomTools: boolean;
  /** Whether it has namespaces of tools, calls in one, or items that add tools. Only hosts with namespaces support these. */
  readonly hasNamespaces: boolean;
  /** Whether `tool_choice` is a list of allowed tools, and has a mode that OpenAI knows; null for another choice. */
  readonly allowsTools: "with-mode" | "without-mode" | null;
  /** What it asks of responses that the gateway keeps. */
  readonly asked: AskedState;
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
  { root, values, nodes }: CountedScan<ResponsesBody>,
  bytes: Buffer,
): ScannedResponsesRequest {
  const input = root.fields.input?.items ?? [];
  const corrections = correctMedia(text, input);
  if (corrections.length > 0) return scanResponsesRequest(applySplices(bytes, corrections));
  checkResponsesRequest(text, root);
  const reasoning = readReasoning(text, input);
  const prompt = findPrompt(root, input);
  const outline = outlineInput(text, input);
  checkResultIds(outline);
  const { fallbackModels, preferences, preset } = readRoutingMembers(text, root);
  const tools = root.fields.tools?.items ?? [];
  return {
    fallbackModels,
    preferences,
    preset,
    bytes,
    text,
    root,
    items: input,
    values,
    nodes,
    model: stringOf(text, root.fields.model) as string,
    stream: isTrue(text, root.fields.stream),
    maxTokens: numberOf(text, root.fields.max_output_tokens),
    outline: { read: () => outline },
    promptTextBytes: countPromptBytes(prompt),
    prompt,
    mayBeShortened:
      isWord(text, root.fields.truncation, "auto") ||
      (root.fields.context_management?.kind ?? "null") !== "null",
    needsHub: reasoning.isForeign || input.some((item) => isWord(text, item.fields.type, "item_reference")),
    hasPlainReasoning: reasoning.isPlain,
    allowsTools: readAllowed(text, root.fields.tool_choice),
    hasCustomTools:
      tools.some((tool) => isWord(text, tool.fields.type, "custom")) ||
      input.some((item) => lookUp(text, item.fields.type, CUSTOM_ITEMS)),
    hasNamespaces:
      tools.some((tool) => isWord(text, tool.fields.type, "namespace")) ||
      input.some(
        (item) => isFilled(item.fields.namespace) || isWord(text, item.fields.type, "additional_tools"),
      ),
    asked: readAskedState(text, root),
    reasoningOrigins: reasoning.origins,
  };
}

/** Returns the edits that normalize the media types of images and files. After they are applied, there are none. */
function correctMedia(text: string, input: readonly ResponsesItem[]): readonly Splice[] {
  const splices: Splice[] = [];
  for (const { fields } of input)
    for (const list of [fields.content, fields.output])
      for (const part of list?.items ?? []) {
        correctDataUrl(text, part.fields.image_url, splices);
        correctDataUrl(text, part.fields.file_data, splices);
      }
  return splices;
}

function readReasoning(text: string, input: readonly ResponsesItem[]) {
  const origins = new Set<string>();
  let isForeign = false;
  let isPlain = false;
  for (const item of input) {
    if (!isWord(text, item.fields.type, "reasoning")) continue;
    const encrypted = item.fields.encrypted_content;
    if (encrypted === undefined || !isFilled(encrypted)) isPlain = true;
    else if (text.startsWith(ENVELOPE_START, encrypted.start)) isForeign = true;
    else {
      const isOpenaiToken = text.startsWith(OPENAI_START, encrypted.start + 1);
      origins.add(originOfItem(stringOf(text, item.fields.id) ?? null, isOpenaiToken));
    }
  }
  return { origins, isForeign, isPlain };
}

/** Outlines what `decodeMessages` makes of the same items: neighbouring items of the model are one turn. */
function outlineInput(text: string, input: readonly ResponsesItem[]): OutlineMessage[] {
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
  private readonly calls: ResponsesItem[] = [];
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  addCall(item: ResponsesItem): void {
    this.calls.push(item);
    this.callIds.push(callIdOf(this.text, item));
  }

  describeCall(index: number): string {
    const call = this.calls[index]?.fields;
    const input = call?.arguments ?? call?.input;
    return [call?.name, input].map((node) => this.text.slice(node?.start ?? 0, node?.end ?? 0)).join(" ");
  }
}

function outlineResult(text: string, item: ResponsesItem, at: number): OutlineMessage {
  const callId = callIdOf(text, item);
  const describeResult = () => sliceOf(text, item.fields.output);
  return callId === ""
    ? { kind: "result", callId, field: `input[${at}].call_id`, describeResult }
    : { kind: "result", callId, describeResult };
}

function callIdOf(text: string, item: ResponsesItem): string {
  return stringViewOf(text, item.fields.call_id) ?? "";
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

/** Returns the kind of an item of the input. */
export function kindOf(text: string, item: ResponsesItem): ItemKind {
  const type = item.fields.type;
  if (type?.kind !== "string" || isWord(text, type, "message")) {
    return isWord(text, item.fields.role, "assistant") ? "turn" : "prompt";
  }
  const known = lookUp(text, type, KINDS);
  if (known !== undefined) return known;
  const isCall = isHostedCall(stringViewOf(text, type) ?? "") && callIdOf(text, item) !== "";
  return isCall ? "hosted-call" : "native";
}

/** OpenAI requires one of these modes; Open Responses has another one, and lets clients leave it out. */
const OPENAI_MODES = wordTable<true>({ auto: true, required: true });

function readAllowed(
  text: string,
  choice: ResponsesBody["fields"]["tool_choice"],
): ScannedResponsesRequest["allowsTools"] {
  if (!isWord(text, choice?.fields.type, ALLOWED_TOOLS)) return null;
  return lookUp(text, choice?.fields.mode, OPENAI_MODES) ? "with-mode" : "without-mode";
}

/** Counts texts, arguments and tools. The tokens of images and files do not depend on their bytes. */
function findPrompt(root: ResponsesBody, input: readonly ResponsesItem[]): PromptNodes {
  const texts: JsonNode[] = [];
  const tools = root.fields.tools;
  const hasSchemas = tools !== undefined || root.fields.text !== undefined;
  let otherBytes = sizeOf(tools);
  let mayHaveMedia = false;
  const addContent = (content: ResponsesContent | undefined): void => {
    if (content?.kind === "string") texts.push(content);
    for (const { fields } of content?.items ?? []) {
      if (fields.text === undefined) mayHaveMedia = true;
      else texts.push(fields.text);
    }
  };
  for (const { fields } of input) {
    addPresent(texts, fields.arguments, fields.input);
    addContent(fields.content);
    addContent(fields.output);
    otherBytes += sumTexts(fields.summary);
  }
  const plain = root.fields.input;
  addPresent(texts, plain?.kind === "string" ? plain : undefined, root.fields.instructions);
  return { texts, otherBytes, mayHaveMedia, hasSchemas };
}

function sumTexts(value: ResponsesContent | undefined): number {
  if (value?.kind === "string") return sizeOf(value);
  return (value?.items ?? []).reduce((sum, part) => sum + sizeOf(part.fields.text), 0);
}
