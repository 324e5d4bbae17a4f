import { z } from "zod";
import { dayOf } from "../../base/days.ts";
import { toDollars } from "../../base/money.ts";
import { presentRateLimit, RateLimitView } from "../../core/accounts/rate-limit-fields.ts";
import { presentSums } from "../../core/ledger/present-sums.ts";
import { presentUsage } from "../../core/usage/present-usage.ts";
import { USUAL_DAYS } from "../../core/usage/report.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { DayOfUsage } from "../api/usage-view.ts";

/** What every endpoint of the caller's own has in common. */
const SELF = {
  method: "GET",
  everyPrefix: true,
  tag: "Self-service",
  access: { kind: "inference" },
  params: NOTHING,
  query: NOTHING,
  body: NOTHING,
} as const;

/** `GET key`: what the caller's key is and may still spend. */
export const getKey = defineEndpoint({
  ...SELF,
  path: "/key",
  summary: "The key this is asked with: its limits, what was spent through it, and who pays",
  response: z.object({
    data: z.object({
      id: z.string(),
      name: z.string(),
      label: z.string().describe("Its first and last characters"),
      limit: z
        .number()
        .nullable()
        .describe("US dollars that may be spent through it; null: no limit of its own"),
      limit_remaining: z.number().nullable(),
      usage: z.number().describe("US dollars spent through it"),
      usage_nanodollars: z.int(),
      models: z.array(z.string()).nullable(),
      rate_limit: RateLimitView.describe("In force for this key; null: no limit"),
      free_model_limit: z
        .object({
          requests_per_hour: z.int(),
          remaining: z.int().describe("Left of them now"),
        })
        .nullable()
        .describe("Of the account that pays, on models whose id ends in :free; null: no limit"),
      created_at: z.iso.datetime(),
      expires_at: z.iso.datetime().nullable(),
      account: z.object({ id: z.string(), kind: z.enum(["user", "organization"]), name: z.string() }),
    }),
  }),
  async handle({ principal, deps }) {
    const { key, account } = principal;
    const limited = deps.generation.listLimits(principal, null).find(({ source }) => source === "key");
    await deps.generation.recorder.drain();
    const usage = { groupBy: "key", fromDay: 0, toDay: dayOf(deps.clock.now()) } as const;
    const [sum] = await deps.usage.sumUsage({ ...usage, accountId: null, userId: null, keyId: key.id });
    const spent = sum?.cost ?? 0;
    const { spendLimit } = key;
    const free = await deps.generation.freeLimit.peek(principal, deps.clock.now());
    return {
      data: {
        id: key.id,
        name: key.name,
        label: key.hint,
        limit: spendLimit === null ? null : toDollars(spendLimit),
        limit_remaining: spendLimit === null ? null : toDollars(Math.max(0, spendLimit - spent)),
        usage: toDollars(spent),
        usage_nanodollars: spent,
        models: key.models,
        rate_limit: presentRateLimit(limited?.limit ?? null),
        free_model_limit: free && { requests_per_hour: free.limit, remaining: free.remaining },
        created_at: new Date(key.createdAt).toISOString(),
        expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
        account: { id: account.id, kind: account.kind, name: account.name },
      },
    };
  },
});

/** `GET credits`: the balance of who pays, and what it came from. */
export const getCredits = defineEndpoint({
  ...SELF,
  path: "/credits",
  summary: "The balance of the account that pays: total_credits less total_usage",
  response: z.object({
    data: z.object({
      balance: z.number(),
      balance_nanodollars: z.int(),
      held: z.number(),
      total_granted: z.number(),
      total_purchased: z.number(),
      total_used: z.number().describe("What generations have cost, refunds taken off"),
      total_credits: z.number().describe("All that came in, less what expired"),
      total_usage: z.number().describe("The same as total_used"),
    }),
  }),
  async handle({ principal: { account }, deps }) {
    const { ledger, recorder } = deps.generation;
    await recorder.drain();
    const sums = await deps.credits.store.sumTransfers(account.id);
    const { balance, held } = await ledger.balanceOf(account.id);
    return {
      data: {
        balance: toDollars(balance),
        balance_nanodollars: balance,
        held: toDollars(held),
        ...presentSums(sums),
      },
    };
  },
});

/** `GET activity`: what the caller has used in the last 30 days, day by day. */
export const getActivity = defineEndpoint({
  ...SELF,
  path: "/activity",
  summary: "What the principal has used in the last 30 days, by day",
  response: z.object({ data: z.array(DayOfUsage) }),
  async handle({ principal: { key, account }, deps }) {
    await deps.generation.recorder.drain();
    const today = dayOf(deps.clock.now());
    const sums = await deps.usage.sumUsage({
      groupBy: "day",
      fromDay: today - USUAL_DAYS + 1,
      toDay: today,
      accountId: account.id,
      // In an organization a member sees what they used themselves.
      userId: key.userId,
      keyId: null,
    });
    return { data: sums.map((sum) => presentUsage("date", sum)) };
  },
});
