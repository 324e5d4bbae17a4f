import { rejectField } from "../../../base/failures/errors.ts";
import { asFields, asText, type Fields } from "../../../base/json/fields.ts";
import type { Tally } from "../../../base/json/reject-excess.ts";
import {
  isFilled,
  isWord,
  type JsonNode,
  lookUp,
  memberOf,
  type NodeIn,
  numberOf,
  stringOf,
  tryParseNode,
  wordTable,
} from "../../../base/json/scan.ts";
import { BOUNDS } from "../../../base/numbers/bounds.ts";
import {
  ALLOWED_TOOLS,
  type ChoiceSpelling,
  checkWantedTools,
  type OfferedTool,
  readWantedTools,
  type WantedTools,
} from "../../conversation/calls/check-tool-choice.ts";
import { CHAT_TOOL_TYPES, checkToolType, isToolType } from "../../conversation/calls/tool-types.ts";
import {
  checkFieldCount,
  checkMessageCount,
  checkSchemaValues,
  checkToolAmounts,
  tallyCalls,
  tallyParts,
  tallyReasoning,
} from "../../conversation/check-amounts.ts";
import {
  checkModel,
  isAbsent,
  isOtherKind,
  nodeChecker,
  numberFrom,
  ofKind,
  wholeNumberFrom,
} from "../../conversation/check-nodes.ts";
import { AnsweredCalls } from "./answered-calls.ts";
import type { MessageFacts } from "./fit-scanned.ts";
import type { ChatBody, ChatCall, ChatMessage, ChatPart, ChatTool } from "./request-shape.ts";
import { readRole } from "./role.ts";

/**
 * Checks a scanned chat request (docs/api/chat.md, "Request"). It is as lenient as real clients need: null stands for
 * absent, and unknown fields and part types are accepted. Returns what it found in the messages.
 * @throws GatewayError `invalid_request`, which names the field and the remedy; `invalid_model` for a malformed model id.
 */
export function checkChatRequest(text: string, root: ChatBody): ChatMessages {
  if (root.kind !== "object") rejectField("body", "must be a JSON object");
  checkFieldCount(root);
  checkModel(root.fields.model, "openai/gpt-4o-mini");
  const checker = new MessageChecker(text);
  checker.check(root.fields.messages);
  checkFields(text, root);
  checkChosenTools(text, root);
  return checker;
}

/** The contents of a request's messages, collected in the pass that checks them. */
export interface ChatMessages extends MessageFacts {
  /** A message has the role `tool`. */
  readonly hasResults: boolean;
  /** Whether each call certainly has its result where all hosts expect it (`AnsweredCalls`). True if there are no calls. */
  readonly areInOrder: boolean;
  /** The texts in contents, and arguments. */
  readonly texts: readonly JsonNode[];
  /** A part has no text. */
  readonly mayHaveMedia: boolean;
  /** The parts with images, files, audio and video. */
  readonly media: readonly ChatMedia[];
}

/** A part of a content that is not text. */
export interface ChatMedia {
  readonly modality: string;
  readonly node: JsonNode;
}

/** The input modality of each part type that is not text. */
const MODALITIES = wordTable({
  image_url: "image",
  file: "file",
  document_url: "file",
  input_audio: "audio",
  video_url: "video",
  input_video: "video",
});

/** The checks of the optional fields. */
const checkFields = nodeChecker<ChatBody>({
  temperature: numberFrom(0, 2),
  top_p: numberFrom(0, 1),
  frequency_penalty: numberFrom(-2, 2),
  presence_penalty: numberFrom(-2, 2),
  max_tokens: wholeNumberFrom(1),
  max_completion_tokens: wholeNumberFrom(1),
  n: checkAnswerCount,
  seed: ofKind("number", "a number"),
  stream: ofKind("boolean", "true or false"),
  stream_options: ofKind("object", "an object"),
  user: ofKind("string", "a string"),
  stop: checkStop,
  tools: checkTools,
  tool_choice: checkToolChoice,
  response_format: checkResponseFormat,
});
const TOOL_CHOICES = new Set(["none", "auto", "required"]);

function checkAnswerCount(text: string, node: JsonNode, field: string): void {
  wholeNumberFrom(1)(text, node, field);
  if ((numberOf(text, node) ?? 1) > BOUNDS.answers) {
    rejectField(field, `must be at most ${BOUNDS.answers}; send several requests`);
  }
}

function checkStop(_text: string, node: JsonNode): void {
  const isStrings = node.items?.every((item) => item.kind === "string") ?? false;
  if (node.kind !== "string" && !isStrings) rejectField("stop", "must be a string or an array of strings");
}

function checkTools(text: string, node: NodeIn<ChatBody, "tools">): void {
  if (!node.items) rejectField("tools", "must be an array of tools");
  checkToolAmounts(text, node);
  for (let i = 0; i < node.items.length; i++) checkTool(text, node.items[i] as ChatTool, `tools[${i}]`);
}

