import { PROVIDER_FORMATS } from "../../../wire/conversation/traits/format-name.ts";
import { asFields, createTable } from "../../../wire/json/fields.ts";
import { type ModelEndpoint, type ModelRecord, REASONING_HABITS } from "./records.ts";

/**
 * Whether a value from a catalog file is a valid model. Ten times as fast as the schema, because the catalog is read at every start. It
 * accepts only values that the schema accepts, which a test checks. If it returns false, the schema decides and names the problem.
 */
export function isSoundModel(value: unknown): value is Partial<ModelRecord> {
  return isRecordOf(value, MODEL, MODEL_NEEDS);
}

/** Adds the nulls that files omit to a valid model. */
export function completeModel(model: Partial<ModelRecord>): ModelRecord {
  const { description = null, released = null, tokenizer = null, expires = null, endpoints = [] } = model;
  const complete = {
    ...model,
    description,
    released,
    tokenizer,
    expires,
    endpoints: endpoints.map(completeEndpoint),
  };
  return complete as ModelRecord;
}

function completeEndpoint(endpoint: ModelEndpoint): ModelEndpoint {
  return endpoint.maxOutputTokens === undefined
    ? { ...(endpoint as ModelEndpoint), maxOutputTokens: null }
    : endpoint;
}

type Check = (value: unknown) => boolean;

