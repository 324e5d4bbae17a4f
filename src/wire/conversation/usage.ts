import type { Fields } from "../../base/json/fields.ts";

/** The usage of one generation: tokens by kind, and other units that vendors charge for. Whole numbers. */
export interface TokenUsage {
  /** The whole prompt, including cached tokens. */
  readonly promptTokens: number;
  /** The whole completion, including reasoning. */
  readonly completionTokens: number;
  /** Prompt tokens read from the vendor's cache. */
  readonly cachedTokens: number;
  /** Prompt tokens written to the vendor's cache, for any duration. */
  readonly cacheWriteTokens: number;
  /** Those of them that are kept for an hour, which costs more than five minutes. */
  readonly cacheWrite1hTokens: number;
  /** Reasoning tokens of the completion. */
  readonly reasoningTokens: number;
  /** Audio tokens of the prompt. */
  readonly audioPromptTokens: number;
  /** Audio tokens of the completion. */
  readonly audioCompletionTokens: number;
  /** Image tokens of the completion. */
  readonly imageCompletionTokens: number;
  /** Images in the prompt. They are counted from the request, and only if they have a price. */
  readonly images: number;
  /** Web searches of the vendor: searches, queries or sources, whichever it charges. */
  readonly searches: number;
  /** The search context size; null if unknown. */
  readonly searchContext: SearchContext | null;
  /** The gateway counted, because the vendor sent no or invalid counters. */
  readonly estimated: boolean;
  /** The vendor's name of the model that answered, if it is not the requested one. */
  readonly countedFor?: string | undefined;
  /** Units that are not tokens, of answers that are forwarded; absent: none. */
  readonly units?: UnitCounts | undefined;
  /** How the vendor served the request, if that changes its price: `{service_tier: "priority"}`. Absent: as usual. */
  readonly modes?: ServedModes | undefined;
  /** What the vendor says that it charges for the whole request, in US dollars; absent if it does not say so. */
  readonly reportedCost?: number | undefined;
  /** Charges besides those of the prices, for services whose cost the vendor did not report. US dollars, a decimal string. */
  readonly surcharge?: string | undefined;
  /** Usage of other models that the model consulted, not included in any other counter; absent: none. */
  readonly advisors?: readonly AdvisorUsage[] | undefined;
}

/** Counts of what vendors charge for besides tokens at their endpoints for media. Whole numbers; absent: 0. */
export interface UnitCounts {
  /** Characters of a text to speak: Unicode code points. */
  readonly characters?: number;
  /** Seconds of audio to transcribe. */
  readonly audioSeconds?: number;
  /** Images of the answer. */
  readonly generatedImages?: number;
  /** The size of each, such as `1024x1024`; absent where neither request nor answer names it. */
  readonly imageSize?: string;
  /** The quality of each, such as `hd`. */
  readonly imageQuality?: string;
}

/** Values of request fields that decide what a request costs, by field. */
export type ServedModes = Readonly<Record<string, string>>;

/** The usage of a model that was consulted by another. */
export interface AdvisorUsage
  extends Pick<
    TokenUsage,
    "promptTokens" | "completionTokens" | "cachedTokens" | "cacheWriteTokens" | "cacheWrite1hTokens"
  > {
  /** Its name at the vendor. */
  readonly model: string;
}

/** Zero usage, from which readers of counters start. */
export const NO_TOKENS: Omit<
  TokenUsage,
  "countedFor" | "units" | "modes" | "reportedCost" | "surcharge" | "advisors"
> = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
  audioPromptTokens: 0,
  audioCompletionTokens: 0,
  imageCompletionTokens: 0,
  images: 0,
  searches: 0,
  searchContext: null,
  estimated: false,
};

/** Fields of answers that say how a request was served, and the values at which usual prices apply. */
const MODES: readonly (readonly [field: string, usual: ReadonlySet<unknown>])[] = [
  [
    "service_tier",
    new Set(["default", "standard", "auto", "standard_only", "on_demand", "scale", "batch", "not_available"]),
  ],
  ["speed", new Set(["standard"])],
  ["inference_geo", new Set(["global", "not_available"])],
];
/** Longer values are none of a vendor's modes. */
const MODE_CHARS = 64;

