import { fail } from "../../../base/errors.ts";
import type { EncodedRequest, ModelTarget } from "../../canonical/format.ts";
import { listLostFields } from "../../canonical/list-lost-fields.ts";
import type { ConversationRequest } from "../../canonical/request.ts";
import { type Warn, warnInto } from "../../canonical/warn.ts";
import type { Warning } from "../../conversation/warning.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import { encodeCache } from "./cache-mark.ts";
import { type EncodedMessages, encodeMessages } from "./encode-messages.ts";
import { encodeToolChoice, encodeTools, isForced } from "./encode-tools.ts";
import { FORMAT, isOwn, keptFields } from "./extras.ts";
import { fitReasoning } from "./fit-reasoning.ts";
import { encodeOutputFormat } from "./output-format.ts";
import { type EncodedThinking, encodeReasoningParameters } from "./reasoning-parameters.ts";

/**
 * The token limit for clients that set none, which this API demands. It is not the model's limit if that is higher, because the
 * limit is held on the account, and a client that cares sets one.
 */
const DEFAULT_MAX_TOKENS = 32_000;

/** Encodes a request in this format. What the format cannot express is left out with a warning; see `UpstreamCodec`. */
export function encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest {
  const warnings: Warning[] = listLostFields(request, FORMAT);
  const warn = warnInto(warnings);
  rejectAndWarn(request, warn);
  const kept = keptFields(request);
  const maxTokens = encodeMaxTokens(request, target, warn);
  const isToolForced = isForced(request.toolChoice) && request.tools.length > 0;
  const requested = encodeReasoningParameters(request.reasoning, { target, maxTokens, isToolForced, warn });
  const output = encodeOutputFormat(request.outputFormat, isOwn(request), warn);
  const conversation = encodeMessages(request.messages, warn);
  const isOwnReasoning = request.reasoning !== null && isOwn(request.reasoning);
  const thinking = isOwnReasoning ? requested : fitReasoning(requested, conversation.messages, warn);
  const body = {
    ...kept,
    model: target.name,
    max_tokens: maxTokens,
    ...encodeSystem(conversation, output.instruction),
    messages: conversation.messages,
    ...encodeToolFields(request, asFields(kept["tool_choice"]) ?? {}, warn),
    ...encodeSampling(request, thinking, warn),
    ...encodeLists(request, warn),
    ...encodeMetadata(request, asFields(kept["metadata"]), warn),
    ...encodeOutputConfig(thinking.effort, "output_format" in kept ? null : output.format, kept),
    ...(thinking.thinking === null ? {} : { thinking: thinking.thinking }),
    ...(request.stream ? { stream: true } : {}),
    ...encodeCache("cache_control" in kept ? {} : request),
  };
  return { body, warnings };
}

/** Warns of parameters that this API does not have, and rejects more than one choice. */
function rejectAndWarn(request: ConversationRequest, warn: Warn): void {
  if (request.n !== null && request.n > 1) {
    fail(
      "invalid_request",
      "n must be 1 for this model: it gives one answer a request. Repeat the request instead.",
      {
        metadata: { field: "n" },
      },
    );
  }
  const unknown: readonly (readonly [string, unknown])[] = [
    ["seed", request.seed],
    ["logit_bias", request.logitBias],
    ["logprobs", request.logprobs],
    ["frequency_penalty", request.frequencyPenalty || null],
    ["presence_penalty", request.presencePenalty || null],
    ["metadata", request.metadata],
    ["verbosity", request.verbosity === "medium" ? null : request.verbosity],
  ];
  for (const [field, value] of unknown) {
    if (value !== null) warn(field, "This model's API has no such setting; it was left out.");
  }
}

function encodeMaxTokens({ maxTokens }: ConversationRequest, target: ModelTarget, warn: Warn): number {
  const most = target.maxOutputTokens;
  if (maxTokens === null) return Math.min(most ?? DEFAULT_MAX_TOKENS, DEFAULT_MAX_TOKENS);
  if (most === null || maxTokens <= most) return maxTokens;
  warn("max_tokens", `This model answers with at most ${most} tokens; the bound was lowered to that.`);
  return most;
}

