import type { UsageReport } from "../canonical/format.ts";
import { fitParts, NO_TOKENS, readCount, type TokenUsage } from "../conversation/usage.ts";
import { asFields, type Fields } from "../json/fields.ts";

const PROMPT_COUNTERS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"] as const;

/** Reads a usage object. Null when it counts nothing. */
export function readUsage(raw: Fields): TokenUsage | null {
  const counters = [raw, ...findCompactions(raw)].map(readCounters);
  const [first, ...others] = counters;
  const usage = others.reduce(addCounters, first ?? NO_TOKENS);
  return usage.promptTokens === 0 && usage.completionTokens === 0 ? null : usage;
}

/** Summing up the conversation is a run of its own, which the totals leave out and the bill does not. */
function findCompactions(raw: Fields): Fields[] {
  const iterations = Array.isArray(raw["iterations"]) ? raw["iterations"].map(asFields) : [];
  return iterations.filter(
    (iteration) => iteration !== null && iteration["type"] === "compaction",
  ) as Fields[];
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

/**
 * The usage so far with a later event's: counters are totals, so the later one counts. A zero only where its event
 * counts the prompt at all: some vendors fill what they said before with zeros.
 */
export function foldUsage(before: Fields, later: Fields): Fields {
  const folded: Record<string, unknown> = { ...before };
  const countsPrompt = PROMPT_COUNTERS.some((name) => (readCount(later[name]) ?? 0) > 0);
  for (const [name, value] of Object.entries(later)) {
    if (value === null && before[name] !== undefined) continue;
    const isPrompt = (PROMPT_COUNTERS as readonly string[]).includes(name);
    const isFiller = value === 0 && (readCount(before[name]) ?? 0) > 0 && !(isPrompt && countsPrompt);
    if (!isFiller) folded[name] = value;
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