/** Returns the mode that a vendor served a request in; undefined for the usual one. `answer` is what has the fields. */
export function readModes(answer: Fields): ServedModes | undefined {
  let modes: Record<string, string> | undefined;
  for (const [field, usual] of MODES) {
    const value = answer[field];
    if (typeof value !== "string" || value.length > MODE_CHARS || usual.has(value)) continue;
    modes ??= {};
    // biome-ignore lint/plugin: one of MODES.
    modes[field] = value;
  }
  return modes;
}

/** Returns the cost that a vendor reports in its usage; undefined for none, and if it bills someone else (`is_byok`). US dollars. */
export function readReportedCost({ cost, is_byok }: Fields): number | undefined {
  if (typeof cost !== "number" || is_byok === true) return undefined;
  return cost >= 0 && Number.isFinite(cost) ? cost : undefined;
}

/** Adds what an answer says about its price besides its counts; returns the usage itself if that is nothing, as usual. */
export function withPriceFacts(
  usage: TokenUsage,
  modes: ServedModes | undefined,
  cost: number | undefined,
): TokenUsage {
  if (modes === undefined && cost === undefined) return usage;
  return {
    ...usage,
    ...(modes === undefined ? {} : { modes }),
    ...(cost === undefined ? {} : { reportedCost: cost }),
  };
}

const SEARCH_CONTEXTS = ["low", "medium", "high"] as const;
/** The size of a search context, by which some vendors charge. */
export type SearchContext = (typeof SEARCH_CONTEXTS)[number];

/** Parses a search context size; null for anything else. */
export function readSearchContext(value: unknown): SearchContext | null {
  for (const name of SEARCH_CONTEXTS) if (name === value) return name;
  return null;
}

/**
 * Reads a vendor's counter: a whole number, zero or more; null for anything else. A number too large to be exact is read as
 * the largest exact one. It is above every bound of core/generation/bound-usage, so that it is rejected there and not
 * taken for a missing counter.
 */
export function readCount(value: unknown): number | null {
  if (typeof value !== "number" || !(value >= 0)) return null;
  if (value > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  return Number.isInteger(value) ? value : null;
}

/**
 * Limits the parts of a usage to their totals. A token that a vendor counts as both read from and written to the cache counts as
 * read, so that the counters add up to the size of the prompt.
 */
export function fitParts(usage: TokenUsage): TokenUsage {
  const { promptTokens, completionTokens } = usage;
  if (arePartsFitting(usage)) return usage;
  const cachedTokens = Math.min(usage.cachedTokens, promptTokens);
  const cacheWriteTokens = Math.min(usage.cacheWriteTokens, promptTokens - cachedTokens);
  return {
    ...usage,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(usage.cacheWrite1hTokens, cacheWriteTokens),
    reasoningTokens: Math.min(usage.reasoningTokens, completionTokens),
    audioPromptTokens: Math.min(usage.audioPromptTokens, promptTokens),
    audioCompletionTokens: Math.min(usage.audioCompletionTokens, completionTokens),
    imageCompletionTokens: Math.min(usage.imageCompletionTokens, completionTokens),
  };
}

/** Whether `fitParts` has nothing to limit, as usual. */
function arePartsFitting(usage: TokenUsage): boolean {
  const { promptTokens, completionTokens } = usage;
  return (
    usage.cachedTokens <= promptTokens &&
    usage.cacheWriteTokens <= promptTokens - usage.cachedTokens &&
    usage.cacheWrite1hTokens <= usage.cacheWriteTokens &&
    usage.audioPromptTokens <= promptTokens &&
    Math.max(usage.reasoningTokens, usage.audioCompletionTokens, usage.imageCompletionTokens) <=
      completionTokens
  );
}

/** The approximate number of UTF-8 bytes per token. Scripts with more bytes per character also need more tokens. */
export const BYTES_PER_TOKEN = 4;

/** Estimates the tokens of a text from its UTF-8 bytes; at least 1 for any text. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
