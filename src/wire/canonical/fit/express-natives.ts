import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import type { Warning } from "../../conversation/warning.ts";
import { mapSame } from "../model/map-same.ts";
import type { NativePart, Part, ToolResultPart } from "../model/parts.ts";
import type { ConversationRequest, Message } from "../model/request.ts";

/** A request with warnings about content that the target cannot express. */
interface ExpressedRequest {
  readonly request: ConversationRequest;
  readonly warnings: readonly Warning[];
}

/**
 * Replaces native parts of other formats with their text, if they have one. A tool result never becomes empty. Parts without a text are
 * left to the target's encoder, which drops them with a warning.
 */
export function expressNatives(request: ConversationRequest, format: ProviderFormat): ExpressedRequest {
  if (!request.messages.some(({ parts }) => parts.some(mayBeForeign))) return { request, warnings: NONE };
  const warnings: Warning[] = [];
  const context: Context = { format, warnings };
  const messages = mapSame(request.messages, (message, at) => {
    const parts = mapSame(message.parts, (part, index) =>
      expressPart(part, `messages[${at}].content[${index}]`, context),
    );
    return parts === message.parts ? message : ({ ...message, parts } satisfies Message);
  });
  return messages === request.messages
    ? { request, warnings }
    : { request: { ...request, messages }, warnings };
}

/** The target's format, and the warnings so far. */
interface Context {
  readonly format: ProviderFormat;
  readonly warnings: Warning[];
}

const NONE: readonly Warning[] = [];

/** Returns whether a part exists in only one format, or is a result with such a part. */
function mayBeForeign(part: Part): boolean {
  return part.kind === "native" || (part.kind === "tool-result" && part.content.some(mayBeForeign));
}

function expressPart(part: Part, field: string, context: Context): Part {
  if (part.kind === "tool-result") return expressResult(part, field, context);
  return isForeign(part, context.format) && part.text !== undefined
    ? { kind: "text", text: part.text }
    : part;
}

function isForeign(part: Part, format: ProviderFormat): part is NativePart {
  return part.kind === "native" && part.format !== format;
}

function expressResult(result: ToolResultPart, field: string, context: Context): ToolResultPart {
  const { format, warnings } = context;
  const content = mapSame(result.content, (part) => expressPart(part, field, context));
  const lost = content.filter((part) => isForeign(part, format));
  if (lost.length === 0) return content === result.content ? result : { ...result, content };
  for (const part of lost) {
    warnings.push({
      field,
      message: `The result's ${part.type} was left out: this model's provider does not support it.`,
    });
  }
  const left = content.filter((part) => !isForeign(part, format));
  return { ...result, content: left.length > 0 ? left : [describeLostContent(lost.map(({ type }) => type))] };
}

/** Returns the content of a tool result whose parts cannot be sent. */
export function describeLostContent(kinds: readonly string[]): Part {
  const named = [...new Set(kinds)].join(", ");
  return { kind: "text", text: `The result cannot be shown to this model. It consists of: ${named}.` };
}
