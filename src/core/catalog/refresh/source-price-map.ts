import { z } from "zod";
import { perMillion } from "../prices/decimal-price.ts";
import type { ModelTakes } from "../records/records.ts";
import type { PriceMapProvider, PriceMapRules } from "./import-rules.ts";
import { describeIssue, parseSource } from "./parse-source.ts";
import type { SourceModel } from "./source-models-dev.ts";

/** A model of the price map, with the members of models.dev and what the model takes. */
export interface PricedModel extends SourceModel {
  readonly takes: ModelTakes;
  /** Counts only if models.dev lists the model at no provider. */
  readonly isOnlyIfNew?: true;
}

/** A provider of the price map, by the id that models.dev has for it. */
export interface PricedProvider {
  readonly id: string;
  readonly models: readonly PricedModel[];
}

/** The parsed price map, or why it was rejected as a whole. */
type PriceMapRead =
  | {
      readonly providers: readonly PricedProvider[];
      readonly problems: readonly string[];
      /** The number of omitted entries by reason. */
      readonly omitted: Readonly<Record<string, number>>;
    }
  | { readonly rejected: string };

const digits = z.string().regex(/^-?\d/);
const flag = z.boolean().optional();

/** The schema of one entry of the price map. Numbers are text; prices are the members whose name contains `_cost`. */
const entrySchema = z.looseObject({
  litellm_provider: z.string(),
  mode: z.string().optional(),
  source: z.string().optional(),
  deprecation_date: z.string().optional(),
  max_input_tokens: digits.nullish(),
  max_output_tokens: digits.nullish(),
  supported_endpoints: z.array(z.string()).nullish(),
  supported_modalities: z.array(z.string()).nullish(),
  supported_output_modalities: z.array(z.string()).nullish(),
  tiered_pricing: z.array(z.record(z.string(), z.unknown())).nullish(),
  reasoning_effort_levels: z.array(z.string()).nullish(),
  default_reasoning_effort: z.string().optional(),
  prompt_cache_min_tokens: digits.nullish(),
  supports_function_calling: flag,
  supports_reasoning: flag,
  supports_response_schema: flag,
  supports_vision: flag,
  supports_pdf_input: flag,
  supports_audio_input: flag,
  supports_audio_output: flag,
  supports_video_input: flag,
  supports_sampling_params: flag,
  supports_assistant_prefill: flag,
  supports_forced_tool_use: flag,
  supports_mid_conversation_system: flag,
  supports_adaptive_thinking: flag,
  supports_legacy_thinking: flag,
  supports_prompt_cache_breakpoint: flag,
  supports_native_structured_output: flag,
  supports_none_reasoning_effort: flag,
  supports_minimal_reasoning_effort: flag,
  supports_xhigh_reasoning_effort: flag,
  supports_max_reasoning_effort: flag,
  supports_output_config: flag,
  thinking_always_on: flag,
  thinking_on_by_default: flag,
});

type Entry = z.infer<typeof entrySchema>;
const mapSchema = z.record(z.string(), z.record(z.string(), z.unknown()));

/**
 * Parses litellm's price map, an object of facts by name, into the format of models.dev, so that the same rules for names and prices apply
 * to both. Only takes providers of the rules. `today` is `YYYY-MM-DD`: entries that their vendor has retired are omitted.
 */
export function readPriceMap(text: string, rules: PriceMapRules, today: string): PriceMapRead {
  const parsed = parseSource(text);
  if ("rejected" in parsed) return parsed;
  const map = mapSchema.safeParse(parsed.json);
  if (!map.success)
    return { rejected: `is JSON, but not a price map of models by name: ${describeIssue(map.error)}` };
  const read = new Reading(rules, today);
  for (const [key, entry] of Object.entries(map.data)) read.add(key, entry);
  if (read.models.size === 0) return { rejected: "lists no model of a known provider" };
  const providers = [...read.models].map(([id, models]) => ({ id, models: [...models.values()] }));
  return { providers, problems: read.problems, omitted: read.omitted };
}

class Reading {
  /** By provider of models.dev, then by lower-case name. The first of several entries of a name counts. */
  readonly models = new Map<string, Map<string, PricedModel>>();
  readonly problems: string[] = [];
  readonly omitted: Record<string, number> = {};
  readonly #reported = new Set<string>();

  constructor(
    readonly rules: PriceMapRules,
    readonly today: string,
  ) {}

  add(key: string, raw: Readonly<Record<string, unknown>>): void {
    const provider = raw["litellm_provider"];
    const rule = typeof provider === "string" ? this.rules.providers[provider] : undefined;
    if (typeof provider !== "string") this.#omit("without a provider");
    else if (rule === undefined) this.#omitProvider(provider);
    else this.#addOf(key, raw, rule);
  }