function checkTool(text: string, tool: ChatTool, field: string): void {
  const type = tool.fields.type;
  if (type?.kind !== "string") rejectField(`${field}.type`, 'must be a string, "function" for a function');
  if (!isWord(text, type, "function")) {
    checkToolType(stringOf(text, type) ?? "", CHAT_TOOL_TYPES, `${field}.type`);
    return;
  }
  const fn = tool.fields.function?.fields;
  if (!isFilled(fn?.name)) rejectField(`${field}.function.name`, "must be a string that is not empty");
  if (isOtherKind(fn?.description, "string"))
    rejectField(`${field}.function.description`, "must be a string");
  if (isOtherKind(fn?.parameters, "object"))
    rejectField(`${field}.function.parameters`, "must be a JSON Schema object");
}

function checkToolChoice(text: string, node: NodeIn<ChatBody, "tool_choice">, field: string): void {
  const word = stringOf(text, node);
  if (word !== undefined && TOOL_CHOICES.has(word)) return;
  const type = stringOf(text, node.fields.type);
  const isNamed = node.fields.function?.fields.name?.kind === "string";
  if (type === undefined || (type === "function" && !isNamed)) {
    rejectField(
      field,
      'must be "none", "auto", "required" or {"type": "function", "function": {"name": "…"}}',
    );
  }
  if (type !== ALLOWED_TOOLS) checkToolType(type, CHAT_TOOL_TYPES, `${field}.type`);
}

/** Checks that the request has the tools that `tool_choice` requires. The tools are read only if it requires any. */
function checkChosenTools(text: string, root: ChatBody): void {
  const { tool_choice: choice, tools: offered } = root.fields;
  const wanted = choice === undefined ? null : readWantedTools(text, choice, SPELLING);
  if (wanted === null) return;
  const tools = (offered?.items ?? []).map((tool) => readOffered(text, tool));
  checkWantedTools(wanted, { tools, hasMore: false });
}

const SPELLING: ChoiceSpelling = {
  readNamed,
  readAllowed: (choice) => asFields(choice[ALLOWED_TOOLS])?.["tools"],
};

function readNamed(choice: Fields): WantedTools {
  const type = asText(choice["type"]) ?? "";
  const name = asText(asFields(choice[type])?.["name"]);
  return name === null ? { type } : { names: [name] };
}

function readOffered(text: string, tool: ChatTool): OfferedTool {
  const type = stringOf(text, tool.fields.type);
  const name = stringOf(text, memberOf(memberOf(tool, type ?? ""), "name"));
  const own = type === "custom" ? readCustomName(text, tool) : name;
  return { type, names: own === undefined ? [] : [own] };
}

/** The scan does not look into free-text tools, which are rare. */
function readCustomName(text: string, tool: ChatTool): string | undefined {
  const custom = memberOf(tool, "custom");
  return custom === undefined
    ? undefined
    : (asText(asFields(tryParseNode(text, custom))?.["name"]) ?? undefined);
}

function checkResponseFormat(text: string, node: NodeIn<ChatBody, "response_format">, field: string): void {
  if (node.fields.type?.kind !== "string") {
    rejectField(field, 'must be an object with a type, such as {"type": "json_object"}');
  }
  checkSchemaValues(text, node, field);
}

/** Checks the messages, counts their parts, calls and reasoning, and collects the contents that are needed later. */
class MessageChecker implements ChatMessages {
  /** Created when there is something to count, which most requests do not have. */
  private parts: Tally | null = null;
  private calls: Tally | null = null;
  private reasoning: Tally | null = null;
  private answered: AnsweredCalls | null = null;
  readonly texts: JsonNode[] = [];
  readonly media: ChatMedia[] = [];
  hasResults = false;
  mayHaveMedia = false;
  hasDeveloper = false;
  hasEmptyCalls = false;
  hasOthers = false;

  constructor(private readonly text: string) {}

  check(node: NodeIn<ChatBody, "messages"> | undefined): void {
    const items = node?.items;
    if (!items) rejectField("messages", "is required: an array of messages");
    if (items.length === 0) rejectField("messages", "must have at least one message");
    checkMessageCount(items.length);
    for (let i = 0; i < items.length; i++) this.message(items[i] as ChatMessage, i);
    this.answered?.beginMessage();
  }

  get areInOrder(): boolean {
    return this.answered?.areInOrder ?? true;
  }

  get hasCalls(): boolean {
    return this.calls !== null;
  }

  get hasParts(): boolean {
    return this.parts !== null;
  }

