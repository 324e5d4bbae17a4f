import { BOUNDS } from "../../../base/bounds.ts";
import { fail } from "../../../base/errors.ts";
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
  isFilled,
  isTrue,
  isWord,
  type JsonKind,
  type JsonNode,
  lookUp,
  memberOf,
  numberOf,
  stringOf,
  wordTable,
} from "../../json/scan.ts";
import { rejectState, STATE_FIELDS } from "../state-fields.ts";

/**
 * The checks on a scanned Responses request. Lenient where real clients are: null stands for absent, unknown fields,
 * items, parts and tools pass.
 * @throws GatewayError `invalid_request`, which names the field and the remedy; `invalid_model` for a malformed id.
 */
export function checkResponsesRequest(text: string, root: JsonNode): void {
  if (root.kind !== "object") refuse("body", "must be a JSON object");
  checkFieldCount(root);
  const model = memberOf(root, "model");
  if (model?.kind !== "string") refuse("model", 'is required: a string such as "openai/gpt-4o-mini"');
  if (model.end - model.start > BOUNDS.modelIdChars)
    fail("invalid_model", "model is too long to be a model id. GET /api/gateway/models lists them.");
  for (const field of STATE_FIELDS) if (isWanted(text, memberOf(root, field))) rejectState(field);
  checkInput(text, memberOf(root, "input"));
  for (const member of root.members ?? [])
    if (member.kind !== "null") CHECKS[member.key]?.(text, member, member.key);
}

/** Neither absent nor null nor false. */
function isWanted(text: string, node: JsonNode | undefined): boolean {
  if (node === undefined || node.kind === "null") return false;
  return node.kind !== "boolean" || isTrue(text, node);
}

function refuse(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
}

type Check = (text: string, node: JsonNode, field: string) => void;

const range =
  (low: number, high: number): Check =>
  (text, node, field) => {
    const value = numberOf(text, node);
    if (value === null || value < low || value > high) {
      refuse(field, `must be a number from ${low} to ${high}`);
    }
  };
const kind =
  (wanted: JsonKind, inWords: string): Check =>
  (_, node, field) => {
    if (node.kind !== wanted) refuse(field, `must be ${inWords}`);
  };

const checkTokens: Check = (text, node, field) => {
  const value = numberOf(text, node);
  if (value === null || !Number.isInteger(value) || value < 1) {
    refuse(field, "must be a whole number of at least 1");
  }
};

/** What each optional field must be. Null stands for absent and is not looked at. */
const CHECKS: Readonly<Record<string, Check>> = {
  instructions: kind("string", "a string"),
  stream: kind("boolean", "true or false"),
  max_output_tokens: checkTokens,
  temperature: range(0, 2),
  top_p: range(0, 1),
  top_logprobs: range(0, 20),
  parallel_tool_calls: kind("boolean", "true or false"),
  include: kind("array", "an array of strings"),
  reasoning: kind("object", 'an object, such as {"effort": "low"}'),
  text: (text, node, field) => {
    if (node.kind !== "object") refuse(field, 'must be an object, such as {"format": {"type": "text"}}');
    checkSchemaValues(text, node, field);
  },
  metadata: kind("object", "an object"),
  user: kind("string", "a string"),
  prompt_cache_key: kind("string", "a string"),
  tools: checkTools,
  tool_choice: checkToolChoice,
};

function checkInput(text: string, input: JsonNode | undefined): void {
  if (input?.kind === "string") return;
  const list = input?.items;
  if (!list) refuse("input", "is required: a string or an array of items");
  checkMessageCount("input", list.length, "items");
  const parts = tallyParts();
  const calls = tallyCalls();
  const reasoning = tallyReasoning();
  for (let i = 0; i < list.length; i++) {
    const item = list[i] as JsonNode;
    parts.add(lengthOf(item, "content") + lengthOf(item, "output"), "input");
    reasoning.add(lengthOf(item, "summary"), "input");
    if (memberOf(item, "call_id") !== undefined && memberOf(item, "output") === undefined)
      calls.add(1, "input");
    const problem = findProblem(text, item);
    if (problem !== null) refuse(`input[${i}]${problem[0]}`, problem[1]);
  }
}

function lengthOf(item: JsonNode, list: string): number {
  return memberOf(item, list)?.items?.length ?? 0;
}