  #addOf(key: string, raw: Readonly<Record<string, unknown>>, rule: PriceMapProvider): void {
    const entry = entrySchema.safeParse(raw);
    const name = stripPrefix(key, rule);
    const reason = entry.success ? this.#findReason(name, entry.data, rule) : "not read";
    if (!entry.success) this.problems.push(`price map: ${key}: not read: ${describeIssue(entry.error)}`);
    if (reason !== null) this.#omit(reason);
    else if (entry.success) this.#keep(toModel(name, entry.data, rule), rule);
  }

  #keep(model: PricedModel, { source }: PriceMapProvider): void {
    const models = this.models.get(source) ?? new Map<string, PricedModel>();
    this.models.set(source, models);
    const name = model.id.toLowerCase();
    if (!models.has(name)) models.set(name, model);
  }

  /** Returns why an entry is omitted; null if it is not. */
  #findReason(name: string, entry: Entry, rule: PriceMapProvider): string | null {
    if (!this.rules.modes.includes(entry.mode ?? "")) return "of another kind";
    if (entry.source === undefined && rule.unsourced?.includes(name) !== true) return "without a source";
    if (entry.deprecation_date !== undefined && entry.deprecation_date <= this.today) return "retired";
    if (rule.ignore !== undefined && new RegExp(rule.ignore).test(name)) return "by rule";
    if (entry.max_input_tokens == null) return "context length unknown";
    return null;
  }

  #omitProvider(provider: string): void {
    this.#omit("provider not imported");
    const isIgnored = Object.values(this.rules.ignoredProviders).some((list) => list.includes(provider));
    if (isIgnored || this.#reported.has(provider)) return;
    this.#reported.add(provider);
    this.problems.push(`price map: unknown provider ${provider}; add it to priceMap in import-rules.json`);
  }

  #omit(reason: string): void {
    const counted = `price map, ${reason}`;
    this.omitted[counted] = (this.omitted[counted] ?? 0) + 1;
  }
}

function stripPrefix(key: string, { stripPrefix: prefix = "" }: PriceMapProvider): string {
  return key.startsWith(prefix) ? key.slice(prefix.length) : key;
}

function toModel(name: string, entry: Entry, rule: PriceMapProvider): PricedModel {
  const npm = rule.packages?.find(({ names }) => new RegExp(names).test(name))?.npm;
  return {
    id: name,
    name,
    reasoning: entry.supports_reasoning ?? false,
    reasoning_options: readReasoning(entry),
    tool_call: entry.supports_function_calling ?? false,
    ...(entry.supports_sampling_params === undefined ? {} : { temperature: entry.supports_sampling_params }),
    ...(entry.supports_response_schema === undefined
      ? {}
      : { structured_output: entry.supports_response_schema }),
    limit: readLimit(name, entry, rule),
    modalities: { input: readInputs(entry), output: readOutputs(entry) },
    cost: readCost(entry),
    ...(npm === undefined ? {} : { provider: { npm } }),
    takes: readTakes(entry),
    ...(rule.onlyNew === true ? { isOnlyIfNew: true } : {}),
  };
}

/** The map states the tokens of a prompt. If the rules say that the answer is not included, the window is the sum of both. */
function readLimit(name: string, entry: Entry, { promptOnly }: PriceMapProvider): SourceModel["limit"] {
  const input = entry.max_input_tokens as string;
  const output = entry.max_output_tokens ?? undefined;
  const rest = output === undefined ? {} : { output };
  if (output === undefined || promptOnly === undefined || !new RegExp(promptOnly).test(name))
    return { context: input, ...rest };
  return { context: String(Number(input) + Number(output)), input, ...rest };
}

function readInputs(entry: Entry): string[] {
  const flags = [
    entry.supports_vision && "image",
    entry.supports_pdf_input && "pdf",
    entry.supports_audio_input && "audio",
    entry.supports_video_input && "video",
  ].filter((name) => typeof name === "string");
  return [...new Set(["text", ...(entry.supported_modalities ?? []), ...flags])];
}

function readOutputs(entry: Entry): string[] {
  const named = entry.supported_output_modalities ?? ["text"];
  return entry.supports_audio_output === true ? [...new Set([...named, "audio"])] : [...named];
}

function readReasoning(entry: Entry): NonNullable<SourceModel["reasoning_options"]> {
  if (entry.supports_reasoning !== true) return [];
  const efforts = listEfforts(entry);
  const canDisable = entry.thinking_on_by_default === true || efforts.includes("none");
  return [
    ...(efforts.length > 0 ? [{ type: "effort", values: efforts }] : []),
    ...(canDisable && entry.thinking_always_on !== true ? [{ type: "toggle" }] : []),
    ...(entry.supports_legacy_thinking === true ? [{ type: "budget_tokens" }] : []),
  ];
}

