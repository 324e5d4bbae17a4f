/** Tokens by kind, as one generation used them. Whole numbers. */
export interface TokenUsage {
  /** All of the prompt, cached parts with it. */
  readonly promptTokens: number;
  /** All that was produced, reasoning with it. */
  readonly completionTokens: number;
  /** Of the prompt: read from the vendor's cache. */
  readonly cachedTokens: number;
  /** Of the prompt: written to the vendor's cache. */
  readonly cacheWriteTokens: number;
  /** Of the completion: reasoning. */
  readonly reasoningTokens: number;
  /** Counted here, because the vendor gave no numbers. */
  readonly estimated: boolean;
}

/** Bytes of text that make about one token, for estimates. */
const BYTES_PER_TOKEN = 4;

/** About how many tokens so many bytes of text are; at least 1 for any text. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
