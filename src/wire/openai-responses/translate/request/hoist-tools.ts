import { asList } from "../../../../base/json/fields.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import type { ConversationRequest, Message, Tool } from "../../../canonical/model/request.ts";
import { separateCalls, separateTools } from "../parts/namespaces.ts";
import { decodeTools } from "./decode-tools.ts";

/** The type of an item that adds tools to those of the request. */
const ADDED_TOOLS = "additional_tools";

/**
 * Moves tools that items of the input add to the list of tools, for hosts that do not know such items. They are added in their order, so
 * that tools of earlier turns stay where they are. Requests without such items are returned unchanged.
 */
export function hoistTools(request: ConversationRequest): ConversationRequest {
  const added = request.messages.flatMap(({ parts }) => parts.filter(addsTools));
  if (added.length === 0) return request;
  const tools: Tool[] = [...request.tools];
  for (const part of added)
    if (part.kind === "native") tools.push(...decodeTools(asList(part.value["tools"])));
  const messages = request.messages.flatMap(withoutAdded);
  return { ...request, tools: separateTools(tools), messages: separateCalls(messages, tools) };
}

function addsTools(part: Part): boolean {
  return part.kind === "native" && part.format === "openai-responses" && part.type === ADDED_TOOLS;
}

/** A message that only added tools is none any more. */
function withoutAdded(message: Message): readonly Message[] {
  if (!message.parts.some(addsTools)) return [message];
  const parts = message.parts.filter((part) => !addsTools(part));
  return parts.length === 0 ? [] : [{ ...message, parts }];
}
