import { rejectField } from "../../../base/failures/errors.ts";
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
  checkNodes,
  isAbsent,
  isOtherKind,
  type NodeCheck,
  numberFrom,
  ofKind,
  wholeNumberFrom,
} from "../../conversation/check-nodes.ts";
import { asFields, asText, type Fields } from "../../json/fields.ts";
import type { Tally } from "../../json/reject-excess.ts";
import {
  isFilled,
  isWord,
  itemsOf,
  type JsonNode,
  memberOf,
  numberOf,
  stringOf,
  tryParseNode,
} from "../../json/scan.ts";
import { AnsweredCalls } from "./answered-calls.ts";
import { readRole } from "./role.ts";

/**
 * Checks a scanned chat request (docs/api/chat.md, "Request"). It is as lenient as real clients need: null stands for
 * absent, and unknown fields and part types are accepted. Returns what it found out about tool calls.
 * @throws GatewayError `invalid_request`, which names the field and the remedy; `invalid_model` for a malformed model id.
 */
export function checkChatRequest(text: string, root: JsonNode): CheckedCalls {
  if (root.kind !== "object") rejectField("body", "must be a JSON object");
  checkFieldCount(root);
  checkModel(memberOf(root, "model"), "openai/gpt-4o-mini");
  const checker = new MessageChecker(text);
  checker.check(memberOf(root, "messages"));
  checkNodes(text, root, CHECKS);
  checkChosenTools(text, root);
  return checker;
}

/** The tool calls of a request that was checked. */
interface CheckedCalls {
  /** A message has the role `tool`. */
  readonly hasResults: boolean;
  /** It is certain that each call has its result where all hosts expect it (`AnsweredCalls`). So it is if there are no calls. */
  readonly areInOrder: boolean;
}

/** The checks of the optional fields. */
const CHECKS: ReadonlyMap<string, NodeCheck> = new Map<string, NodeCheck>(
  Object.entries({
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
  } satisfies Record<string, NodeCheck>),
);
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

function checkTools(text: string, node: JsonNode): void {
  if (!node.items) rejectField("tools", "must be an array of tools");
  checkToolAmounts(text, node);
  for (let i = 0; i < node.items.length; i++) checkTool(text, node.items[i] as JsonNode, `tools[${i}]`);
}

function checkTool(text: string, tool: JsonNode, field: string): void {
  const type = memberOf(tool, "type");
  if (type?.kind !== "string") rejectField(`${field}.type`, 'must be a string, "function" for a function');
  if (!isWord(text, type, "function")) {
    checkToolType(stringOf(text, type) ?? "", CHAT_TOOL_TYPES, `${field}.type`);
    return;
  }
  const fn = memberOf(tool, "function");
  if (!isFilled(memberOf(fn, "name"))) {
    rejectField(`${field}.function.name`, "must be a string that is not empty");
  }
  if (isOtherKind(memberOf(fn, "description"), "string")) {
    rejectField(`${field}.function.description`, "must be a string");
  }
  if (isOtherKind(memberOf(fn, "parameters"), "object")) {
    rejectField(`${field}.function.parameters`, "must be a JSON Schema object");
  }
}

function checkToolChoice(text: string, node: JsonNode, field: string): void {
  const word = stringOf(text, node);
  if (word !== undefined && TOOL_CHOICES.has(word)) return;
  const type = stringOf(text, memberOf(node, "type"));
  const isNamed = memberOf(memberOf(node, "function"), "name")?.kind === "string";
  if (type === undefined || (type === "function" && !isNamed)) {
    rejectField(
      field,
      'must be "none", "auto", "required" or {"type": "function", "function": {"name": "…"}}',
    );
  }
  if (type !== ALLOWED_TOOLS) checkToolType(type, CHAT_TOOL_TYPES, `${field}.type`);
}