/** `author/name`, optionally followed by a variant such as `:free`. */
export const MODEL_ID = /^[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*(?::[a-z0-9][a-z0-9-]*)?$/;
export const MODEL_ID_CHARS = 256;
/** A provider's slug. */
export const SLUG = /^[a-z0-9][a-z0-9-]*$/;
/** A decimal string in lowest form. */
export const PRICE = /^(?:0|[1-9]\d{0,11})(?:\.\d{0,17}[1-9])?$/;
const DAY = /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;
const LATE_DAY = /^20\d\d-(?:(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)$/;
const FORMATS = new Set<string>(PROVIDER_FORMATS);
/** Width and height in pixels. */
export const IMAGE_SIZE = /^[1-9]\d{0,4}x[1-9]\d{0,4}$/;
/** The outputs that are a model's only one: such models are not for conversations. */
export const SOLE_OUTPUTS = ["embedding", "moderation", "rerank", "speech", "transcription"] as const;
const SOLE = new Set<string>(SOLE_OUTPUTS);
const INPUTS = new Set(["text", "image", "file", "audio", "video"]);
const OUTPUTS = new Set(["text", "image", "audio", "video"]);

const isText: Check = (value) => typeof value === "string" && value !== "";
const isTextOrNull: Check = (value) => value === null || typeof value === "string";
const isTokens: Check = (value) => Number.isSafeInteger(value) && (value as number) > 0;
const isTokensOrNull: Check = (value) => value === null || isTokens(value);
const isPrice: Check = (value) => typeof value === "string" && PRICE.test(value);
const isDay: Check = (value) => typeof value === "string" && (DAY.test(value) || LATE_DAY.test(value));
const isDayOrNull: Check = (value) => value === null || isDay(value);
const isListOf =
  (check: Check, least: number): Check =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.every((item) => check(item));
const isOutputs: Check = isListOf((value) => OUTPUTS.has(value as string), 1);
const isFormats: Check = isListOf((value) => FORMATS.has(value as string), 1);
const isSoleOutput: Check = (value) => Array.isArray(value) && value.length === 1 && SOLE.has(value[0]);

const VARIANT: Readonly<Record<string, Check>> = createTable({
  quality: isText,
  size: (value) => typeof value === "string" && IMAGE_SIZE.test(value),
  price: isPrice,
});
const PRICES: Readonly<Record<string, Check>> = createTable({
  prompt: isPrice,
  completion: isPrice,
  cacheRead: isPrice,
  cacheWrite: isPrice,
  cacheWrite1h: isPrice,
  audioIn: isPrice,
  audioOut: isPrice,
  reasoning: isPrice,
  imageOut: isPrice,
  request: isPrice,
  requestMedium: isPrice,
  requestHigh: isPrice,
  image: isPrice,
  search: isPrice,
  searchedRequest: isPrice,
  character: isPrice,
  audioSecond: isPrice,
  generatedImage: isPrice,
  imageVariants: isListOf((value) => isRecordOf(value, VARIANT, ["price"]), 1),
});
const TIER: Readonly<Record<string, Check>> = createTable({ ...PRICES, minPromptTokens: isTokens });
const isTiers: Check = isListOf((value) => isRecordOf(value, TIER, TIER_NEEDS), 1);
const CHANGE: Readonly<Record<string, Check>> = createTable({
  from: isDay,
  prices: (value) => isRecordOf(value, PRICES, PRICES_NEED),
  priceTiers: isTiers,
});
const HABITS = new Set<string>(REASONING_HABITS);
const isFlag: Check = (value) => typeof value === "boolean";
const TAKES: Readonly<Record<string, Check>> = createTable({
  sampling: isFlag,
  prefill: isFlag,
  forcedTools: isFlag,
  reasoning: (value) => HABITS.has(value as string),
  adaptive: isFlag,
  budgets: isFlag,
  defaultEffort: isText,
  midConversationSystem: isFlag,
  cacheMinTokens: isTokens,
  cacheBreakpoints: isFlag,
  structuredOutput: isFlag,
});
const isTakes: Check = (value) => isRecordOf(value, TAKES, []);
const ENDPOINT: Readonly<Record<string, Check>> = createTable({
  provider: (value) => typeof value === "string" && SLUG.test(value),
  name: isText,
  format: (value) => FORMATS.has(value as string),
  formats: isFormats,
  noToolsWhileReasoning: isFormats,
  contextLength: isTokens,
  maxPromptTokens: isTokens,
  maxOutputTokens: isTokensOrNull,
  prices: (value) => value === null || isRecordOf(value, PRICES, PRICES_NEED),
  priceTiers: isTiers,
  priceChanges: isListOf((value) => isRecordOf(value, CHANGE, CHANGE_NEEDS), 1),
  lacks: isListOf(isText, 0),
  takesHere: isTakes,
  fromPriceMap: (value) => value === true,
  missingSince: isDay,
  expires: isDay,
});
const BUDGET: Readonly<Record<string, Check>> = createTable({
  min: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  max: isTokens,
});
const REASONING: Readonly<Record<string, Check>> = createTable({
  efforts: isListOf(isText, 1),
  budgetTokens: (value) => isRecordOf(value, BUDGET, []),
  canDisable: (value) => value === true,
  onlyWhenTold: (value) => value === true,
});
const MODEL: Readonly<Record<string, Check>> = createTable({
  id: (value) => typeof value === "string" && value.length <= MODEL_ID_CHARS && MODEL_ID.test(value),
  name: isText,
  description: isTextOrNull,
  released: isDayOrNull,
  inputModalities: isListOf((value) => INPUTS.has(value as string), 1),
  outputModalities: (value) => isOutputs(value) || isSoleOutput(value),
  tokenizer: isTextOrNull,
  supportedParameters: isListOf(isText, 0),
  reasoning: (value) => isRecordOf(value, REASONING, []),
  takes: isTakes,
  expires: isDayOrNull,
  endpoints: isListOf((value) => isRecordOf(value, ENDPOINT, ENDPOINT_NEEDS), 1),
});

const PRICES_NEED = ["prompt", "completion"];
const TIER_NEEDS = [...PRICES_NEED, "minPromptTokens"];
const CHANGE_NEEDS = ["from", "prices"];
const ENDPOINT_NEEDS = ["provider", "name", "contextLength", "prices"];
const MODEL_NEEDS = ["id", "name", "inputModalities", "outputModalities", "supportedParameters", "endpoints"];

function isRecordOf(
  value: unknown,
  checks: Readonly<Record<string, Check>>,
  needs: readonly string[],
): boolean {
  const fields = asFields(value);
  if (fields === null) return false;
  for (const key in fields) {
    const check = checks[key];
    if (check === undefined || !check(fields[key])) return false;
  }
  return needs.every((key) => fields[key] !== undefined);
}
