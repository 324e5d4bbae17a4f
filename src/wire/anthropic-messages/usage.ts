import type { UsageReport } from "../canonical/format.ts";
import { type AdvisorUsage, fitParts, NO_TOKENS, readCount, type TokenUsage } from "../conversation/usage.ts";
import { asFields, type Fields } from "../json/fields.ts";

const PROMPT_COUNTERS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"] as const;

/** Reads a usage object. Null when it counts nothing. */
export function readUsage(raw: Fields): TokenUsage | null {
  const runs = listRuns(raw);
  const usage = (runs.get("compaction") ?? []).map(readCounters).reduce(addCounters, readCounters(raw));
  if (usage.promptTokens === 0 && usage.completionTokens === 0) return null;
  const advisors = (runs.get("advisor_message") ?? []).map(readAdvisor);
  const served = runs.get("fallback_message")?.at(-1)?.["model"];
  return {
    ...usage,
    ...(typeof served === "string" ? { countedFor: served } : {}),
    ...(advisors.length > 0 ? { advisors } : {}),
  };
}

const NO_RUNS: ReadonlyMap<unknown, Fields[]> = new Map();

/**
 * The runs that an answer took, by their type. The totals leave two out that the bill does not: `compaction`, in which the model
 * sums the conversation up, and `advisor_message`, in which another model is consulted at that model's prices. A
 * `fallback_message` says whose the totals are.
 */
function listRuns(raw: Fields): ReadonlyMap<unknown, Fields[]> {
  const { iterations } = raw;
  if (!Array.isArray(iterations)) return NO_RUNS;
  const runs = iterations.map(asFields).filter((run) => run !== null);
  return Map.groupBy(runs, ({ type }) => type);
}

function readAdvisor(raw: Fields): AdvisorUsage {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens } =
    readCounters(raw);
  const model = typeof raw["model"] === "string" ? raw["model"] : "";
  return { model, promptTokens, completionTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens };
}

function readCounters(raw: Fields): TokenUsage {
  const cached = readCount(raw["cache_read_input_tokens"]) ?? 0;
  const creation = asFields(raw["cache_creation"]) ?? {};
  const written1h = readCount(creation["ephemeral_1h_input_tokens"]) ?? 0;
  const written5m = readCount(creation["ephemeral_5m_input_tokens"]) ?? 0;
  const written = readCount(raw["cache_creation_input_tokens"]) ?? written1h + written5m;
  const details = asFields(raw["output_tokens_details"]) ?? {};
  const serverTools = asFields(raw["server_tool_use"]) ?? {};
  return fitParts({
    ...NO_TOKENS,
    promptTokens: (readCount(raw["input_tokens"]) ?? 0) + cached + written,
    completionTokens: readCount(raw["output_tokens"]) ?? 0,
    cachedTokens: cached,
    cacheWriteTokens: written,
    cacheWrite1hTokens: written1h,
    reasoningTokens: readCount(details["thinking_tokens"]) ?? 0,
    searches: readCount(serverTools["web_search_requests"]) ?? 0,
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

/** Counters that an answer may have; those that come to be said later are passed over. */
const MAX_COUNTERS = 64;

/**
 * The usage so far with a later event's: counters are totals, so the later one counts. A zero only where its event
 * counts the prompt at all: some vendors fill what they said before with zeros.
 */
export function foldUsage(before: Fields, later: Fields): Fields {
  const folded: Record<string, unknown> = { ...before };
  const isFull = Object.keys(before).length >= MAX_COUNTERS;
  const countsPrompt = PROMPT_COUNTERS.some((name) => (readCount(later[name]) ?? 0) > 0);
  for (const [name, value] of Object.entries(later)) {
    if (value === null && before[name] !== undefined) continue;
    const isPrompt = (PROMPT_COUNTERS as readonly string[]).includes(name);
    const isFiller = value === 0 && (readCount(before[name]) ?? 0) > 0 && !(isPrompt && countsPrompt);
    if (!isFiller && (!isFull || name in before)) folded[name] = value;
  }
  return folded;
}

/** The counters as clients of this API read them. */
export function encodeCounters(usage: TokenUsage): Fields {
  const { cachedTokens, cacheWriteTokens, cacheWrite1hTokens, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, usage.promptTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWriteTokens - cacheWrite1hTokens,
      ephemeral_1h_input_tokens: cacheWrite1hTokens,
    },
    output_tokens: usage.completionTokens,
    ...(reasoningTokens > 0 ? { output_tokens_details: { thinking_tokens: reasoningTokens } } : {}),
    ...(usage.searches > 0 ? { server_tool_use: { web_search_requests: usage.searches } } : {}),
  };
}

/**
 * The last word on an answer's usage: the counters, what the vendor said beside them (`raw`, of this format), and the
 * price.
 */
export function encodeUsage(report: UsageReport, raw: Fields, serviceTier: string | null): Fields {
  const counters = encodeCounters(report.usage);
  return {
    ...(serviceTier === null ? {} : { service_tier: serviceTier }),
    ...(report.usage.estimated ? { ...raw, ...counters } : { ...counters, ...omitNull(raw) }),
    cost: report.cost,
    cost_details: { upstream_inference_cost: report.upstreamInferenceCost },
    is_byok: report.isByok,
    ...(report.usage.estimated ? { estimated: true } : {}),
  };
}

/** Clients add the counters up, so none of them may be null. */
function omitNull(raw: Fields): Fields {
  return Object.fromEntries(
    Object.entries(raw).filter(([name, value]) => value !== null || !isCounter(name)),
  );
}

function isCounter(name: string): boolean {
  return name === "output_tokens" || (PROMPT_COUNTERS as readonly string[]).includes(name);
}
