import { rejectField } from "../../../base/failures/errors.ts";
import { asFields, asList, asText, type Fields } from "../../../base/json/fields.ts";
import {
  isFilled,
  isWord,
  lookUp,
  memberOf,
  type NodeIn,
  stringOf,
  tryParseNode,
  wordTable,
} from "../../../base/json/scan.ts";
import {
  ALLOWED_TOOLS,
  type ChoiceSpelling,
  checkWantedTools,
  type OfferedTool,
  readWantedTools,
  type WantedTools,
} from "../../conversation/calls/check-tool-choice.ts";
import { checkToolType, RESPONSES_TOOL_TYPES } from "../../conversation/calls/tool-types.ts";
import {
  checkFieldCount,
  checkItemCount,
  checkSchemaValues,
  checkToolAmounts,
  tallyCalls,
  tallyParts,
  tallyReasoning,
} from "../../conversation/check-amounts.ts";
import {
  checkModel,
  isOtherKind,
  nodeChecker,
  numberFrom,
  ofKind,
  wholeNumberFrom,
} from "../../conversation/check-nodes.ts";
import type { ResponsesBody, ResponsesContent, ResponsesItem, ResponsesTool } from "../request-shape.ts";
import { isWithoutInput } from "../state/read-state.ts";

/**
 * Checks a scanned Responses request. It is as lenient as real clients need: null stands for absent, and unknown fields, items,
 * parts and tools are accepted.
 * @throws GatewayError `invalid_request`, which names the field and the remedy; `invalid_model` for a malformed model id.
 */
export function checkResponsesRequest(text: string, root: ResponsesBody): void {
  if (root.kind !== "object") rejectField("body", "must be a JSON object");
  checkFieldCount(root);
  checkModel(root.fields.model, "openai/gpt-4o-mini");
  if (!isWithoutInput(root)) checkInput(text, root.fields.input);
  checkFields(text, root);
  checkChosenTools(text, root);
}

/** The checks of the optional fields. */
const checkFields = nodeChecker<ResponsesBody>({
  instructions: ofKind("string", "a string"),
  stream: ofKind("boolean", "true or false"),
  max_output_tokens: wholeNumberFrom(1),
  temperature: numberFrom(0, 2),
  top_p: numberFrom(0, 1),
  top_logprobs: numberFrom(0, 20),
  parallel_tool_calls: ofKind("boolean", "true or false"),
  include: ofKind("array", "an array of strings"),
  reasoning: ofKind("object", 'an object, such as {"effort": "low"}'),
  text: checkText,
  metadata: ofKind("object", "an object"),
  user: ofKind("string", "a string"),
  prompt_cache_key: ofKind("string", "a string"),
  tools: checkTools,
  tool_choice: checkToolChoice,
});

function checkText(text: string, node: NodeIn<ResponsesBody, "text">, field: string): void {
  if (node.kind !== "object") rejectField(field, 'must be an object, such as {"format": {"type": "text"}}');
  checkSchemaValues(text, node, field);
}

function checkInput(text: string, input: ResponsesBody["fields"]["input"]): void {
  if (input?.kind === "string") return;
  const list = input?.items;
  if (!list) rejectField("input", "is required: a string or an array of items");
  checkItemCount(list.length);
  const parts = tallyParts();
  const calls = tallyCalls();
  const reasoning = tallyReasoning();
  for (let i = 0; i < list.length; i++) {
    const item = list[i] as ResponsesItem;
    const { content, output, summary, call_id } = item.fields;
    parts.add((content?.items?.length ?? 0) + (output?.items?.length ?? 0), "input");
    reasoning.add(summary?.items?.length ?? 0, "input");
    if (call_id !== undefined && output === undefined) calls.add(1, "input");
    const problem = findProblem(text, item);
    if (problem !== null) rejectField(`input[${i}]${problem[0]}`, problem[1]);
  }
}

/** The path of the wrong field inside its item, and what is wrong. Paths are joined only for a problem. */
type Problem = readonly [string, string] | null;

function findProblem(text: string, item: ResponsesItem): Problem {
  if (item.kind !== "object") return ["", "must be an object, such as a message with role and content"];
  const type = item.fields.type;
  if (type === undefined || type.kind === "null") return findMessageProblem(text, item);
  if (type.kind !== "string") return [".type", "must be a string"];
  return lookUp(text, type, ITEM_CHECKS)?.(text, item) ?? null;
}

const ITEM_CHECKS = wordTable<(text: string, item: ResponsesItem) => Problem>({
  message: findMessageProblem,
  reasoning: findReasoningProblem,
  function_call: findStrings(["call_id", "name", "arguments"]),
  custom_tool_call: findStrings(["call_id", "name", "input"]),
  function_call_output: findResultProblem,
  custom_tool_call_output: findResultProblem,
  item_reference: findStrings(["id"]),
});

