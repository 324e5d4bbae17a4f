import { fail } from "../../../../base/failures/errors.ts";
import { asFields, type Fields } from "../../../../base/json/fields.ts";
import { listLostFields } from "../../../canonical/fit/list-lost-fields.ts";
import { type Warn, warnInto } from "../../../canonical/fit/warn.ts";
import type { EncodedRequest, ModelTarget } from "../../../canonical/model/format.ts";
import type { ConversationRequest } from "../../../canonical/model/request.ts";
import { OPENAI_SERVICE_TIERS } from "../../../canonical/model/service-tiers.ts";
import type { Warning } from "../../../conversation/warning.ts";
import { asksForEncrypted, ENCRYPTED_REASONING } from "../../encrypted-reasoning.ts";
import { LOGPROBS, TRAITS } from "../../traits.ts";
import { readOwnFields } from "../parts/extras.ts";
import { encodeMessages } from "./encode-messages.ts";
import { encodeToolChoice, encodeTools } from "./encode-tools.ts";
import { encodeOutputFormat } from "./output-format.ts";
import { encodeReasoningParameters } from "./reasoning-parameters.ts";

/**
 * Encodes a request for an upstream of the Responses format. Nothing is stored there, so reasoning is requested in the form that
 * can be sent back.
 * @throws GatewayError `invalid_request` for more than one choice, which this format cannot return.
 */
export function encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest {
  if ((request.n ?? 1) > 1) rejectSeveralChoices();
  const warnings: Warning[] = listLostFields(request, TRAITS);
  const warn = warnInto(warnings);
  const own = readOwnFields(request.extras) ?? {};
  const body = {
    ...own,
    model: target.name,
    ...encodeMessages(request.messages, target, warn),
    ...encodeToolFields(request, warn),
    ...encodePlain(request),
    ...encodeServiceTier(request, warn),
    ...encodeReasoningParameters(request.reasoning, target, warn),
    ...encodeText(request, own, warn),
    ...encodeLogprobs(request, own),
    ...encodeInclude(request, target, own),
    ...(request.stream ? { stream: true } : {}),
    store: false,
  };
  warnAboutSampling(request, warn);
  return { body, warnings };
}

function rejectSeveralChoices(): never {
  const metadata = { field: "n" };
  return fail("invalid_request", "n must be 1 for this model, which gives one answer a request.", {
    metadata,
  });
}

function encodeToolFields(request: ConversationRequest, warn: Warn): Fields {
  const { tools, toolChoice } = request;
  for (const [index, tool] of tools.entries()) {
    if (tool.kind !== "native" || tool.format === "openai-responses") continue;
    warn(`tools[${index}]`, `The tool ${tool.type} is unknown here and was left out.`);
  }
  const encoded = encodeTools(tools, warn);
  const choice = toolChoice === null ? null : encodeToolChoice(toolChoice, tools);
  if (toolChoice !== null && choice === null) {
    warn("tool_choice", "This choice is unknown here and was left out.");
  }
  return {
    ...(encoded.length > 0 ? { tools: encoded } : {}),
    ...(choice === null ? {} : { tool_choice: choice }),
  };
}

function encodePlain(request: ConversationRequest): Fields {
  return omitNull({
    parallel_tool_calls: request.parallelToolCalls,
    max_output_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    user: request.user,
    metadata: request.metadata,
    prompt_cache_key: request.promptCacheKey,
  });
}

function encodeServiceTier({ serviceTier, extras }: ConversationRequest, warn: Warn): Fields {
  if (serviceTier === null) return {};
  const tier = readOwnFields(extras) === null ? OPENAI_SERVICE_TIERS[serviceTier] : serviceTier;
  if (tier !== undefined) return { service_tier: tier };
  const message = `"${serviceTier}" is no tier of this model's provider; it was left out.`;
  warn("service_tier", message);
  return {};
}

/** Encodes `text`, the format and verbosity of the answer. `own` are the fields that the request kept in this format. */
export function encodeText(request: ConversationRequest, own: Fields, warn: Warn): Fields {
  const { outputFormat, verbosity } = request;
  const rest = asFields(own["text"]);
  if (rest === null && outputFormat === null && verbosity === null) return {};
  const format =
    outputFormat === null ? null : encodeOutputFormat(outputFormat, asFields(rest?.["format"]), warn);
  if (outputFormat !== null && format === null) {
    warn("response_format", "This format is unknown here and was left out.");
  }
  return { text: { ...rest, ...omitNull({ format, verbosity }) } };
}

function encodeLogprobs({ logprobs }: ConversationRequest, own: Fields): Fields {
  const top = logprobs?.top ?? null;
  return top === null || own["top_logprobs"] !== undefined ? {} : { top_logprobs: top };
}

function encodeInclude(request: ConversationRequest, target: ModelTarget, own: Fields): Fields {
  const given: unknown[] = Array.isArray(own["include"]) ? own["include"] : [];
  const asked = target.reasons === false ? given.filter((name) => name !== ENCRYPTED_REASONING) : given;
  const wanted = [
    ...(asksForEncrypted(target, mentionsReasoning(request)) ? [ENCRYPTED_REASONING] : []),
    // A client that used this format has set `include` itself.
    ...(request.logprobs === null || own["top_logprobs"] !== undefined ? [] : [LOGPROBS]),
  ];
  const missing = wanted.filter((name) => !asked.includes(name));
  if (missing.length === 0 && asked.length === given.length) return {};
  return { include: [...asked, ...missing] };
}

function mentionsReasoning({ reasoning, messages }: ConversationRequest): boolean {
  return reasoning !== null || messages.some(({ parts }) => parts.some(({ kind }) => kind === "reasoning"));
}

/** Warns of parameters that this format does not have and that change an answer only a little. */
function warnAboutSampling(request: ConversationRequest, warn: Warn): void {
  const given: readonly (readonly [string, boolean])[] = [
    ["stop", request.stop.length > 0],
    ["top_k", request.topK !== null],
    ["frequency_penalty", (request.frequencyPenalty ?? 0) !== 0],
    ["presence_penalty", (request.presencePenalty ?? 0) !== 0],
    ["seed", request.seed !== null],
    ["logit_bias", request.logitBias !== null && Object.keys(request.logitBias).length > 0],
  ];
  for (const [field, isGiven] of given) {
    if (isGiven) warn(field, `${field} has no equal at this model and was left out.`);
  }
}

function omitNull(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
