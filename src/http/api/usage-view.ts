import { z } from "zod";

const count = z.int().min(0);

/** What every line of a report of usage has: what `presentUsage` gives, but for the group. */
const SUMS = {
  requests: count,
  errors: count.describe("Of those: failed, or cut short by the gateway's end"),
  tokens_prompt: count,
  tokens_completion: count,
  tokens_cached: count,
  tokens_cache_write: count,
  tokens_reasoning: count,
  cost: z.number().describe("US dollars that were paid"),
  cost_nanodollars: z.int(),
  upstream_cost: z.number().describe("The providers' list price, US dollars"),
  upstream_cost_nanodollars: z.int(),
};

/** Lines of a report by day, for the caller. */
export const DayOfUsage = z
  .object({ date: z.iso.date().describe("UTC"), ...SUMS })
  .meta({ id: "DayOfUsage", description: "What was used in a day" });

const group = z.string().nullable().optional();

/** Lines of a report by any group: the one asked for is there. */
export const UsageLine = z
  .object({
    day: group.describe("UTC"),
    model: group,
    provider: group,
    key: group.describe("The key's id"),
    user: group.describe("The user's id; null: keys of nobody"),
    account: group.describe("The account's id; null: callers without a key"),
    ...SUMS,
  })
  .meta({ id: "UsageLine", description: "What was used, with the group that was asked for" });
