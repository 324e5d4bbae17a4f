/** What a report of usage can be grouped by. */
export const USAGE_GROUPS = ["day", "model", "provider", "key", "user", "account"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Which usage a report is about. Days are counted from the epoch, in UTC; both ends belong to it. */
export interface UsageQuery {
  readonly groupBy: UsageGroup;
  readonly fromDay: number;
  readonly toDay: number;
  /** Null: of all. */
  readonly accountId: string | null;
  readonly userId: string | null;
  readonly keyId: string | null;
}

/** A line of a report. */
export interface UsageSum {
  /** The day, the model's id and so on; null for usage that belongs to none. */
  readonly group: string | null;
  readonly requests: number;
  /** Of those: failed or cut short by the gateway's death. */
  readonly errors: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** What was paid, and the providers' list price; nanodollars. */
  readonly cost: number;
  readonly upstreamCost: number;
}