  private message(message: ChatMessage, i: number): void {
    if (message.kind !== "object") rejectField(`messages[${i}]`, "must be an object with role and content");
    const role = readRole(this.text, message);
    if (role === undefined)
      rejectField(`messages[${i}].role`, "must be system, developer, user, assistant or tool");
    const { content, tool_calls: calls, tool_call_id: id } = message.fields;
    if (content?.kind === "string") this.texts.push(content);
    else if (content !== undefined && content.kind !== "null") this.contentParts(content, i);
    else if (role !== "assistant")
      rejectField(`messages[${i}].content`, "is required: a string or an array of parts");
    const common = 1 + (content ? 1 : 0) + (calls ? 1 : 0) + (id ? 1 : 0);
    if ((message.members?.length ?? 0) > common) this.hasOthers = true;
    if (role === "developer") this.hasDeveloper = true;
    if (role === "tool") this.result(id, i);
    else this.answered?.beginMessage();
    if (role === "assistant") this.answer(message, i);
    if (calls !== undefined) this.addArguments(calls);
  }

  private answer({ fields }: ChatMessage, i: number): void {
    const { tool_calls: calls, reasoning_details: details } = fields;
    if (calls !== undefined && calls.kind !== "null") this.toolCalls(calls, i);
    if (!details?.items?.length) return;
    this.reasoning ??= tallyReasoning();
    this.reasoning.add(details.items.length, "messages");
  }

  private result(id: JsonNode | undefined, i: number): void {
    this.hasResults = true;
    if (isOtherKind(id, "string")) rejectField(`messages[${i}].tool_call_id`, "must be a string");
    this.answered ??= new AnsweredCalls(this.text);
    this.answered.addResult(id);
  }

  private contentParts({ items }: PartsNode, i: number): void {
    if (!items) rejectField(`messages[${i}].content`, "must be a string or an array of parts");
    this.parts ??= tallyParts();
    this.parts.add(items.length, "messages");
    for (let j = 0; j < items.length; j++) {
      const part = items[j] as ChatPart;
      const { type, text } = part.fields;
      const problem = type?.kind === "string" ? this.problemOfPart(part, type) : NO_TYPE;
      if (problem !== null) rejectField(`messages[${i}].content[${j}]${problem[0]}`, problem[1]);
      if (text !== undefined) this.texts.push(text);
      else this.mayHaveMedia = true;
      const modality = lookUp(this.text, type, MODALITIES);
      if (modality !== undefined) this.media.push({ modality, node: part });
    }
  }

  /** Returns the field of a part that is wrong and what is wrong with it. The full field name is only built for an error. */
  private problemOfPart({ fields }: ChatPart, type: JsonNode): Problem | null {
    if (isWord(this.text, type, "text") && fields.text?.kind !== "string")
      return [".text", "must be a string"];
    if (!isWord(this.text, type, "image_url")) return null;
    const image = fields.image_url?.fields;
    if (image?.url?.kind !== "string") return [".image_url.url", "must be a string"];
    return isOtherKind(image.detail, "string") ? [".image_url.detail", "must be a string"] : null;
  }

  private toolCalls({ items }: CallsNode, i: number): void {
    if (!items) rejectField(`messages[${i}].tool_calls`, "must be an array of tool calls");
    this.calls ??= tallyCalls();
    this.calls.add(items.length, "messages");
    this.answered ??= new AnsweredCalls(this.text);
    for (let j = 0; j < items.length; j++) {
      const call = items[j] as ChatCall;
      this.answered.addCall(call.fields.id);
      const problem = this.problemOfCall(call);
      if (problem !== null) rejectField(`messages[${i}].tool_calls[${j}]${problem[0]}`, problem[1]);
    }
  }

  private addArguments({ items }: CallsNode): void {
    if (items?.length === 0) this.hasEmptyCalls = true;
    for (const call of items ?? []) {
      const args = call.fields.function?.fields.arguments;
      if (args !== undefined) this.texts.push(args);
    }
  }

  /** Returns the field of a call that is wrong and what is wrong with it. The full field name is only built for an error. */
  private problemOfCall({ kind, fields }: ChatCall): Problem | null {
    if (kind !== "object") return ["", "must be an object"];
    const { id, type, function: fn } = fields;
    if (isOtherKind(id, "string")) return [".id", "must be a string"];
    if (isOtherKind(type, "string")) return [".type", "must be a string"];
    if (!isAbsent(type) && !isWord(this.text, type, "function")) return this.problemOfType(type);
    if (fn?.fields.name?.kind !== "string") return [".function.name", "must be a string"];
    const isBad = isOtherKind(fn.fields.arguments, "string");
    return isBad ? [".function.arguments", "must be a string of JSON"] : null;
  }

  /** Calls of tools that the host runs have their type. */
  private problemOfType(type: JsonNode): Problem | null {
    const isKnown = isToolType(stringOf(this.text, type) ?? "", CHAT_TOOL_TYPES);
    return isKnown ? null : [".type", 'must be "function", or the type of a tool that a provider knows'];
  }
}

type PartsNode = NodeIn<ChatMessage, "content">;
type CallsNode = NodeIn<ChatMessage, "tool_calls">;
/** A field of a part or a call that is wrong, and what is wrong with it. */
type Problem = readonly [string, string];

const NO_TYPE: Problem = ["", 'must be an object with a type, such as {"type": "text", "text": "…"}'];