/** The field of an item that is wrong, and how; names are put together only then. */
type Problem = readonly [string, string] | null;

function findProblem(text: string, item: JsonNode): Problem {
  if (item.kind !== "object") return ["", "must be an object, such as a message with role and content"];
  const type = memberOf(item, "type");
  if (type === undefined || type.kind === "null") return findMessageProblem(text, item);
  if (type.kind !== "string") return [".type", "must be a string"];
  return lookUp(text, type, ITEM_CHECKS)?.(text, item) ?? null;
}

const ITEM_CHECKS = wordTable<(text: string, item: JsonNode) => Problem>({
  message: findMessageProblem,
  reasoning: findReasoningProblem,
  function_call: findStrings(["call_id", "name", "arguments"]),
  custom_tool_call: findStrings(["call_id", "name", "input"]),
  function_call_output: findResultProblem,
  custom_tool_call_output: findResultProblem,
  item_reference: findStrings(["id"]),
});

function findStrings(names: readonly string[]): (text: string, item: JsonNode) => Problem {
  return (_, item) => {
    const wrong = names.find((name) => memberOf(item, name)?.kind !== "string");
    return wrong === undefined ? null : [`.${wrong}`, "must be a string"];
  };
}

const ROLES = wordTable({ user: true, assistant: true, system: true, developer: true });

function findMessageProblem(text: string, item: JsonNode): Problem {
  if (!lookUp(text, memberOf(item, "role"), ROLES)) {
    return [".role", "must be system, developer, user or assistant"];
  }
  return findContentProblem(text, memberOf(item, "content"), ".content");
}

function findContentProblem(text: string, content: JsonNode | undefined, field: string): Problem {
  if (content?.kind === "string") return null;
  if (!content?.items) return [field, "must be a string or an array of parts"];
  for (const [i, part] of content.items.entries()) {
    const type = memberOf(part, "type");
    if (type?.kind !== "string") {
      return [`${field}[${i}]`, 'must be an object with a type, such as {"type": "input_text", "text": "…"}'];
    }
    if (lookUp(text, type, TEXTS) && memberOf(part, "text")?.kind !== "string")
      return [`${field}[${i}].text`, "must be a string"];
  }
  return null;
}

const TEXTS = wordTable({ input_text: true, output_text: true });

function findReasoningProblem(_: string, item: JsonNode): Problem {
  const summary = memberOf(item, "summary");
  const isWrong = summary !== undefined && summary.kind !== "null" && summary.kind !== "array";
  return isWrong ? [".summary", "must be an array of parts"] : null;
}

function findResultProblem(text: string, item: JsonNode): Problem {
  if (memberOf(item, "call_id")?.kind !== "string") return [".call_id", "must be a string"];
  return findContentProblem(text, memberOf(item, "output"), ".output");
}

function checkTools(text: string, node: JsonNode): void {
  if (!node.items) refuse("tools", "must be an array of tools");
  checkToolAmounts(text, node);
  for (const [i, tool] of node.items.entries()) checkTool(text, tool, `tools[${i}]`);
}

const NAMED = wordTable({ function: true, custom: true, namespace: true });

function checkTool(text: string, tool: JsonNode, field: string): void {
  const type = memberOf(tool, "type");
  if (type?.kind !== "string") refuse(`${field}.type`, 'must be a string, "function" for a function');
  if (lookUp(text, type, NAMED) && !isFilled(memberOf(tool, "name"))) {
    refuse(`${field}.name`, "must be a string that is not empty");
  }
  const parameters = memberOf(tool, "parameters");
  if (
    isWord(text, type, "function") &&
    parameters !== undefined &&
    parameters.kind !== "null" &&
    parameters.kind !== "object"
  ) {
    refuse(`${field}.parameters`, "must be a JSON Schema object");
  }
}

const CHOICES = wordTable({ none: true, auto: true, required: true });

function checkToolChoice(text: string, node: JsonNode): void {
  if (lookUp(text, node, CHOICES)) return;
  const type = stringOf(text, memberOf(node, "type"));
  const needsName = type === "function" || type === "custom";
  if (type === undefined || (needsName && memberOf(node, "name")?.kind !== "string")) {
    refuse("tool_choice", 'must be "none", "auto", "required" or {"type": "function", "name": "…"}');
  }
}
