import { rejectField } from "../../../base/failures/errors.ts";
import type { Tally } from "../../../base/json/reject-excess.ts";
import {
  isFilled,
  isWord,
  type JsonNode,
  lookUp,
  type NodeIn,
  parseNode,
  stringOf,
  wordTable,
} from "../../../base/json/scan.ts";
import { checkWantedTools, type OfferedTool } from "../../conversation/calls/check-tool-choice.ts";
import { checkToolType, MESSAGES_TOOL_TYPES } from "../../conversation/calls/tool-types.ts";
import {
  checkFieldCount,
  checkMessageCount,
  checkSchemaValues,
  checkToolAmounts,
  tallyCalls,
  tallyParts,
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
import { rejectThread } from "../reject-thread.ts";
import type { MessagesBlock, MessagesBody, MessagesMessage, MessagesTool } from "./request-shape.ts";

/**
 * Checks a scanned Messages request. It is as lenient as real clients need: null stands for absent, and unknown fields, blocks
 * and tools are accepted.
 * @throws GatewayError `invalid_request`, which names the field and the remedy; `invalid_model` for a malformed model id.
 */
export function checkMessagesRequest(text: string, root: MessagesBody): void {
  if (root.kind !== "object") rejectField("body", "must be a JSON object");
  checkFieldCount(root);
  const thread = root.fields.thread;
  if (thread !== undefined) rejectThread(parseNode(text, thread));
  checkModel(root.fields.model, "anthropic/claude-sonnet-4.5");
  checkMessages(text, root.fields.messages);
  checkFields(text, root);
  checkChosenTools(text, root);
}

/** The checks of the optional fields. */
const checkFields = nodeChecker<MessagesBody>({
  max_tokens: wholeNumberFrom(1),
  temperature: numberFrom(0, 1),
  top_p: numberFrom(0, 1),
  top_k: wholeNumberFrom(0),
  stream: ofKind("boolean", "true or false"),
  metadata: checkMetadata,
  system: checkSystem,
  stop_sequences: checkStopSequences,
  tools: checkTools,
  tool_choice: checkToolChoice,
  thinking: checkThinking,
  output_config: checkSchemaValues,
});

function checkMetadata(_text: string, node: NodeIn<MessagesBody, "metadata">): void {
  if (node.kind !== "object") rejectField("metadata", "must be an object");
  if (isOtherKind(node.fields.user_id, "string")) rejectField("metadata.user_id", "must be a string");
}

function checkStopSequences(_text: string, node: JsonNode): void {
  if (!node.items?.every((item) => item.kind === "string"))
    rejectField("stop_sequences", "must be an array of strings");
}

const ROLES = wordTable({ user: true, assistant: true, system: true });

function checkMessages(text: string, node: MessagesBody["fields"]["messages"]): void {
  const messages = node?.items;
  if (!messages) rejectField("messages", "is required: an array of messages");
  if (messages.length === 0) rejectField("messages", "must have at least one message");
  checkMessageCount(messages.length);
  const tallies: Tallies = { parts: tallyParts(), calls: tallyCalls() };
  for (let i = 0; i < messages.length; i++) {
    const problem = findMessageProblem(text, messages[i] as MessagesMessage, tallies);
    if (problem !== null) rejectField(`messages[${i}]${problem[0]}`, problem[1]);
  }
}

interface Tallies {
  readonly parts: Tally;
  readonly calls: Tally;
}

/** The path of the field inside its object, and what is wrong with it. */
type Problem = readonly [path: string, problem: string];

/** Returns what is wrong with a message. Paths are joined only for a problem, so that valid requests cost no strings. */
function findMessageProblem(text: string, message: MessagesMessage, tallies: Tallies): Problem | null {
  if (message.kind !== "object") return ["", "must be an object with role and content"];
  if (!lookUp(text, message.fields.role, ROLES)) return [".role", "must be user, assistant or system"];
  const content = message.fields.content;
  if (content?.kind === "string") return null;
  if (!content?.items) return [".content", "is required: a string or an array of content blocks"];
  tallies.parts.add(content.items.length, "messages");
  for (let j = 0; j < content.items.length; j++) {
    const block = content.items[j] as MessagesBlock;
    tallies.parts.add(block.fields.content?.items?.length ?? 0, "messages");
    if (isWord(text, block.fields.type, "tool_use")) tallies.calls.add(1, "messages");
    const problem = findProblem(text, block);
    if (problem !== null) return [`.content[${j}]${problem[0]}`, problem[1]];
  }
  return null;
}

/** Returns what is wrong with a content block. */
function findProblem(text: string, block: MessagesBlock): Problem | null {
  const type = block.fields.type;
  if (type?.kind !== "string")
    return ["", 'must be an object with a type, such as {"type": "text", "text": "…"}'];
  return lookUp(text, type, BLOCK_CHECKS)?.(text, block) ?? null;
}

const BLOCK_CHECKS = wordTable<(text: string, block: MessagesBlock) => Problem | null>({
  text: findTextProblem,
  tool_use: findCallProblem,
  tool_result: findResultProblem,
  image: findSourceProblem,
  document: findSourceProblem,
});

function findTextProblem(_text: string, block: MessagesBlock): Problem | null {
  return block.fields.text?.kind === "string" ? null : [".text", "must be a string"];
}

function findSourceProblem(_text: string, block: MessagesBlock): Problem | null {
  const isComplete = block.fields.source?.fields.type?.kind === "string";
  return isComplete ? null : [".source", "must be an object with a type, such as base64 or url"];
}

function findCallProblem(_text: string, block: MessagesBlock): Problem | null {
  const id = block.fields.id;
  if (!isAbsent(id) && id.kind !== "string") return [".id", "must be a string"];
  if (block.fields.name?.kind !== "string") return [".name", "must be a string"];
  const input = block.fields.input;
  return isAbsent(input) || input.kind === "object" ? null : [".input", "must be an object"];
}

function findResultProblem(_text: string, block: MessagesBlock): Problem | null {
  const id = block.fields.tool_use_id;
  if (!isAbsent(id) && id.kind !== "string") return [".tool_use_id", "must be a string"];
  const content = block.fields.content;
  if (isAbsent(content) || content.kind === "string") return null;
  if (!content.items) return [".content", "must be a string or an array of content blocks"];
  const index = content.items.findIndex((part) => part.fields.type?.kind !== "string");
  return index < 0 ? null : [`.content[${index}]`, "must be an object with a type"];
}

function checkSystem(text: string, node: NodeIn<MessagesBody, "system">): void {
  if (node.kind === "string") return;
  if (!node.items) rejectField("system", "must be a string or an array of text blocks");
  for (const [i, block] of node.items.entries()) {
    const type = block.kind === "object" ? stringOf(text, block.fields.type) : undefined;
    if (type === undefined)
      rejectField(`system[${i}]`, 'must be an object such as {"type": "text", "text": "…"}');
    if (type === "text" && block.fields.text?.kind !== "string") {
      rejectField(`system[${i}].text`, "must be a string");
    }
  }
}

function checkTools(text: string, node: NodeIn<MessagesBody, "tools">): void {
  if (!node.items) rejectField("tools", "must be an array of tools");
  checkToolAmounts(text, node);
  for (const [i, tool] of node.items.entries()) checkTool(text, tool, `tools[${i}]`);
}

/** Checks a tool. Tools with a type of their own are the vendor's, which checks their fields. */
function checkTool(text: string, tool: MessagesTool, field: string): void {
  if (tool.kind !== "object") rejectField(field, "must be an object with name and input_schema");
  if (isOtherKind(tool.fields.type, "string"))
    rejectField(`${field}.type`, 'must be a string, "custom" for a tool of your own');
  const type = tool.fields.type;
  if (type?.kind === "string" && !isWord(text, type, "custom")) {
    checkToolType(stringOf(text, type) ?? "", MESSAGES_TOOL_TYPES, `${field}.type`);
    return;
  }
  if (!isFilled(tool.fields.name)) rejectField(`${field}.name`, "must be a string that is not empty");
  if (isOtherKind(tool.fields.description, "string")) rejectField(`${field}.description`, "must be a string");
  if (isOtherKind(tool.fields.input_schema, "object"))
    rejectField(`${field}.input_schema`, "must be a JSON Schema object");
}

function checkToolChoice(text: string, node: NodeIn<MessagesBody, "tool_choice">): void {
  const type = stringOf(text, node.fields.type);
  if (type === undefined)
    rejectField("tool_choice", 'must be an object with a type: "auto", "any", "tool" or "none"');
  if (type === "tool" && !stringOf(text, node.fields.name)) {
    rejectField("tool_choice.name", "must be the name of one of the tools");
  }
  if (!CHOICES.has(type)) rejectField("tool_choice.type", 'must be "auto", "any", "tool" or "none"');
}

const CHOICES: ReadonlySet<string> = new Set(["auto", "any", "tool", "none"]);

/** Checks that the request has the tools that `tool_choice` requires. It does not contain the names of tools of MCP servers. */
function checkChosenTools(text: string, root: MessagesBody): void {
  const choice = root.fields.tool_choice;
  const isAny = isWord(text, choice?.fields.type, "any");
  if (!isAny && !isWord(text, choice?.fields.type, "tool")) return;
  const name = stringOf(text, choice?.fields.name);
  const tools = (root.fields.tools?.items ?? []).map((tool) => readOffered(text, tool));
  const hasMore = !isAbsent(root.fields.mcp_servers) || tools.some(({ type }) => type === "mcp_toolset");
  checkWantedTools(isAny || name === undefined ? { any: true } : { names: [name] }, { tools, hasMore });
}

function readOffered(text: string, tool: MessagesTool): OfferedTool {
  const name = stringOf(text, tool.fields.name);
  return { type: stringOf(text, tool.fields.type), names: name === undefined ? [] : [name] };
}

function checkThinking(text: string, node: NodeIn<MessagesBody, "thinking">): void {
  if (stringOf(text, node.fields.type) === undefined) {
    rejectField("thinking", 'must be an object with a type: "enabled", "adaptive" or "disabled"');
  }
  const budget = node.fields.budget_tokens;
  if (!isAbsent(budget)) wholeNumberFrom(1)(text, budget, "thinking.budget_tokens");
}
