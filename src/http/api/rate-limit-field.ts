import { z } from "zod";
import type { RateLimitChange } from "../../core/accounts/own-rate-limit.ts";

const Count = z.int().min(1).max(1_000_000_000_000).nullish();

/** A rate limit, or the part of it that is to change. Null: as configured. */
export const RateLimitField = z
  .strictObject({ requests_per_minute: Count, tokens_per_minute: Count, concurrent: Count })
  .nullable();

/** A rate limit as it is shown. */
export const RateLimitView = z
  .object({
    requests_per_minute: z.int().nullable(),
    tokens_per_minute: z.int().nullable(),
    concurrent: z.int().nullable(),
  })
  .describe("Null: as configured for all");

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
