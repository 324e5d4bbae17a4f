import {
  asFields,
  asObjects,
  assignFields,
  type Fields,
  type MutableFields,
  setField,
} from "../../base/json/fields.ts";
import { encodeCostDetails } from "../canonical/model/cost-details.ts";
import type { UsageReport } from "../canonical/model/format.ts";
import { correctAnthropicTier } from "../canonical/model/service-tiers.ts";
import {
  type AdvisorUsage,
  fitParts,
  readCount,
  readModes,
  readReportedCost,
  type TokenUsage,
  withPriceFacts,
} from "../conversation/usage.ts";

const PROMPT_COUNTERS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"] as const;

/** Reads a usage object; null if it counts no tokens. */
export function readUsage(raw: Fields): TokenUsage | null {
  const usage = Array.isArray(raw["iterations"]) ? readIterations(raw) : readCounters(raw);
  if (usage.promptTokens === 0 && usage.completionTokens === 0) return null;
  return withPriceFacts(usage, readModes(raw), readReportedCost(raw));
}

function readIterations(raw: Fields): TokenUsage {
  const iterations = groupIterations(raw);
  const usage = (iterations.get("compaction") ?? []).map(readCounters).reduce(addCounters, readCounters(raw));
  const advisors = (iterations.get("advisor_message") ?? []).map(readAdvisor);
  const served = iterations.get("fallback_message")?.at(-1)?.["model"];
  return {
    ...usage,
    ...(typeof served === "string" ? { countedFor: served } : {}),
    ...(advisors.length > 0 ? { advisors } : {}),
  };
}

/**
 * Groups the iterations of an answer by type. The totals leave out two of them that are billed: `compaction`, in which the model
 * summarizes the conversation, and `advisor_message`, in which another model is consulted at its own prices. A `fallback_message`
 * names the model that the totals belong to.
 */
function groupIterations({ iterations }: Fields): ReadonlyMap<unknown, Fields[]> {
  return Map.groupBy(asObjects(iterations), ({ type }) => type);
}

function readAdvisor(raw: Fields): AdvisorUsage {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens } =
    readCounters(raw);
  const model = typeof raw["model"] === "string" ? raw["model"] : "";
  return { model, promptTokens, completionTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens };
}

function readCounters(raw: Fields): TokenUsage {
  const creation = asFields(raw["cache_creation"]) ?? {};
  const details = asFields(raw["output_tokens_details"]) ?? {};
  const serverTools = asFields(raw["server_tool_use"]) ?? {};
  const cached = readCount(raw["cache_read_input_tokens"]) ?? 0;
  const written1h = readCount(creation["ephemeral_1h_input_tokens"]) ?? 0;
  const written5m = readCount(creation["ephemeral_5m_input_tokens"]) ?? 0;
  const written = readCount(raw["cache_creation_input_tokens"]) ?? written1h + written5m;
  return fitParts({
    promptTokens: (readCount(raw["input_tokens"]) ?? 0) + cached + written,
    completionTokens: readCount(raw["output_tokens"]) ?? 0,
    cachedTokens: cached,
    cacheWriteTokens: written,
    cacheWrite1hTokens: written1h,
    reasoningTokens: readCount(details["thinking_tokens"]) ?? 0,
    audioPromptTokens: 0,
    audioCompletionTokens: 0,
    imageCompletionTokens: 0,
    images: 0,
    searches: readCount(serverTools["web_search_requests"]) ?? 0,
    searchContext: null,
    estimated: false,
  });
}

function addCounters(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    ...a,
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    cacheWrite1hTokens: a.cacheWrite1hTokens + b.cacheWrite1hTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    searches: a.searches + b.searches,
  };
}

/** Maximum number of counters that are kept for an answer; later ones are ignored. */
const MAX_COUNTERS = 64;

/**
 * Merges the usage so far with that of a later event. Counters are totals, so the later value counts. A zero counts only if its
 * event counts the prompt at all, because some vendors overwrite earlier counters with zeros.
 */
export function foldUsage(before: Fields, later: Fields): Fields {
  const folded: Record<string, unknown> = { ...before };
  const isFull = Object.keys(before).length >= MAX_COUNTERS;
  const countsPrompt = PROMPT_COUNTERS.some((name) => (readCount(later[name]) ?? 0) > 0);
  for (const [name, value] of Object.entries(later)) {
    if (value === null && before[name] !== undefined) continue;
    const isPrompt = (PROMPT_COUNTERS as readonly string[]).includes(name);
    const isPadding = value === 0 && (readCount(before[name]) ?? 0) > 0 && !(isPrompt && countsPrompt);
    if (!isPadding && (!isFull || name in before)) setField(folded, name, value);
  }
  return folded;
}

/** Encodes the counters for clients of this API. */
export function encodeCounters(usage: TokenUsage): Fields {
  const { cachedTokens, cacheWriteTokens, cacheWrite1hTokens, reasoningTokens } = usage;
  const counters: MutableFields = {
    input_tokens: Math.max(0, usage.promptTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWriteTokens - cacheWrite1hTokens,
      ephemeral_1h_input_tokens: cacheWrite1hTokens,
    },
    output_tokens: usage.completionTokens,
  };
  if (reasoningTokens > 0) counters["output_tokens_details"] = { thinking_tokens: reasoningTokens };
  if (usage.searches > 0) counters["server_tool_use"] = { web_search_requests: usage.searches };
  return counters;
}

/** Encodes the final usage of an answer: the counters, the vendor's other fields (`raw`, in this format), and the price. */
export function encodeUsage(report: UsageReport, raw: Fields, serviceTier: string | null): Fields {
  const { estimated } = report.usage;
  const encoded: MutableFields = serviceTier === null ? {} : { service_tier: serviceTier };
  const counters = encodeCounters(report.usage);
  if (estimated) assignFields(encoded, raw, counters);
  else addCounted(assignFields(encoded, counters), raw);
  correctAnthropicTier(encoded);
  encoded["cost"] = report.cost;
  encoded["cost_details"] = encodeCostDetails(report);
  encoded["is_byok"] = report.isByok;
  if (estimated) encoded["estimated"] = true;
  return encoded;
}

/** Adds the vendor's fields. Clients add counters up, so none of them may be null. */
function addCounted(encoded: MutableFields, raw: Fields): void {
  for (const name in raw) if (raw[name] !== null || !isCounter(name)) setField(encoded, name, raw[name]);
}

function isCounter(name: string): boolean {
  return name === "output_tokens" || (PROMPT_COUNTERS as readonly string[]).includes(name);
}