function findStrings(names: readonly string[]): (text: string, item: ResponsesItem) => Problem {
  return (_, item) => {
    const wrong = names.find((name) => memberOf(item, name)?.kind !== "string");
    return wrong === undefined ? null : [`.${wrong}`, "must be a string"];
  };
}

const ROLES = wordTable({ user: true, assistant: true, system: true, developer: true });

function findMessageProblem(text: string, item: ResponsesItem): Problem {
  if (!lookUp(text, item.fields.role, ROLES)) {
    return [".role", "must be system, developer, user or assistant"];
  }
  return findContentProblem(text, item.fields.content, ".content");
}

function findContentProblem(text: string, content: ResponsesContent | undefined, field: string): Problem {
  if (content?.kind === "string") return null;
  if (!content?.items) return [field, "must be a string or an array of parts"];
  for (const [i, part] of content.items.entries()) {
    const type = part.fields.type;
    if (type?.kind !== "string") {
      return [`${field}[${i}]`, 'must be an object with a type, such as {"type": "input_text", "text": "…"}'];
    }
    if (lookUp(text, type, TEXTS) && part.fields.text?.kind !== "string")
      return [`${field}[${i}].text`, "must be a string"];
  }
  return null;
}

const TEXTS = wordTable({ input_text: true, output_text: true });

function findReasoningProblem(_: string, item: ResponsesItem): Problem {
  const summary = item.fields.summary;
  return isOtherKind(summary, "array") ? [".summary", "must be an array of parts"] : null;
}

function findResultProblem(text: string, item: ResponsesItem): Problem {
  if (item.fields.call_id?.kind !== "string") return [".call_id", "must be a string"];
  return findContentProblem(text, item.fields.output, ".output");
}

function checkTools(text: string, node: NodeIn<ResponsesBody, "tools">): void {
  if (!node.items) rejectField("tools", "must be an array of tools");
  checkToolAmounts(text, node);
  for (const [i, tool] of node.items.entries()) checkTool(text, tool, `tools[${i}]`);
}

const NAMED = wordTable({ function: true, custom: true, namespace: true });

function checkTool(text: string, tool: ResponsesTool, field: string): void {
  const type = tool.fields.type;
  if (type?.kind !== "string") rejectField(`${field}.type`, 'must be a string, "function" for a function');
  if (lookUp(text, type, NAMED) && !isFilled(tool.fields.name)) {
    rejectField(`${field}.name`, "must be a string that is not empty");
  }
  if (!isWord(text, type, "function")) {
    checkToolType(stringOf(text, type) ?? "", RESPONSES_TOOL_TYPES, `${field}.type`);
    return;
  }
  if (isOtherKind(tool.fields.parameters, "object")) {
    rejectField(`${field}.parameters`, "must be a JSON Schema object");
  }
}

const CHOICES = wordTable({ none: true, auto: true, required: true });

function checkToolChoice(text: string, node: NodeIn<ResponsesBody, "tool_choice">): void {
  if (lookUp(text, node, CHOICES)) return;
  const type = stringOf(text, node.fields.type);
  const needsName = type === "function" || type === "custom";
  if (type === undefined || (needsName && node.fields.name?.kind !== "string")) {
    rejectField("tool_choice", 'must be "none", "auto", "required" or {"type": "function", "name": "…"}');
  }
  if (type !== ALLOWED_TOOLS) checkToolType(type, RESPONSES_TOOL_TYPES, "tool_choice.type");
}

/** Checks that the request has the tools that `tool_choice` requires. The tools are read only if it requires any. */
function checkChosenTools(text: string, root: ResponsesBody): void {
  const { tool_choice: choice, tools: offered, input } = root.fields;
  const wanted = choice === undefined ? null : readWantedTools(text, choice, SPELLING);
  if (wanted === null) return;
  const tools = (offered?.items ?? []).map((tool) => readOffered(text, tool));
  const hasMore =
    tools.some(({ type = "" }) => FURTHER_TOOLS.has(type)) ||
    (input?.items ?? []).some((item) => item.fields.tools !== undefined);
  checkWantedTools(wanted, { tools, hasMore });
}

/** Types of tools that represent further tools, which the request does not name. */
const FURTHER_TOOLS: ReadonlySet<string> = new Set(["mcp", "tool_search"]);

const SPELLING: ChoiceSpelling = { readNamed, readAllowed: ({ tools }) => tools };

function readNamed({ type, name }: Fields): WantedTools {
  const isNamed = (type === "function" || type === "custom") && typeof name === "string";
  return isNamed ? { names: [name] } : { type: asText(type) ?? "" };
}

function readOffered(text: string, tool: ResponsesTool): OfferedTool {
  const type = stringOf(text, tool.fields.type);
  const name = stringOf(text, tool.fields.name);
  if (type !== "namespace") return { type, names: name === undefined ? [] : [name] };
  // The scan does not look into namespaces.
  const nested = asList(asFields(tryParseNode(text, tool))?.["tools"]);
  return { type, names: nested.flatMap((one) => asText(asFields(one)?.["name"]) ?? []) };
}
