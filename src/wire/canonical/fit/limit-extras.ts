import { isEmpty } from "../../../base/json/fields.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { Extras, Part } from "../model/parts.ts";
import type { ConversationRequest, Message, Tool } from "../model/request.ts";
import { isEmptyValue } from "./list-lost-fields.ts";

/** A request limited to the fields that a vendor accepts. */
interface LimitedRequest {
  readonly request: ConversationRequest;
  /** Warnings for dropped fields of the request and its messages. Dropped fields of single parts are not reported. */
  readonly warnings: readonly Warning[];
}

/** The fields that a vendor accepts besides those of the canonical model. */
interface KnownFields {
  readonly ofRequest: ReadonlySet<string>;
  readonly ofMessages: ReadonlySet<string>;
}

/** Removes the extras of a request, except for fields that the vendor accepts. */
export function limitExtras(request: ConversationRequest, known: KnownFields): LimitedRequest {
  const { extras, ...rest } = request;
  const dropped = Object.keys(extras?.fields ?? {}).filter((field) => !known.ofRequest.has(field));
  const kept = extras === undefined ? undefined : keepFields(extras, known.ofRequest);
  return {
    request: {
      ...rest,
      messages: request.messages.map((message) => limitMessage(message, known.ofMessages)),
      tools: request.tools.map(limitTool),
      ...(kept === undefined ? {} : { extras: kept }),
    },
    warnings: [...dropped, ...listDropped(request.messages, known.ofMessages)].map((field) => ({
      field,
      message: "The provider does not support it; it was left out.",
    })),
  };
}

/** Lists the dropped fields of messages, each with its first position. */
function listDropped(messages: readonly Message[], known: ReadonlySet<string>): string[] {
  const dropped = new Map<string, string>();
  for (const [at, { extras }] of messages.entries()) {
    for (const [field, value] of Object.entries(extras?.fields ?? {})) {
      if (known.has(field) || dropped.has(field) || isEmptyValue(value)) continue;
      dropped.set(field, `messages[${at}].${field}`);
    }
  }
  return [...dropped.values()];
}

function keepFields(extras: Extras, known: ReadonlySet<string>): Extras {
  const fields = Object.fromEntries(Object.entries(extras.fields).filter(([field]) => known.has(field)));
  return { ...extras, fields };
}

/** Removes the extras of a message. The spelling of its content, as text or as parts, is kept. */
function limitMessage({ extras, ...message }: Message, known: ReadonlySet<string>): Message {
  const limited: Message = { ...message, parts: message.parts.map(limitPart) };
  if (extras === undefined) return limited;
  const { fields } = keepFields(extras, known);
  const content = extras.spelling?.["content"];
  if (isEmpty(fields) && content === undefined) return limited;
  const spelling = content === undefined ? {} : { spelling: { content } };
  return { ...limited, extras: { format: extras.format, fields, ...spelling } };
}

function limitPart(part: Part): Part {
  if (part.kind === "native" || (part.kind === "reasoning" && part.isContent)) return part;
  const { extras: _, cache: __, ...rest } = part;
  return rest.kind === "tool-result" ? { ...rest, content: rest.content.map(limitPart) } : rest;
}

function limitTool(tool: Tool): Tool {
  if (tool.kind === "native") return tool;
  const { extras: _, cache: __, ...rest } = tool;
  return rest;
}
