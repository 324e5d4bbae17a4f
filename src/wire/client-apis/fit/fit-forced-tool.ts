import { asFields } from "../../../base/json/fields.ts";
import { type JsonNode, memberOf, tryParseNode } from "../../../base/json/scan.ts";
import type { ModelTarget } from "../../canonical/model/format.ts";
import type { ConversationRequest, ReasoningParameters, ToolChoice } from "../../canonical/model/request.ts";
import type { Warning } from "../../conversation/warning.ts";

/** Whether `tool_choice` of a scanned request makes the model call a tool. The client APIs spell it alike. */
export function forcesTool(text: string, root: JsonNode): boolean {
  const node = memberOf(root, "tool_choice");
  if (node === undefined) return false;
  const choice = tryParseNode(text, node);
  if (typeof choice === "string") return choice === "required" || choice === "any";
  const { type, mode, allowed_tools } = asFields(choice) ?? {};
  if (type === "allowed_tools") return (mode ?? asFields(allowed_tools)?.["mode"]) === "required";
  return type !== undefined && type !== "auto" && type !== "none";
}

function isForced(choice: ToolChoice | null): boolean {
  if (choice?.kind === "allowed") return choice.required;
  return choice?.kind === "required" || choice?.kind === "tool";
}

/** Adapts a request that forces a tool call to its model. A forced call takes precedence over reasoning, as in Anthropic's API. */
export function fitForcedTool(
  request: ConversationRequest,
  forcedTools: ModelTarget["forcedTools"],
): { readonly request: ConversationRequest; readonly warnings: readonly Warning[] } {
  if (forcedTools === undefined || request.tools.length === 0 || !isForced(request.toolChoice))
    return { request, warnings: [] };
  if (forcedTools === "never") return { request: withFreeChoice(request), warnings: [NEVER_FORCED] };
  const { reasoning } = request;
  if (reasoning?.enabled === false || reasoning?.effort === "none") return { request, warnings: [] };
  return {
    request: { ...request, reasoning: NO_REASONING },
    warnings: reasoning === null ? [] : [NOT_WHILE_REASONING],
  };
}

function withFreeChoice(request: ConversationRequest): ConversationRequest {
  const { toolChoice } = request;
  return {
    ...request,
    toolChoice: toolChoice?.kind === "allowed" ? { ...toolChoice, required: false } : { kind: "auto" },
  };
}

const NEVER_FORCED: Warning = {
  field: "tool_choice",
  message: "The model cannot be forced to call a tool; it was asked to choose for itself.",
  isGrave: true,
};

const NOT_WHILE_REASONING: Warning = {
  field: "reasoning",
  message: "The model cannot be forced to call a tool while it reasons; reasoning was switched off.",
  isGrave: true,
};

/** Switches reasoning off. */
export const NO_REASONING: ReasoningParameters = {
  enabled: false,
  effort: "none",
  budgetTokens: null,
  adaptive: false,
  summary: null,
  hidden: false,
};
