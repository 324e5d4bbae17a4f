import { BOUNDS } from "../../base/bounds.ts";
import { fail } from "../../base/errors.ts";
import {
  checkFieldCount,
  checkMessageCount,
  checkSchemaValues,
  checkToolAmounts,
  tallyCalls,
  tallyParts,
  tallyReasoning,
} from "../conversation/check-amounts.ts";
import { rejectField } from "../json/check-fields.ts";
import {
  isFilled,
  isWord,
  type JsonKind,
  type JsonNode,
  memberOf,
  numberOf,
  stringOf,
} from "../json/scan.ts";
import { readRole } from "./role.ts";

/**
 * The checks of specification 2.1 to 2.3 and 8 on a scanned request. Lenient where real clients are
 * (docs/contract.md, "Chat completions"): null stands for absent, unknown fields and part types pass.
 * @throws GatewayError `invalid_request`, which names the field and the remedy.
 */
export function checkChatRequest(text: string, root: JsonNode): void {
  if (root.kind !== "object") rejectField("body", "must be a JSON object");
  checkFieldCount(root);
  const check = new Checker(text);
  const model = memberOf(root, "model");
  if (model?.kind !== "string") rejectField("model", 'is required: a string such as "openai/gpt-4o-mini"');
  if (model.end - model.start > BOUNDS.modelIdChars)
    fail("invalid_model", "model is too long to be a model id. GET /api/gateway/models lists them.");
  check.messages(memberOf(root, "messages"));
  for (const member of root.members ?? [])
    if (member.kind !== "null") CHECKS.get(member.key)?.(check, member);
}

type Check = (check: Checker, node: JsonNode) => void;

const range =
  (field: string, low: number, high: number): Check =>
  (check, node) =>
    check.number(field, node, low, high);
const wholeNumber =
  (field: string, most = Number.POSITIVE_INFINITY): Check =>
  (check, node) =>
    check.wholeNumber(field, node, most);
const kind =
  (field: string, wanted: JsonKind, inWords: string): Check =>
  (check, node) =>
    check.kind(field, node, wanted, inWords);

/** What each optional field must be. Null stands for absent and is not looked at. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>(
  Object.entries({
    temperature: range("temperature", 0, 2),
    top_p: range("top_p", 0, 1),
    frequency_penalty: range("frequency_penalty", -2, 2),
    presence_penalty: range("presence_penalty", -2, 2),
    max_tokens: wholeNumber("max_tokens"),
    max_completion_tokens: wholeNumber("max_completion_tokens"),
    n: wholeNumber("n", BOUNDS.answers),
    seed: kind("seed", "number", "a number"),
    stream: kind("stream", "boolean", "true or false"),
    stream_options: kind("stream_options", "object", "an object"),
    user: kind("user", "string", "a string"),
    stop: (check, node) => check.stringOrStrings("stop", node),
    tools: (check, node) => check.tools(node),
    tool_choice: (check, node) => check.toolChoice(node),
    response_format: (check, node) => check.responseFormat(node),
  } satisfies Record<string, Check>),
);
const TOOL_CHOICES = new Set(["none", "auto", "required"]);

/** Absent or null, which real clients send alike. */
function isAbsent(node: JsonNode | undefined): node is undefined {
  return node === undefined || node.kind === "null";
}

/** Present, not null, and of another kind. */
function isOther(node: JsonNode | undefined, kind: JsonKind): boolean {
  return !isAbsent(node) && node.kind !== kind;
}

class Checker {
  private readonly parts = tallyParts();
  private readonly calls = tallyCalls();
  private readonly reasoning = tallyReasoning();

  constructor(private readonly text: string) {}

  kind(field: string, node: JsonNode | undefined, kind: JsonKind, wanted: string): void {
    if (!isAbsent(node) && node.kind !== kind) rejectField(field, `must be ${wanted}`);
  }

  number(field: string, node: JsonNode, low: number, high: number): void {
    const value = numberOf(this.text, node);
    if (value === null || value < low || value > high)
      rejectField(field, `must be a number from ${low} to ${high}`);
  }

  wholeNumber(field: string, node: JsonNode, most: number): void {
    const value = numberOf(this.text, node);
    if (value === null || !Number.isInteger(value) || value < 1)
      rejectField(field, "must be a whole number of at least 1");
    if (value > most) rejectField(field, `must be at most ${most}; send several requests`);
  }

  stringOrStrings(field: string, node: JsonNode): void {
    if (node.kind === "string") return;
    if (node.items === null || node.items.some((item) => item.kind !== "string")) {
      rejectField(field, "must be a string or an array of strings");
    }
  }