function encodeSystem({ system }: EncodedMessages, instruction: string | null): Fields {
  if (instruction === null) return system === null ? {} : { system };
  const blocks = typeof system === "string" ? [{ type: "text", text: system }] : (system ?? []);
  return { system: [...blocks, { type: "text", text: instruction }] };
}

/** This API rejects a tool choice without tools. */
function encodeToolFields(request: ConversationRequest, rest: Fields, warn: Warn): Fields {
  const tools = encodeTools(request, warn);
  const choice = tools.length > 0 || isOwn(request) ? encodeToolChoice(request, rest, warn) : null;
  return {
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice === null ? {} : { tool_choice: choice }),
  };
}

function isThinking(thinking: Fields | null): boolean {
  return thinking?.["type"] === "enabled" || thinking?.["type"] === "adaptive";
}

/** The least `top_p` that this API accepts while the model thinks. */
const THINKING_TOP_P = 0.95;

function encodeSampling(request: ConversationRequest, { thinking }: EncodedThinking, warn: Warn): Fields {
  const { temperature, topP, topK } = request;
  const thinks = isThinking(thinking);
  const omit = (field: string, value: number | null, reason: string) => {
    if (value !== null) warn(field, `${reason}; it was left out.`);
    return {};
  };
  const whileThinking = "This model takes no such setting while it thinks";
  const takesTemperature = !thinks || temperature === 1;
  const lowered = lowerTemperature(temperature, warn);
  const takesTopP = thinks ? (topP ?? 0) >= THINKING_TOP_P : isOwn(request) || temperature === null;
  const topPReason = thinks ? whileThinking : "This model takes only one of temperature and top_p";
  return {
    ...(takesTemperature ? present("temperature", lowered) : omit("temperature", lowered, whileThinking)),
    ...(thinks ? omit("top_k", topK, whileThinking) : present("top_k", topK)),
    ...(takesTopP ? present("top_p", topP) : omit("top_p", topP, topPReason)),
  };
}

function present(field: string, value: number | null): Fields {
  return value === null ? {} : { [field]: value };
}

function lowerTemperature(temperature: number | null, warn: Warn): number | null {
  if (temperature === null || temperature <= 1) return temperature;
  warn("temperature", "This model's temperature ends at 1; it was lowered to that.");
  return 1;
}

function encodeLists(request: ConversationRequest, warn: Warn): Fields {
  const stop = isOwn(request) ? request.stop : request.stop.filter((text) => text.trim() !== "");
  if (stop.length < request.stop.length) {
    warn("stop", "This model rejects stop sequences that are only whitespace; they were left out.");
  }
  return {
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
    ...encodeServiceTier(request, warn),
  };
}

/** This API's service tiers by the names that clients use. */
const TIERS: Readonly<Record<string, string>> = {
  auto: "auto",
  default: "standard_only",
  standard_only: "standard_only",
};

function encodeServiceTier(request: ConversationRequest, warn: Warn): Fields {
  if (request.serviceTier === null) return {};
  const tier = isOwn(request) ? request.serviceTier : TIERS[request.serviceTier];
  if (tier !== undefined) return { service_tier: tier };
  warn("service_tier", "This model's provider has no such tier; it was left out.");
  return {};
}

/** The longest `user_id` that the API accepts. */
const MAX_USER_CHARS = 256;

function encodeMetadata(request: ConversationRequest, kept: Fields | null, warn: Warn): Fields {
  const { user } = request;
  const isTooLong = user !== null && user.length > MAX_USER_CHARS && !isOwn(request);
  if (isTooLong) warn("user", `It is longer than ${MAX_USER_CHARS} characters and was left out.`);
  if (user === null || isTooLong) return kept === null ? {} : { metadata: kept };
  return { metadata: { ...kept, user_id: user } };
}

function encodeOutputConfig(effort: string | null, format: Fields | null, kept: Fields): Fields {
  const rest = asFields(kept["output_config"]);
  const config = {
    ...(effort === null ? {} : { effort }),
    ...(format === null ? {} : { format }),
    ...rest,
  };
  return rest === null && Object.keys(config).length === 0 ? {} : { output_config: config };
}
