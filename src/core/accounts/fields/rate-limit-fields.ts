import { z } from "zod";
import { COUNT_FORMAT, type OptionTexts } from "./field-option.ts";
import type { RateLimitChange } from "./own-rate-limit.ts";
import type { RateLimit } from "./rate-limit.ts";
import { changeShape, presentFields, readFields, settableField, viewShape } from "./resource-fields.ts";

const CountInput = z.int().min(1).max(1_000_000_000_000).nullable();

function countField(description: string, texts: Pick<OptionTexts, "flags" | "help">) {
  const option = { ...texts, none: "the configured one", ...COUNT_FORMAT };
  return settableField({ view: z.int().nullable(), input: CountInput }, description, option);
}

const FIELDS = {
  requests_per_minute: countField("Requests per minute. `null` means the configured limit applies.", {
    flags: "--requests-per-minute <count>",
    help: "Limit of requests per minute",
  }),
  tokens_per_minute: countField(
    "Tokens per minute, prompt and completion together. `null` means the configured limit applies.",
    { flags: "--tokens-per-minute <count>", help: "Limit of prompt and completion tokens per minute" },
  ),
  concurrent: countField("Concurrent requests. `null` means the configured limit applies.", {
    flags: "--concurrent <count>",
    help: "Limit of concurrent requests",
  }),
};

/** A rate limit in a response. */
export const RateLimitView = z
  .object(viewShape(FIELDS))
  .meta({ id: "RateLimit", description: "A rate limit of one key, team or account." });

const RateLimitInput = z
  .strictObject(changeShape(FIELDS))
  .meta({
    id: "RateLimitChange",
    description: "A rate limit, or the part of it to change. Omitted fields keep their value.",
  })
  .nullable();

/** Returns the field of a resource's own rate limit. Null resets it to the configured limit. */
export function rateLimitField(description: string) {
  return {
    view: RateLimitView,
    input: RateLimitInput.describe(description),
    present: presentRateLimit,
    read: (json: z.infer<typeof RateLimitInput>): RateLimitChange =>
      json === null ? null : readFields(FIELDS, json),
    parts: FIELDS,
  };
}

/** Returns a rate limit as the management API and the commands show it. */
export function presentRateLimit(limit: RateLimit | null): Record<string, unknown> {
  return presentFields(FIELDS, limit ?? { requestsPerMinute: null, tokensPerMinute: null, concurrent: null });
}