  messages(node: JsonNode | undefined): void {
    const items = node?.items;
    if (!items) rejectField("messages", "is required: an array of messages");
    if (items.length === 0) rejectField("messages", "must have at least one message");
    checkMessageCount("messages", items.length, "messages");
    for (let i = 0; i < items.length; i++) this.message(items[i] as JsonNode, i);
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
    if (role === "assistant") {
      this.toolCalls(memberOf(message, "tool_calls"), i);
      this.reasoning.add(memberOf(message, "reasoning_details")?.items?.length ?? 0, "messages");
    }
    if (role === "tool" && isOther(memberOf(message, "tool_call_id"), "string")) {
      rejectField(`messages[${i}].tool_call_id`, "must be a string");
    }
  }

  private contentParts({ items }: JsonNode, i: number): void {
    if (!items) rejectField(`messages[${i}].content`, "must be a string or an array of parts");
    this.parts.add(items.length, "messages");
    for (let j = 0; j < items.length; j++) {
      const problem = this.problemOfPart(items[j] as JsonNode);
      if (problem !== null) rejectField(`messages[${i}].content[${j}]${problem[0]}`, problem[1]);
    }
  }

  /** The field of a part that is wrong, and how; names are put together only then. */
  private problemOfPart(part: JsonNode): readonly [string, string] | null {
    const type = memberOf(part, "type");
    if (type?.kind !== "string")
      return ["", 'must be an object with a type, such as {"type": "text", "text": "…"}'];
    if (isWord(this.text, type, "text") && memberOf(part, "text")?.kind !== "string")
      return [".text", "must be a string"];
    if (!isWord(this.text, type, "image_url")) return null;
    const image = memberOf(part, "image_url");
    if (memberOf(image, "url")?.kind !== "string") return [".image_url.url", "must be a string"];
    return isOther(memberOf(image, "detail"), "string") ? [".image_url.detail", "must be a string"] : null;
  }

  private toolCalls(node: JsonNode | undefined, i: number): void {
    if (isAbsent(node)) return;
    if (!node.items) rejectField(`messages[${i}].tool_calls`, "must be an array of tool calls");
    this.calls.add(node.items.length, "messages");
    for (let j = 0; j < node.items.length; j++) {
      const problem = this.problemOfCall(node.items[j] as JsonNode);
      if (problem !== null) rejectField(`messages[${i}].tool_calls[${j}]${problem[0]}`, problem[1]);
    }
  }

  /** The field of a call that is wrong, and how; names are put together only then. */
  private problemOfCall(call: JsonNode): readonly [string, string] | null {
    if (call.kind !== "object") return ["", "must be an object"];
    if (isOther(memberOf(call, "id"), "string")) return [".id", "must be a string"];
    const type = memberOf(call, "type");
    if (isOther(type, "string")) return [".type", "must be a string"];
    if (!isAbsent(type) && !isWord(this.text, type, "function")) return null;
    const fn = memberOf(call, "function");
    if (memberOf(fn, "name")?.kind !== "string") return [".function.name", "must be a string"];
    const isBad = isOther(memberOf(fn, "arguments"), "string");
    return isBad ? [".function.arguments", "must be a string of JSON"] : null;
  }

  tools(node: JsonNode): void {
    if (!node.items) rejectField("tools", "must be an array of tools");
    checkToolAmounts(this.text, node);
    for (let i = 0; i < node.items.length; i++) this.tool(node.items[i] as JsonNode, `tools[${i}]`);
  }

  private tool(tool: JsonNode, field: string): void {
    const type = memberOf(tool, "type");
    if (type?.kind !== "string") rejectField(`${field}.type`, 'must be a string, "function" for a function');
    if (!isWord(this.text, type, "function")) return;
    const fn = memberOf(tool, "function");
    if (!isFilled(memberOf(fn, "name")))
      rejectField(`${field}.function.name`, "must be a string that is not empty");
    this.kind(`${field}.function.description`, memberOf(fn, "description"), "string", "a string");
    this.kind(`${field}.function.parameters`, memberOf(fn, "parameters"), "object", "a JSON Schema object");
  }

  toolChoice(node: JsonNode): void {
    const word = stringOf(this.text, node);
    if (word !== undefined && TOOL_CHOICES.has(word)) return;
    const type = stringOf(this.text, memberOf(node, "type"));
    const isNamed = memberOf(memberOf(node, "function"), "name")?.kind === "string";
    if (type === undefined || (type === "function" && !isNamed)) {
      rejectField(
        "tool_choice",
        'must be "none", "auto", "required" or {"type": "function", "function": {"name": "…"}}',
      );
    }
  }

  responseFormat(node: JsonNode): void {
    if (memberOf(node, "type")?.kind !== "string") {
      rejectField("response_format", 'must be an object with a type, such as {"type": "json_object"}');
    }
    checkSchemaValues(this.text, node, "response_format");
  }
}
