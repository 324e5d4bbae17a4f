import { z } from "zod";
import type { RateLimitChange } from "../../core/accounts/own-rate-limit.ts";

const MEANINGS = {
  requests_per_minute: "Requests a minute",
  tokens_per_minute: "Tokens a minute, prompts and answers together",
  concurrent: "Requests at once",
} as const;

const Count = z.int().min(1).max(1_000_000_000_000).nullish();

/** A rate limit, or the part of it that is to change. Null: as configured. */
export const RateLimitField = z
  .strictObject({
    requests_per_minute: Count.describe(MEANINGS.requests_per_minute),
    tokens_per_minute: Count.describe(MEANINGS.tokens_per_minute),
    concurrent: Count.describe(MEANINGS.concurrent),
  })
  .meta({
    id: "RateLimitChange",
    description: "A rate limit, or the part of it that is to change; the rest stays",
  })
  .nullable();

/** A rate limit as it is shown. */
export const RateLimitView = z
  .object({
    requests_per_minute: z.int().nullable().describe(MEANINGS.requests_per_minute),
    tokens_per_minute: z.int().nullable().describe(MEANINGS.tokens_per_minute),
    concurrent: z.int().nullable().describe(MEANINGS.concurrent),
  })
  .meta({ id: "RateLimit", description: "A rate limit of its own; null: as configured for all" });

/** A rate limit's fields as the core names them. */
export function readRateLimit(
  field: z.infer<typeof RateLimitField> | undefined,
): RateLimitChange | undefined {
  if (field === undefined || field === null) return field;
  return {
    requestsPerMinute: field.requests_per_minute,
    tokensPerMinute: field.tokens_per_minute,
    concurrent: field.concurrent,
  };
}
