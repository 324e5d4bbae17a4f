import { fail } from "../../../../base/failures/errors.ts";
import {
  asFields,
  assignFields,
  type Fields,
  type MutableFields,
  NO_FIELDS,
  setField,
} from "../../../../base/json/fields.ts";
import { listLostFields } from "../../../canonical/fit/list-lost-fields.ts";
import { type Warn, warnInto } from "../../../canonical/fit/warn.ts";
import type { EncodedRequest, ModelTarget } from "../../../canonical/model/format.ts";
import type { ConversationRequest } from "../../../canonical/model/request.ts";
import type { Warning } from "../../../conversation/warning.ts";
import { TRAITS } from "../../traits.ts";
import { encodeCache } from "../parts/cache-mark.ts";
import { isOwn, keptFields } from "../parts/extras.ts";
import { type EncodedMessages, encodeMessages } from "./encode-messages.ts";
import { encodeToolChoice, encodeTools, isForced } from "./encode-tools.ts";
import { fitReasoning } from "./fit-reasoning.ts";
import { encodeOutputFormat } from "./output-format.ts";
import { encodeReasoningParameters } from "./reasoning-parameters.ts";

/**
 * The token limit for clients that set none, which this API demands. It is not the model's limit if that is higher, because the
 * limit is held on the account, and a client that cares sets one.
 */
const DEFAULT_MAX_TOKENS = 32_000;

/** Encodes a request in this format. What the format cannot express is left out with a warning; see `UpstreamCodec`. */
export function encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest {
  const warnings: Warning[] = listLostFields(request, TRAITS);
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
  const body: MutableFields = { ...kept, model: target.name, max_tokens: maxTokens };
  addSystem(body, conversation, output.instruction);
  body["messages"] = conversation.messages;
  addTools(body, request, warn);
  addSampling(body, request, { thinking: thinking.thinking, warn });
  addStop(body, request, warn);
  addServiceTier(body, request, warn);
  addMetadata(body, request, warn);
  addOutputConfig(body, thinking.effort, "output_format" in kept ? null : output.format);
  if (thinking.thinking !== null) body["thinking"] = thinking.thinking;
  if (request.stream) body["stream"] = true;
  if (!("cache_control" in kept)) assignFields(body, encodeCache(request));
  return { body, warnings };
}

/** Warns of parameters that this API does not have, and rejects more than one choice. */
function rejectAndWarn(request: ConversationRequest, warn: Warn): void {
  if (request.n !== null && request.n > 1) {
    fail(
      "invalid_request",
      "n must be 1 for this model: it gives one answer a request. Send several requests instead.",
      {
        metadata: { field: "n" },
      },
    );
  }
  for (const [field, isSet] of UNKNOWN_SETTINGS)
    if (isSet(request)) warn(field, "This model's API has no such setting; it was left out.");
}

/** Parameters that this API does not have, and whether a request sets them. */
const UNKNOWN_SETTINGS: readonly (readonly [string, (request: ConversationRequest) => boolean])[] = [
  ["seed", ({ seed }) => seed !== null],
  ["logit_bias", ({ logitBias }) => logitBias !== null],
  ["logprobs", ({ logprobs }) => logprobs !== null],
  ["frequency_penalty", ({ frequencyPenalty }) => Boolean(frequencyPenalty)],
  ["presence_penalty", ({ presencePenalty }) => Boolean(presencePenalty)],
  ["metadata", ({ metadata }) => metadata !== null],
  ["verbosity", ({ verbosity }) => verbosity !== null && verbosity !== "medium"],
];

function encodeMaxTokens({ maxTokens }: ConversationRequest, target: ModelTarget, warn: Warn): number {
  const most = target.maxOutputTokens;
  if (maxTokens === null) return Math.min(most ?? DEFAULT_MAX_TOKENS, DEFAULT_MAX_TOKENS);
  if (most === null || maxTokens <= most) return maxTokens;
  warn("max_tokens", `This model answers with at most ${most} tokens; max_tokens was lowered to that.`);
  return most;
}

