import { asFields, type Fields, omit } from "../../../../base/json/fields.ts";
import { ignoreWarnings } from "../../../canonical/fit/warn.ts";
import type { Finish } from "../../../canonical/model/answer.ts";
import type { AnswerEnd, AnswerIdentity } from "../../../canonical/model/format.ts";
import type { Extras } from "../../../canonical/model/parts.ts";
import type { ConversationRequest } from "../../../canonical/model/request.ts";
import { nameOpenaiTier } from "../../../canonical/model/service-tiers.ts";
import { encodeFinish } from "../../finish-reason.ts";
import { completeTool } from "../../required-fields.ts";
import { encodeUsage } from "../../usage.ts";
import { readOwnFields, readSpelling } from "../parts/extras.ts";
import { encodeText } from "../request/encode-request.ts";
import { encodeToolChoice, encodeTools } from "../request/encode-tools.ts";

/** Returns the fields of a response that repeat the request, as OpenAI sends them and its clients' types demand. */
export function encodeEcho(request: ConversationRequest): Record<string, unknown> {
  const own = readOwnFields(request.extras) ?? {};
  const { toolChoice, tools, reasoning } = request;
  return {
    background: false,
    instructions: readInstructions(request),
    max_output_tokens: request.maxTokens,
    max_tool_calls: own["max_tool_calls"] ?? null,
    metadata: request.metadata ?? {},
    parallel_tool_calls: request.parallelToolCalls ?? true,
    previous_response_id: null,
    prompt_cache_key: request.promptCacheKey,
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    safety_identifier: own["safety_identifier"] ?? null,
    service_tier: nameOpenaiTier(request.serviceTier ?? "default") ?? "default",
    store: false,
    // Clients require numbers: the API's own defaults where the request has none.
    temperature: request.temperature ?? 1,
    top_p: request.topP ?? 1,
    presence_penalty: request.presencePenalty ?? 0,
    frequency_penalty: request.frequencyPenalty ?? 0,
    text: { format: { type: "text" }, ...asFields(encodeText(request, own, ignoreWarnings)["text"]) },
    tool_choice: (toolChoice === null ? null : encodeToolChoice(toolChoice, tools)) ?? "auto",
    tools: encodeTools(tools, ignoreWarnings).map(completeTool),
    top_logprobs: request.logprobs?.top ?? 0,
    truncation: own["truncation"] ?? "disabled",
    user: request.user,
  };
}

function readInstructions({ messages }: ConversationRequest): string | null {
  const instructions = messages.find((message) => readSpelling(message)?.asInstructions);
  const part = instructions?.parts[0];
  return part?.kind === "text" ? part.text : null;
}

/** Returns the response at its start. */
export function encodeStart(identity: AnswerIdentity, echo: Fields): Record<string, unknown> {
  return {
    id: identity.id,
    object: "response",
    created_at: identity.created,
    completed_at: null,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    model: identity.model,
    output: [],
    usage: null,
    ...echo,
  };
}

/** The facts about a response that are known at its end. */
interface Outcome {
  readonly output: readonly Fields[];
  readonly finish: Finish | null;
  readonly serviceTier: string | null;
  /** The extras of the vendor's answer, if it was of this format. */
  readonly extras: Extras | undefined;
  readonly hasRefusal: boolean;
}

/** Encodes the response at its end. The vendor's fields take precedence over those of the request. */
export function encodeResponse(start: Fields, outcome: Outcome, end: AnswerEnd): Record<string, unknown> {
  const vendor = readOwnFields(outcome.extras) ?? {};
  const { finish } = outcome;
  const finished = encodeFinish(finish?.reason ?? null, outcome.hasRefusal);
  const tier = outcome.serviceTier === null ? undefined : nameOpenaiTier(outcome.serviceTier);
  return {
    ...start,
    ...omit(vendor, OVERWRITTEN),
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...finished,
    ...(finished["status"] === "completed" ? { completed_at: end.completedAt ?? start["created_at"] } : {}),
    output: outcome.output,
    usage: encodeUsage(end.report, asFields(vendor["usage"]) ?? {}),
    ...(end.metadata === null ? {} : { gateway_metadata: end.metadata }),
  };
}

/** The vendor may have got fewer tools than the client has sent, and under other names. */
const OVERWRITTEN = new Set(["usage", "completed_at", "tools", "tool_choice"]);