/** The map lists either all efforts, or those that a model accepts in addition to low, medium and high. */
function listEfforts(entry: Entry): string[] {
  if (entry.reasoning_effort_levels != null) return [...entry.reasoning_effort_levels];
  const further = [
    [entry.supports_none_reasoning_effort, "none"],
    [entry.supports_minimal_reasoning_effort, "minimal"],
    [entry.supports_xhigh_reasoning_effort, "xhigh"],
    [entry.supports_max_reasoning_effort, "max"],
  ] as const;
  if (further.every(([accepts]) => accepts === undefined) && entry.supports_output_config !== true) return [];
  const has = (name: string) => further.some(([accepts, effort]) => accepts === true && effort === name);
  return ["none", "minimal", "low", "medium", "high", "xhigh", "max"].filter(
    (name) => ["low", "medium", "high"].includes(name) || has(name),
  );
}

function readTakes(entry: Entry): ModelTakes {
  const cacheMinTokens = Number(entry.prompt_cache_min_tokens ?? 0);
  const claims = {
    sampling: entry.supports_sampling_params,
    prefill: entry.supports_assistant_prefill,
    forcedTools: entry.supports_forced_tool_use,
    reasoning: readHabit(entry),
    adaptive: entry.supports_adaptive_thinking,
    budgets:
      entry.supports_legacy_thinking ?? (entry.supports_adaptive_thinking === true ? false : undefined),
    defaultEffort: entry.default_reasoning_effort,
    midConversationSystem: entry.supports_mid_conversation_system,
    cacheMinTokens: cacheMinTokens > 0 ? cacheMinTokens : undefined,
    cacheBreakpoints: entry.supports_prompt_cache_breakpoint,
    structuredOutput: entry.supports_native_structured_output,
  };
  return Object.fromEntries(Object.entries(claims).filter(([, claim]) => claim !== undefined)) as ModelTakes;
}

function readHabit(entry: Entry): ModelTakes["reasoning"] {
  if (entry.thinking_always_on === true) return "always";
  return entry.thinking_on_by_default === true ? "default-on" : undefined;
}

/** The members of models.dev's `cost` by the price map's names. */
const COST: Readonly<Record<string, string>> = {
  input_cost_per_token: "input",
  output_cost_per_token: "output",
  cache_read_input_token_cost: "cache_read",
  cache_creation_input_token_cost: "cache_write",
  cache_creation_input_token_cost_above_1hr: "cache_write_1h",
  input_cost_per_audio_token: "input_audio",
  output_cost_per_audio_token: "output_audio",
  output_cost_per_reasoning_token: "reasoning",
  output_cost_per_image_token: "output_image",
};

/** Prices per request or unit that no token price covers. Their model has no price, so that it is not served too cheaply. */
const CHARGED_APART = ["input_cost_per_request", "citation_cost_per_token"];

const ABOVE = /^(.+)_above_(\d+)k_tokens$/;

/** Converts an entry's prices to dollars per million tokens. Modes of service are factors of `providers.json`. */
function readCost(entry: Entry): Record<string, unknown> {
  const base: Record<string, unknown> = {};
  const tiers = new Map<number, Record<string, unknown>>();
  for (const [key, value] of Object.entries(entry)) {
    if (typeof value !== "string") continue;
    if (CHARGED_APART.includes(key)) base[key] = value;
    const [, name = key, thousands] = ABOVE.exec(key) ?? [];
    const member = COST[name];
    if (member === undefined) continue;
    if (thousands === undefined) base[member] = perMillion(value) ?? value;
    else addToTier(tiers, Number(thousands) * 1000, member, value);
  }
  for (const range of entry.tiered_pricing ?? []) readRange(range, base, tiers);
  if (tiers.size === 0) return base;
  const rows = [...tiers].map(([size, cost]) => ({ ...cost, tier: { size: String(size) } }));
  return { ...base, tiers: rows };
}

type Tiers = Map<number, Record<string, unknown>>;

function addToTier(tiers: Tiers, above: number, member: string, value: string): void {
  const tier = tiers.get(above) ?? {};
  tier[member] = perMillion(value) ?? value;
  tiers.set(above, tier);
}

/** Reads the prices of prompts within a range of sizes. The first range has the base prices. */
function readRange(
  range: Readonly<Record<string, unknown>>,
  base: Record<string, unknown>,
  tiers: Tiers,
): void {
  const above = Array.isArray(range["range"]) ? Number(range["range"][0]) : Number.NaN;
  for (const [key, value] of Object.entries(range)) {
    const member = COST[key];
    if (member === undefined || typeof value !== "string") continue;
    if (above === 0) base[member] = perMillion(value) ?? value;
    else addToTier(tiers, above, member, value);
  }
}
