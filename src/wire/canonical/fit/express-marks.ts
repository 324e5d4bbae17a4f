import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { Warning } from "../../conversation/warning.ts";
import { mapSame } from "../model/map-same.ts";
import type { CacheMark, Part, ToolResultPart } from "../model/parts.ts";
import type { ConversationRequest, Message } from "../model/request.ts";

/**
 * Expresses cache marks in OpenAI's formats: as breakpoints for models that have them, in the content of instructions, users and tools; for
 * others breakpoints are left out (https://developers.openai.com/api/docs/guides/prompt-caching, 2026-11-28). Other formats have marks of
 * their own.
 */
export function expressMarks(
  request: ConversationRequest,
  { cacheMarks }: Pick<FormatTraits, "cacheMarks">,
  takesBreakpoints: boolean,
): { readonly request: ConversationRequest; readonly warnings: readonly Warning[] } {
  if (cacheMarks !== "breakpoints") return { request, warnings: [] };
  let hasLost = false;
  const change = (part: Part, mayMark: boolean): Part => {
    const within = part.kind === "tool-result" ? changeContent(part, (one) => change(one, mayMark)) : part;
    const { cache } = within;
    if (cache === undefined) return within;
    if (mayMark) return { ...within, cache: BREAKPOINT };
    if (cache.isBreakpoint !== true) return within;
    hasLost = true;
    const { cache: _, ...rest } = within;
    return rest as Part;
  };
  const messages = mapSame(request.messages, (message): Message => {
    const mayMark = takesBreakpoints && message.role !== "assistant";
    const parts = mapSame(message.parts, (part) => change(part, mayMark));
    return parts === message.parts ? message : { ...message, parts };
  });
  return { request: { ...request, messages }, warnings: hasLost ? [LOST_BREAKPOINTS] : [] };
}

function changeContent(result: ToolResultPart, change: (part: Part) => Part): ToolResultPart {
  const content = mapSame(result.content, change);
  return content === result.content ? result : { ...result, content };
}

/** Its lifetime is that of the request. */
const BREAKPOINT: CacheMark = { ttl: null, isBreakpoint: true };

const LOST_BREAKPOINTS: Warning = {
  field: "prompt_cache_breakpoint",
  message: "Breakpoints that the model does not support, such as those in answers, were left out.",
};
