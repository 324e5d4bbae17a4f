import type { FormatName } from "../conversation/format-name.ts";
import type { Warning } from "../conversation/warning.ts";
import { mapSame } from "./map-same.ts";
import type { NativePart, Part, ToolResultPart } from "./parts.ts";
import type { ConversationRequest, Message } from "./request.ts";

/** A request, and what of it the target cannot express. */
interface ExpressedRequest {
  readonly request: ConversationRequest;
  readonly warnings: readonly Warning[];
}

/**
 * Puts parts that only another format has as far as the target can take them: those that say something become its text.
 * A tool result never becomes empty by what it loses; other parts without a text are left to the target's encoder, which
 * leaves them out and names them.
 */
export function expressNatives(request: ConversationRequest, format: FormatName): ExpressedRequest {
  const warnings: Warning[] = [];
  const messages = mapSame(request.messages, (message, at) => {
    const parts = mapSame(message.parts, (part, place) =>
      expressPart(part, format, `messages[${at}].content[${place}]`, warnings),
    );
    return parts === message.parts ? message : ({ ...message, parts } satisfies Message);
  });
  return messages === request.messages
    ? { request, warnings }
    : { request: { ...request, messages }, warnings };
}

function expressPart(part: Part, format: FormatName, field: string, warnings: Warning[]): Part {
  if (part.kind === "tool-result") return expressResult(part, format, field, warnings);
  return isForeign(part, format) && part.text !== undefined ? { kind: "text", text: part.text } : part;
}

function isForeign(part: Part, format: FormatName): part is NativePart {
  return part.kind === "native" && part.format !== format;
}

function expressResult(
  result: ToolResultPart,
  format: FormatName,
  field: string,
  warnings: Warning[],
): ToolResultPart {
  const content = mapSame(result.content, (part) => expressPart(part, format, field, warnings));
  const lost = content.filter((part) => isForeign(part, format));
  if (lost.length === 0) return content === result.content ? result : { ...result, content };
  for (const part of lost) {
    warnings.push({
      field,
      message: `The result's ${part.type} was left out: this model's provider takes none.`,
    });
  }
  const left = content.filter((part) => !isForeign(part, format));
  return { ...result, content: left.length > 0 ? left : [sayLost(lost.map(({ type }) => type))] };
}

/** What a tool result says of which nothing can be sent. */
export function sayLost(kinds: readonly string[]): Part {
  const named = [...new Set(kinds)].join(", ");
  return { kind: "text", text: `The result cannot be shown to this model. It consists of: ${named}.` };
}