/** Checks that the tools are there which `tool_choice` requires. Read only where it requires any. */
function checkChosenTools(text: string, root: JsonNode): void {
  const wanted = readWantedTools(text, root, SPELLING);
  if (wanted === null) return;
  const tools = itemsOf(root, "tools").map((tool) => readOffered(text, tool));
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

function readOffered(text: string, tool: JsonNode): OfferedTool {
  const type = stringOf(text, memberOf(tool, "type"));
  const name = stringOf(text, memberOf(memberOf(tool, type ?? ""), "name"));
  const own = type === "custom" ? readCustomName(text, tool) : name;
  return { type, names: own === undefined ? [] : [own] };
}

/** The scan does not look into free-text tools, which are rare. */
function readCustomName(text: string, tool: JsonNode): string | undefined {
  const custom = memberOf(tool, "custom");
  return custom === undefined
    ? undefined
    : (asText(asFields(tryParseNode(text, custom))?.["name"]) ?? undefined);
}

function checkResponseFormat(text: string, node: JsonNode, field: string): void {
  if (memberOf(node, "type")?.kind !== "string") {
    rejectField(field, 'must be an object with a type, such as {"type": "json_object"}');
  }
  checkSchemaValues(text, node, field);
}

/** Checks the messages and counts their parts, calls and reasoning. */
class MessageChecker implements CheckedCalls {
  /** Created when there is something to count, which most requests do not have. */
  private parts: Tally | null = null;
  private calls: Tally | null = null;
  private reasoning: Tally | null = null;
  private answered: AnsweredCalls | null = null;
  hasResults = false;

  constructor(private readonly text: string) {}

  check(node: JsonNode | undefined): void {
    const items = node?.items;
    if (!items) rejectField("messages", "is required: an array of messages");
    if (items.length === 0) rejectField("messages", "must have at least one message");
    checkMessageCount(items.length);
    for (let i = 0; i < items.length; i++) this.message(items[i] as JsonNode, i);
    this.answered?.end();
  }

  get areInOrder(): boolean {
    return this.answered?.areInOrder ?? true;
  }

  private message(message: JsonNode, i: number): void {
    if (message.kind !== "object") rejectField(`messages[${i}]`, "must be an object with role and content");
    const role = readRole(this.text, message);
    if (role === undefined) {
      rejectField(`messages[${i}].role`, "must be system, developer, user, assistant or tool");
    }
    const content = memberOf(message, "content");
    if (isAbsent(content)) {
      if (role !== "assistant")
        rejectField(`messages[${i}].content`, "is required: a string or an array of parts");
    } else if (content.kind !== "string") this.contentParts(content, i);
    if (role === "tool") {
      this.result(message, i);
      return;
    }
    this.answered?.beginMessage();
    if (role === "assistant") {
      this.toolCalls(memberOf(message, "tool_calls"), i);
      const details = itemsOf(message, "reasoning_details");
      if (details.length > 0) {
        this.reasoning ??= tallyReasoning();
        this.reasoning.add(details.length, "messages");
      }
    }
  }

  private result(message: JsonNode, i: number): void {
    this.hasResults = true;
    const id = memberOf(message, "tool_call_id");
    if (isOtherKind(id, "string")) rejectField(`messages[${i}].tool_call_id`, "must be a string");
    this.answered ??= new AnsweredCalls(this.text);
    this.answered.addResult(id);
  }

  private contentParts({ items }: JsonNode, i: number): void {
    if (!items) rejectField(`messages[${i}].content`, "must be a string or an array of parts");
    this.parts ??= tallyParts();
    this.parts.add(items.length, "messages");
    for (let j = 0; j < items.length; j++) {
      const problem = this.problemOfPart(items[j] as JsonNode);
      if (problem !== null) rejectField(`messages[${i}].content[${j}]${problem[0]}`, problem[1]);
    }
  }

  /** Returns the field of a part that is wrong and what is wrong with it. The full field name is only built for an error. */
  private problemOfPart(part: JsonNode): readonly [string, string] | null {
    const type = memberOf(part, "type");
    if (type?.kind !== "string")
      return ["", 'must be an object with a type, such as {"type": "text", "text": "…"}'];
    if (isWord(this.text, type, "text") && memberOf(part, "text")?.kind !== "string")
      return [".text", "must be a string"];
    if (!isWord(this.text, type, "image_url")) return null;
    const image = memberOf(part, "image_url");
    if (memberOf(image, "url")?.kind !== "string") return [".image_url.url", "must be a string"];
    return isOtherKind(memberOf(image, "detail"), "string")
      ? [".image_url.detail", "must be a string"]
      : null;
  }

  private toolCalls(node: JsonNode | undefined, i: number): void {
    if (isAbsent(node)) return;
    if (!node.items) rejectField(`messages[${i}].tool_calls`, "must be an array of tool calls");
    this.calls ??= tallyCalls();
    this.calls.add(node.items.length, "messages");
    this.answered ??= new AnsweredCalls(this.text);
    for (let j = 0; j < node.items.length; j++) {
      const call = node.items[j] as JsonNode;
      this.answered.addCall(memberOf(call, "id"));
      const problem = this.problemOfCall(call);
      if (problem !== null) rejectField(`messages[${i}].tool_calls[${j}]${problem[0]}`, problem[1]);
    }
  }

  /** Returns the field of a call that is wrong and what is wrong with it. The full field name is only built for an error. */
  private problemOfCall(call: JsonNode): readonly [string, string] | null {
    if (call.kind !== "object") return ["", "must be an object"];
    if (isOtherKind(memberOf(call, "id"), "string")) return [".id", "must be a string"];
    const type = memberOf(call, "type");
    if (isOtherKind(type, "string")) return [".type", "must be a string"];
    if (!isAbsent(type) && !isWord(this.text, type, "function")) return this.problemOfType(type);
    const fn = memberOf(call, "function");
    if (memberOf(fn, "name")?.kind !== "string") return [".function.name", "must be a string"];
    const isBad = isOtherKind(memberOf(fn, "arguments"), "string");
    return isBad ? [".function.arguments", "must be a string of JSON"] : null;
  }

  /** Calls of tools that the host runs have their type. */
  private problemOfType(type: JsonNode): readonly [string, string] | null {
    const isKnown = isToolType(stringOf(this.text, type) ?? "", CHAT_TOOL_TYPES);
    return isKnown ? null : [".type", 'must be "function", or the type of a tool that a provider knows'];
  }
}
