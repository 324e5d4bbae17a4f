import { mayBeDeep } from "../../json/parse-json.ts";
import type { ToolCallPart } from "../model/parts.ts";
import type { ConversationRequest } from "../model/request.ts";

/**
 * Lets formats that have arguments as an object embed those of the function calls as they came, in place of parsing and printing them.
 * All must be the JSON of an object, null or empty. Changes the calls of the request, to which nothing else may refer yet. `embed` is
 * that of the shortened body.
 */
export function embedArguments({ messages }: ConversationRequest, embed: (json: string) => string): void {
  for (const { parts } of messages)
    for (const part of parts)
      if (part.kind === "tool-call" && canEmbed(part))
        (part as { embedded?: string }).embedded = embed(part.arguments);
}

/** Encoders have their own form for missing arguments, and reject those that are nested too deep. */
function canEmbed({ tool, arguments: json }: ToolCallPart): boolean {
  return tool === "function" && json.trimStart().startsWith("{") && !mayBeDeep(json);
}