function addSystem(body: MutableFields, { system }: EncodedMessages, instruction: string | null): void {
  if (instruction === null) {
    if (system !== null) body["system"] = system;
    return;
  }
  const blocks = typeof system === "string" ? [{ type: "text", text: system }] : (system ?? []);
  body["system"] = [...blocks, { type: "text", text: instruction }];
}

/** This API rejects a tool choice without tools. The body still has the kept fields of the choice, if any. */
function addTools(body: MutableFields, request: ConversationRequest, warn: Warn): void {
  const kept = asFields(body["tool_choice"]) ?? NO_FIELDS;
  const tools = encodeTools(request, warn);
  const choice = tools.length > 0 || isOwn(request) ? encodeToolChoice(request, kept, warn) : null;
  if (tools.length > 0) body["tools"] = tools;
  if (choice !== null) body["tool_choice"] = choice;
}

function isThinking(thinking: Fields | null): boolean {
  return thinking?.["type"] === "enabled" || thinking?.["type"] === "adaptive";
}

/** The least `top_p` that this API accepts while the model thinks. */
const THINKING_TOP_P = 0.95;

function addSampling(
  body: MutableFields,
  request: ConversationRequest,
  { thinking, warn }: { readonly thinking: Fields | null; readonly warn: Warn },
): void {
  const { temperature, topP, topK } = request;
  const thinks = isThinking(thinking);
  const add = (field: string, value: number | null, isTaken: boolean, reason: string): void => {
    if (value === null) return;
    if (isTaken) setField(body, field, value);
    else warn(field, `${reason}; it was left out.`);
  };
  const whileThinking = "This model takes no such setting while it thinks";
  const takesTopP = thinks ? (topP ?? 0) >= THINKING_TOP_P : isOwn(request) || temperature === null;
  const topPReason = thinks ? whileThinking : "This model takes only one of temperature and top_p";
  add("temperature", lowerTemperature(temperature, warn), !thinks || temperature === 1, whileThinking);
  add("top_k", topK, !thinks, whileThinking);
  add("top_p", topP, takesTopP, topPReason);
}

function lowerTemperature(temperature: number | null, warn: Warn): number | null {
  if (temperature === null || temperature <= 1) return temperature;
  warn("temperature", "This model accepts temperatures up to 1; it was lowered to that.");
  return 1;
}

function addStop(body: MutableFields, request: ConversationRequest, warn: Warn): void {
  if (request.stop.length === 0) return;
  const stop = isOwn(request) ? request.stop : request.stop.filter((text) => text.trim() !== "");
  if (stop.length < request.stop.length) {
    warn("stop", "This model rejects stop sequences that are only whitespace; they were left out.");
  }
  if (stop.length > 0) body["stop_sequences"] = stop;
}

/** This API's service tiers by the names that clients use. */
const TIERS: Readonly<Record<string, string>> = {
  auto: "auto",
  default: "standard_only",
  standard_only: "standard_only",
};

function addServiceTier(body: MutableFields, request: ConversationRequest, warn: Warn): void {
  if (request.serviceTier === null) return;
  const tier = isOwn(request) ? request.serviceTier : TIERS[request.serviceTier];
  if (tier !== undefined) body["service_tier"] = tier;
  else warn("service_tier", "This model's provider has no such tier; it was left out.");
}

/** The longest `user_id` that the API accepts. */
const MAX_USER_CHARS = 256;

/** Adds the user to the kept metadata, which the body still has. */
function addMetadata(body: MutableFields, request: ConversationRequest, warn: Warn): void {
  const { user } = request;
  if (user === null) return;
  if (user.length > MAX_USER_CHARS && !isOwn(request))
    warn("user", `It is longer than ${MAX_USER_CHARS} characters and was left out.`);
  else body["metadata"] = { ...asFields(body["metadata"]), user_id: user };
}

/** Adds effort and format to the kept fields of the output configuration, which take precedence and which the body still has. */
function addOutputConfig(body: MutableFields, effort: string | null, format: Fields | null): void {
  if (effort === null && format === null) return;
  body["output_config"] = {
    ...(effort === null ? {} : { effort }),
    ...(format === null ? {} : { format }),
    ...asFields(body["output_config"]),
  };
}
