import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { ConversationRequest } from "../model/request.ts";

/** Where a request goes. */
interface RestrictedTarget {
  readonly format: Pick<FormatTraits, "tools">;
  /** Whether the host is one of OpenAI's, which know free-text tools. */
  readonly takesCustomTools: boolean;
}

/**
 * Removes the tools that `tool_choice` does not allow, for hosts of OpenAI's formats that are not OpenAI: they do not know `allowed_tools`,
 * and a tool that is not allowed must not be called. The encoders of other formats do the same.
 */
export function restrictTools(
  request: ConversationRequest,
  { format, takesCustomTools }: RestrictedTarget,
): ConversationRequest {
  const { toolChoice, tools } = request;
  if (toolChoice?.kind !== "allowed" || takesCustomTools || format.tools.hasCustomTools !== true)
    return request;
  const names = new Set(toolChoice.names);
  return {
    ...request,
    tools: tools.filter((tool) => tool.kind !== "native" && names.has(tool.name)),
    toolChoice: { kind: toolChoice.required ? "required" : "auto" },
  };
}
