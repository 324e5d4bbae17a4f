/** What one key, account or model may use; null: no limit. */
export interface RateLimit {
  readonly requestsPerMinute: number | null;
  /** Of prompt and answer together. */
  readonly tokensPerMinute: number | null;
  /** Requests at once. */
  readonly concurrent: number | null;
}

/** Whether a limit limits anything. */
export function isLimit(limit: RateLimit): boolean {
  return limit.requestsPerMinute !== null || limit.tokensPerMinute !== null || limit.concurrent !== null;
}
