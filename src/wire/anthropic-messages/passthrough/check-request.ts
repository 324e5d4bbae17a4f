import { BOUNDS } from "../../../base/bounds.ts";
import { fail } from "../../../base/errors.ts";
import {
  checkFieldCount,
  checkMessageCount,
  checkSchemaValues,
  checkToolAmounts,
  tallyCalls,
  tallyParts,
} from "../../conversation/check-amounts.ts";
import type { Tally } from "../../json/reject-excess.ts";
import {
  isFilled,
  isWord,
  type JsonKind,
  type JsonNode,
  lookUp,
  memberOf,
  numberOf,
  parseNode,
  stringOf,
  wordTable,
} from "../../json/scan.ts";
import { refuse } from "../reject-field.ts";
import { rejectThread } from "../reject-thread.ts";

/**
 * The checks on a scanned request. Lenient where real clients are: null stands for absent, unknown fields, blocks and
 * tools pass.
 * @throws GatewayError `invalid_request`, which names the field and the remedy; `invalid_model` for a malformed id.
 */
export function checkMessagesRequest(text: string, root: JsonNode): void {
  if (root.kind !== "object") refuse("body", "must be a JSON object");
  checkFieldCount(root);
  const thread = memberOf(root, "thread");
  if (thread !== undefined) rejectThread(parseNode(text, thread));
  checkModel(memberOf(root, "model"));
  checkMessages(text, memberOf(root, "messages"));
  for (const member of root.members ?? []) if (member.kind !== "null") CHECKS[member.key]?.(text, member);
}

type Check = (text: string, node: JsonNode) => void;

const range =
  (field: string, low: number, high: number): Check =>
  (text, node) => {
    const value = numberOf(text, node);
    if (value === null || value < low || value > high)
      refuse(field, `must be a number from ${low} to ${high}`);
  };
const wholeNumber =
  (field: string, least: number): Check =>
  (text, node) => {
    const value = numberOf(text, node);
    if (value === null || !Number.isInteger(value) || value < least) {
      refuse(field, `must be a whole number of at least ${least}`);
    }
  };
const kind =
  (field: string, wanted: JsonKind, inWords: string): Check =>
  (_text, node) =>
    checkKind(field, node, wanted, inWords);

/** What each optional field must be. Null stands for absent and is not looked at. */
const CHECKS: Readonly<Record<string, Check>> = {
  max_tokens: wholeNumber("max_tokens", 1),
  temperature: range("temperature", 0, 1),
  top_p: range("top_p", 0, 1),
  top_k: wholeNumber("top_k", 0),
  stream: kind("stream", "boolean", "true or false"),
  metadata: (_text, node) => {
    checkKind("metadata", node, "object", "an object");
    checkKind("metadata.user_id", memberOf(node, "user_id"), "string", "a string");
  },
  system: checkSystem,
  stop_sequences: (_text, node) => {
    if (!node.items?.every((item) => item.kind === "string"))
      refuse("stop_sequences", "must be an array of strings");
  },
  tools: checkTools,
  tool_choice: checkToolChoice,
  thinking: checkThinking,
  output_config: (text, node) => checkSchemaValues(text, node, "output_config"),
};

function isAbsent(node: JsonNode | undefined): node is undefined {
  return node === undefined || node.kind === "null";
}

function checkKind(field: string, node: JsonNode | undefined, wanted: JsonKind, inWords: string): void {
  if (!isAbsent(node) && node.kind !== wanted) refuse(field, `must be ${inWords}`);
}

function checkModel(model: JsonNode | undefined): void {
  if (model?.kind !== "string")
    refuse("model", 'is required: a string such as "anthropic/claude-sonnet-4.5"');
  if (model.end - model.start > BOUNDS.modelIdChars) {
    fail("invalid_model", "model is too long to be a model id. GET /api/gateway/models lists them.");
  }
}

const ROLES = wordTable({ user: true, assistant: true, system: true });

function checkMessages(text: string, node: JsonNode | undefined): void {
  const messages = node?.items;
  if (!messages) refuse("messages", "is required: an array of messages");
  if (messages.length === 0) refuse("messages", "must have at least one message");
  checkMessageCount("messages", messages.length, "messages");
  const amounts: Amounts = { parts: tallyParts(), calls: tallyCalls() };
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as JsonNode;
    if (message.kind !== "object") refuse(`messages[${i}]`, "must be an object with role and content");
    if (!lookUp(text, memberOf(message, "role"), ROLES)) {
      refuse(`messages[${i}].role`, "must be user, assistant or system");
    }
    checkContent(text, memberOf(message, "content"), i, amounts);
  }
}

interface Amounts {
  readonly parts: Tally;
  readonly calls: Tally;
}

