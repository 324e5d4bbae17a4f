import { measureChars } from "../../../../base/json/measure-chars.ts";
import { type ConversationRequest, EMPTY_REQUEST, type Tool } from "../../../canonical/model/request.ts";
import { readSpelling } from "../parts/extras.ts";

/** Maximum characters of the request that an answer repeats. A stream repeats them several times. */
const MAX_REPEATED_CHARS = 1_000_000;

/**
 * Returns the parts of a request that answers need: everything except its messages, of which only the instructions are kept. From a very
 * long request, keeps only short fields and the names of its tools, which the calls in the answer need.
 */
export function keepForAnswer(request: ConversationRequest): ConversationRequest {
  const messages = request.messages.slice(0, 1).filter((message) => readSpelling(message)?.asInstructions);
  const kept = { ...request, messages };
  if (measureChars(kept, MAX_REPEATED_CHARS) <= MAX_REPEATED_CHARS) return kept;
  const { parallelToolCalls, maxTokens, temperature, topP, reasoning, serviceTier, logprobs } = request;
  return {
    ...EMPTY_REQUEST,
    parallelToolCalls,
    maxTokens,
    temperature,
    topP,
    reasoning,
    serviceTier,
    logprobs,
    messages: [],
    tools: request.tools.flatMap(keepName),
  };
}

function keepName(tool: Tool): Tool[] {
  if (tool.kind === "native") return [];
  const { namespace } = tool;
  const { name, continues } = readSpelling(tool) ?? {};
  const spelling = { ...(name === undefined ? {} : { name }), ...(continues ? { continues } : {}) };
  const named = {
    name: tool.name,
    description: null,
    ...(namespace === undefined ? {} : { namespace }),
    extras: { format: "openai-responses", fields: {}, spelling } as const,
  };
  return tool.kind === "custom"
    ? [{ ...named, kind: "custom", inputFormat: null }]
    : [{ ...named, kind: "function", parameters: null, strict: null }];
}
