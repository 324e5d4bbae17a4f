import type { Warning } from "./format.ts";
import type { Extras, Part } from "./parts.ts";
import type { ConversationRequest, Message, Tool } from "./request.ts";

/** What is left of a request for a vendor that takes only the fields it knows. */
export interface LimitedRequest {
  readonly request: ConversationRequest;
  /** The fields of the request that were left out; what hung on single messages is not named. */
  readonly warnings: readonly Warning[];
}

/** Takes away what only the client's format knows, but for the fields of the request that are `known` to the vendor. */
export function limitExtras(request: ConversationRequest, known: ReadonlySet<string>): LimitedRequest {
  const { extras, ...rest } = request;
  const dropped = Object.keys(extras?.fields ?? {}).filter((field) => !known.has(field));
  const kept = extras === undefined ? undefined : keepFields(extras, known);
  return {
    request: {
      ...rest,
      messages: request.messages.map(limitMessage),
      tools: request.tools.map(limitTool),
      ...(kept === undefined ? {} : { extras: kept }),
    },
    warnings: dropped.map((field) => ({ field, message: "The provider does not take it; it was left out." })),
  };
}

function keepFields(extras: Extras, known: ReadonlySet<string>): Extras {
  const fields = Object.fromEntries(Object.entries(extras.fields).filter(([field]) => known.has(field)));
  return { ...extras, fields };
}

function limitMessage({ extras: _, ...message }: Message): Message {
  return { ...message, parts: message.parts.map(limitPart) };
}

function limitPart(part: Part): Part {
  if (part.kind === "native") return part;
  const { extras: _, cache: __, ...rest } = part;
  return rest.kind === "tool-result" ? { ...rest, content: rest.content.map(limitPart) } : rest;
}

function limitTool(tool: Tool): Tool {
  if (tool.kind === "native") return tool;
  const { extras: _, cache: __, ...rest } = tool;
  return rest;
}
