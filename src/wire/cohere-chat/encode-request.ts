import { fail } from "../../base/failures/errors.ts";
import type { Fields } from "../../base/json/fields.ts";
import { listLostFields } from "../canonical/fit/list-lost-fields.ts";
import type { EncodedRequest, ModelTarget } from "../canonical/model/format.ts";
import type { ConversationRequest, OutputFormat } from "../canonical/model/request.ts";
import type { Warning } from "../conversation/warning.ts";
import { lowerSchema } from "../json-schema/lower-schema.ts";
import { encodeMessages } from "./encode-messages.ts";
import { encodeTools } from "./encode-tools.ts";

type Warn = (field: Warning["field"], message: string) => void;

import { TRAITS } from "./traits.ts";

/**
 * Encodes the body of a chat request.
 * @throws GatewayError `invalid_request` for more than one choice, and for media that Cohere does not read.
 */
export function encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest {
  if (request.n !== null && request.n > 1) {
    fail("invalid_request", "n must be 1 for this model; send the request several times.", {
      metadata: { field: "n" },
    });
  }
  const warnings: Warning[] = listLostFields(request, TRAITS);
  const warn: Warn = (field, message) => warnings.push({ field, message });
  warnUnsupported(request, warn);
  const thinks = target.reasoning !== null;
  const body = {
    model: target.name,
    messages: encodeMessages(request.messages, { thinks, warn }),
    stream: request.stream,
    ...encodeTools(request, warn),
    ...encodeOutputFormat(request, warn),
    ...encodeSampling(request, warn),
    ...(request.logprobs === null ? {} : { logprobs: true }),
    ...encodeReasoning(request, target, warn),
    ...readOwnFields(request),
  };
  return { body, warnings };
}

/** Fields that only Cohere has. */
const OWN_FIELDS = ["citation_options", "documents", "priority", "safety_mode"];

function readOwnFields({ extras }: ConversationRequest): Fields {
  if (extras?.format !== "cohere-chat") return {};
  return Object.fromEntries(
    OWN_FIELDS.flatMap((name) => (name in extras.fields ? [[name, extras.fields[name]]] : [])),
  );
}

/** Service tiers that mean Cohere's default. */
const PLAIN_TIERS: ReadonlySet<string | null> = new Set([null, "auto", "default", "standard_only"]);

function warnUnsupported(request: ConversationRequest, warn: Warn): void {
  const settings: readonly (readonly [string, boolean])[] = [
    ["logit_bias", request.logitBias !== null && Object.keys(request.logitBias).length > 0],
    ["top_logprobs", Boolean(request.logprobs?.top)],
    ["verbosity", request.verbosity !== null],
    ["service_tier", !PLAIN_TIERS.has(request.serviceTier)],
    ["user", request.user !== null],
    ["metadata", request.metadata !== null && Object.keys(request.metadata).length > 0],
  ];
  for (const [field, isSet] of settings)
    if (isSet) warn(field, "This provider does not support it; it was left out.");
}

const MAX_STOPS = 5;

type Range = readonly [low: number, high: number];

/** Encodes the sampling parameters, limited to the ranges of the API reference. */
function encodeSampling(request: ConversationRequest, warn: Warn): Fields {
  const limit = (field: string, value: number | null, [low, high]: Range): number | null => {
    if (value === null || (value >= low && value <= high)) return value;
    const limited = Math.min(Math.max(value, low), high);
    warn(field, `This provider accepts ${low} to ${high}; it was set to ${limited}.`);
    return limited;
  };
  const stop = request.stop.filter((sequence) => sequence !== "");
  if (stop.length > MAX_STOPS)
    warn("stop", `This provider accepts ${MAX_STOPS} stop sequences; the others were left out.`);
  return withoutNulls({
    max_tokens: request.maxTokens,
    temperature: limit("temperature", request.temperature, [0, 1]),
    // Cohere's range excludes both ends.
    p: request.topP === null ? null : Math.min(Math.max(request.topP, 0.01), 0.99),
    k: limit("top_k", request.topK, [0, 500]),
    frequency_penalty: limit("frequency_penalty", request.frequencyPenalty, [0, 1]),
    presence_penalty: limit("presence_penalty", request.presencePenalty, [0, 1]),
    seed: limit("seed", request.seed, [0, Number.MAX_SAFE_INTEGER]),
    stop_sequences: stop.length === 0 ? null : stop.slice(0, MAX_STOPS),
  });
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function encodeOutputFormat({ outputFormat, tools }: ConversationRequest, warn: Warn): Fields {
  if (outputFormat === null || outputFormat.kind === "text") return {};
  if (outputFormat.kind === "native") {
    warn("response_format", "Another provider's format was left out.");
    return {};
  }
  if (tools.length > 0) {
    warn("response_format", "This provider does not accept a format together with tools; it was left out.");
    return {};
  }
  return { response_format: { type: "json_object", ...encodeAnswerSchema(outputFormat, warn) } };
}

function encodeAnswerSchema(format: OutputFormat, warn: Warn): Fields {
  if (format.kind !== "json-schema") return {};
  const { schema, loosened } = lowerSchema(format.schema, "cohere-output", "response_format.schema");
  for (const { field, message } of loosened) warn(field, message);
  return { json_schema: schema };
}

/**
 * Budgets by effort: Cohere takes only budgets. Tokens. Higher efforts have no budget, so that the model thinks as long as it
 * needs.
 */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 512, low: 2048, medium: 8192 };

function encodeReasoning(
  { reasoning: parameters, maxTokens }: ConversationRequest,
  { reasoning, reasons }: ModelTarget,
  warn: Warn,
): Fields {
  if (parameters === null) return {};
  const isOff = parameters.enabled === false || parameters.effort === "none";
  if (reasoning === null) {
    if (reasons === true)
      warn("reasoning", "It is not known how to control this model's reasoning; the model decides.");
    else if (!isOff) warn("reasoning", "This model does not reason; it was left out.");
    return {};
  }
  if (isOff) return { thinking: { type: "disabled" } };
  const wanted = parameters.budgetTokens ?? BUDGETS[parameters.effort ?? ""] ?? null;
  if (wanted === null)
    return parameters.enabled || parameters.effort !== null || parameters.adaptive
      ? { thinking: { type: "enabled" } }
      : {};
  const budget = maxTokens === null ? wanted : Math.max(1, Math.min(wanted, maxTokens - 1));
  if (parameters.budgetTokens !== null && budget !== wanted)
    warn("reasoning", `The budget was set to ${budget} tokens, below max_tokens.`);
  return { thinking: { type: "enabled", token_budget: budget } };
}