function checkContent(
  text: string,
  content: JsonNode | undefined,
  i: number,
  { parts, calls }: Amounts,
): void {
  if (content?.kind === "string") return;
  if (!content?.items)
    refuse(`messages[${i}].content`, "is required: a string or an array of content blocks");
  parts.add(content.items.length, "messages");
  for (let j = 0; j < content.items.length; j++) {
    const block = content.items[j] as JsonNode;
    parts.add(memberOf(block, "content")?.items?.length ?? 0, "messages");
    if (isWord(text, memberOf(block, "type"), "tool_use")) calls.add(1, "messages");
    const problem = findProblem(text, block);
    if (problem !== null) refuse(`messages[${i}].content[${j}]${problem[0]}`, problem[1]);
  }
}

type Problem = readonly [field: string, problem: string];

/** The field of a block that is wrong, and how; names are put together only then. */
function findProblem(text: string, block: JsonNode): Problem | null {
  const type = memberOf(block, "type");
  if (type?.kind !== "string")
    return ["", 'must be an object with a type, such as {"type": "text", "text": "…"}'];
  return lookUp(text, type, BLOCK_CHECKS)?.(text, block) ?? null;
}

const BLOCK_CHECKS = wordTable<(text: string, block: JsonNode) => Problem | null>({
  text: findTextProblem,
  tool_use: findCallProblem,
  tool_result: findResultProblem,
  image: findSourceProblem,
  document: findSourceProblem,
});

function findTextProblem(_text: string, block: JsonNode): Problem | null {
  return memberOf(block, "text")?.kind === "string" ? null : [".text", "must be a string"];
}

function findSourceProblem(_text: string, block: JsonNode): Problem | null {
  const isComplete = memberOf(memberOf(block, "source"), "type")?.kind === "string";
  return isComplete ? null : [".source", "must be an object with a type, such as base64 or url"];
}

function findCallProblem(_text: string, block: JsonNode): Problem | null {
  const id = memberOf(block, "id");
  if (!isAbsent(id) && id.kind !== "string") return [".id", "must be a string"];
  if (memberOf(block, "name")?.kind !== "string") return [".name", "must be a string"];
  const input = memberOf(block, "input");
  return isAbsent(input) || input.kind === "object" ? null : [".input", "must be an object"];
}

function findResultProblem(_text: string, block: JsonNode): Problem | null {
  const id = memberOf(block, "tool_use_id");
  if (!isAbsent(id) && id.kind !== "string") return [".tool_use_id", "must be a string"];
  const content = memberOf(block, "content");
  if (isAbsent(content) || content.kind === "string") return null;
  if (!content.items) return [".content", "must be a string or an array of content blocks"];
  const at = content.items.findIndex((part) => memberOf(part, "type")?.kind !== "string");
  return at < 0 ? null : [`.content[${at}]`, "must be an object with a type"];
}

function checkSystem(text: string, node: JsonNode): void {
  if (node.kind === "string") return;
  if (!node.items) refuse("system", "must be a string or an array of text blocks");
  for (const [i, block] of node.items.entries()) {
    const type = block.kind === "object" ? stringOf(text, memberOf(block, "type")) : undefined;
    if (type === undefined) refuse(`system[${i}]`, 'must be an object such as {"type": "text", "text": "…"}');
    if (type === "text" && memberOf(block, "text")?.kind !== "string") {
      refuse(`system[${i}].text`, "must be a string");
    }
  }
}

function checkTools(text: string, node: JsonNode): void {
  if (!node.items) refuse("tools", "must be an array of tools");
  checkToolAmounts(text, node);
  for (const [i, tool] of node.items.entries()) checkTool(text, tool, `tools[${i}]`);
}

/** Tools with a type of their own are the vendor's, and their fields its business. */
function checkTool(text: string, tool: JsonNode, field: string): void {
  if (tool.kind !== "object") refuse(field, "must be an object with name and input_schema");
  checkKind(`${field}.type`, memberOf(tool, "type"), "string", 'a string, "custom" for a tool of your own');
  const type = memberOf(tool, "type");
  if (type?.kind === "string" && !isWord(text, type, "custom")) return;
  if (!isFilled(memberOf(tool, "name"))) refuse(`${field}.name`, "must be a string that is not empty");
  checkKind(`${field}.description`, memberOf(tool, "description"), "string", "a string");
  checkKind(`${field}.input_schema`, memberOf(tool, "input_schema"), "object", "a JSON Schema object");
}

function checkToolChoice(text: string, node: JsonNode): void {
  const type = stringOf(text, memberOf(node, "type"));
  if (type === undefined)
    refuse("tool_choice", 'must be an object with a type: "auto", "any", "tool" or "none"');
  if (type === "tool" && !stringOf(text, memberOf(node, "name"))) {
    refuse("tool_choice.name", "must be the name of one of the tools");
  }
}

function checkThinking(text: string, node: JsonNode): void {
  if (stringOf(text, memberOf(node, "type")) === undefined) {
    refuse("thinking", 'must be an object with a type: "enabled", "adaptive" or "disabled"');
  }
  const budget = memberOf(node, "budget_tokens");
  if (!isAbsent(budget)) wholeNumber("thinking.budget_tokens", 1)(text, budget);
}
