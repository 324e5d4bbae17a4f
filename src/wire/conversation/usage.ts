/** What one generation used: tokens by kind, and what vendors charge beside them. Whole numbers. */
export interface TokenUsage {
  /** All of the prompt, cached parts with it. */
  readonly promptTokens: number;
  /** All that was produced, reasoning with it. */
  readonly completionTokens: number;
  /** Of the prompt: read from the vendor's cache. */
  readonly cachedTokens: number;
  /** Of the prompt: written to the vendor's cache, for however long. */
  readonly cacheWriteTokens: number;
  /** Of those written: kept for an hour, which costs more than five minutes. */
  readonly cacheWrite1hTokens: number;
  /** Of the completion: reasoning. */
  readonly reasoningTokens: number;
  /** Of the prompt: audio. */
  readonly audioPromptTokens: number;
  /** Of the completion: audio. */
  readonly audioCompletionTokens: number;
  /** Of the completion: images. */
  readonly imageCompletionTokens: number;
  /** In the prompt. Only the request tells, and it is asked only where they have a price. */
  readonly images: number;
  /** On the web, by the vendor: searches, queries or sources, whichever it counts and charges. */
  readonly searches: number;
  /** How much of what was found is read; null where nobody says. */
  readonly searchContext: SearchContext | null;
  /** Counted here, because the vendor gave no numbers, or none that can be. */
  readonly estimated: boolean;
  /** The model that the vendor counts the tokens for, by its name there, where another one answered than was asked for. */
  readonly countedFor?: string;
  /** What other models have used that the model consulted; absent: it consulted none. No other count has it in it. */
  readonly advisors?: readonly AdvisorUsage[];
}

/** What a model has used that another one consulted. */
export interface AdvisorUsage
  extends Pick<
    TokenUsage,
    "promptTokens" | "completionTokens" | "cachedTokens" | "cacheWriteTokens" | "cacheWrite1hTokens"
  > {
  /** Its name at the vendor. */
  readonly model: string;
}

/** Nothing, as a vendor counted it: what a reader of counters starts from. */
export const NO_TOKENS: Omit<TokenUsage, "countedFor" | "advisors"> = {
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

const SEARCH_CONTEXTS = ["low", "medium", "high"] as const;
/** How much of what a search finds is read: some vendors charge a request by it. */
export type SearchContext = (typeof SEARCH_CONTEXTS)[number];

/** A search context by its name; null for anything else. */
export function readSearchContext(value: unknown): SearchContext | null {
  return SEARCH_CONTEXTS.find((name) => name === value) ?? null;
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
 * Limits the parts of a usage to their whole. Vendors may count a token as read from the cache and as written to it: it
 * stays a read, so that a client that adds the counters up gets the size of the prompt.
 */
export function fitParts(usage: TokenUsage): TokenUsage {
  const { promptTokens, completionTokens } = usage;
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

/** Bytes of UTF-8 that make about one token. Scripts that need more bytes a character need more tokens for it too. */
export const BYTES_PER_TOKEN = 4;

/** About how many tokens so many bytes of text are, as UTF-8; at least 1 for any text. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
