import { z } from "zod";

const count = z.int().min(0);

/** The sums in every line of a usage report (`presentUsage`). */
const SUMS = {
  requests: count,
  errors: count.describe("Requests that failed or were interrupted by the end of the gateway's process."),
  tokens_prompt: count,
  tokens_completion: count,
  tokens_cached: count,
  tokens_cache_write: count,
  tokens_reasoning: count,
  cost: z.number().describe("US dollars charged."),
  cost_nanodollars: z.int(),
  cache_saved: z
    .number()
    .describe(
      "US dollars that vendors' prompt caches saved: the savings from reads minus the extra cost of writes. Negative if writes cost more.",
    ),
  cache_saved_nanodollars: z.int(),
  answers_saved: z
    .number()
    .describe(
      "US dollars that answers had cost which the answer cache or an `Idempotency-Key` returned again (outcome `cached`).",
    ),
  answers_saved_nanodollars: z.int(),
  upstream_cost: z
    .number()
    .describe(
      "Cost at the providers' list prices, in US dollars. If the operator has pricing rules, callers other than the operator see `cost` here.",
    ),
  upstream_cost_nanodollars: z.int(),
};

/** A line of a report by day. */
export const DayOfUsage = z
  .object({ date: z.iso.date().describe("Day in UTC."), ...SUMS })
  .meta({ id: "DayOfUsage", description: "Usage of a day." });

/** A figure that only the operator sees. */
function operatorOnly(schema: z.ZodNumber | z.ZodInt, description: string) {
  return schema.nullable().describe(`${description} Only the operator sees it; otherwise \`null\`.`);
}

const group = z.string().nullable().optional();

const percentiles = z.object({ p50: z.int(), p90: z.int(), p99: z.int() }).nullable();

/** A line of a report by any groups. It has the fields of the requested groups only. */
export const UsageLine = z
  .object({
    hour: group.describe(
      "Start of the hour (RFC 3339, UTC). `null` for days whose hours are no longer known.",
    ),
    day: group.describe("Day in the time zone of the report."),
    model: group,
    provider: group,
    key: group.describe("Id of the key."),
    key_name: group,
    user: group.describe("Id of the user. `null` for keys without a user."),
    user_name: group,
    team: group.describe("Id of the team. `null` for keys without a team, and for requests without a key."),
    team_name: group.describe("Name of the team, also of a deleted one."),
    account: group.describe("Id of the account. `null` for requests without a key."),
    account_name: group,
    outcome: group.describe(
      "`completed`, `cached`, `cancelled`, `interrupted`, or the error of the requests that failed. `null` for days that an earlier version of the gateway has counted.",
    ),
    client: group.describe(
      "Family of the client, which is read from the `User-Agent`, such as `claude-code`. `null` for requests without one, and for those that an earlier version of the gateway has counted.",
    ),
    tag: group.describe(
      "A tag of the requests. A request with several tags counts for each of them. `(other)` stands for tags beyond an account's first 200 in an hour, `null` for requests without tags.",
    ),
    ...SUMS,
    provider_cost: operatorOnly(
      z.number(),
      "What the providers bill to the operator at their list prices, in US dollars: `upstream_cost` without requests with BYOK keys.",
    ),
    provider_cost_nanodollars: operatorOnly(z.int(), "The same in nanodollars."),
    margin: operatorOnly(
      z.number(),
      "`cost` less `provider_cost`, in US dollars. Negative if less was charged than is billed.",
    ),
    margin_nanodollars: operatorOnly(z.int(), "The same in nanodollars."),
    latency_ms: percentiles.describe(
      "Time to the first token. Each percentile is off by at most 19 percent. `null` if no request of the line had a token, and in reports about tags or clients.",
    ),
    duration_ms: percentiles.describe("Time to the end of the response, for requests that had a token."),
  })
  .meta({
    id: "UsageLine",
    description: "Usage of one group. Only the fields of the requested groups are present.",
  });
