import { z } from "zod";
import { toDollars } from "../../../base/numbers/money.ts";
import { DAY_MS, type DayRange, dayOf, formatTime, HOURS_OF_DAY, parseDay } from "../../../base/time/time.ts";
import { SPEND_PERIODS } from "../../../core/accounts/fields/key-fields.ts";
import { presentRateLimit, RateLimitView } from "../../../core/accounts/fields/rate-limit-fields.ts";
import {
  type BudgetStatus,
  BudgetView,
  presentBudget,
} from "../../../core/accounts/records/budget-fields.ts";
import { defaultTagsOf, promptLogOf } from "../../../core/accounts/records/key-defaults.ts";
import type { AccountPrincipal } from "../../../core/accounts/records/principal.ts";
import type { KeyRecord } from "../../../core/accounts/records/records.ts";
import { isFreeId } from "../../../core/catalog/records/is-free-id.ts";
import { valuesOf } from "../../../core/ledger/limits/budget-limits.ts";
import { readBudgetStatuses } from "../../../core/ledger/limits/budget-status.ts";
import { daysOf } from "../../../core/ledger/limits/spend-periods.ts";
import { presentSums } from "../../../core/ledger/records/present-sums.ts";
import type { LimitVerdict } from "../../../core/limits/rate-limiter.ts";
import { hideListPrices, presentUsage } from "../../../core/usage/reports/present-usage.ts";
import { hoursOfDays, USUAL_DAYS, type UsageSum } from "../../../core/usage/reports/report.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { DayOfUsage } from "../../api/usage-view.ts";
import type { HttpDeps } from "../../context/context.ts";

/** The parts that self-service endpoints share. */
const SELF = {
  method: "GET",
  everyPrefix: true,
  tag: "Self-service",
  needs: "gateway",
  access: { kind: "inference" },
} as const;

const BudgetOfKey = BudgetView.pick({
  id: true,
  name: true,
  subject: true,
  limit: true,
  period: true,
  days: true,
  action: true,
  spent: true,
  remaining: true,
  state: true,
  resets_at: true,
});

const dollars = (description: string) => z.number().describe(`US dollars ${description}`);

/**
 * Fields that clients of OpenRouter read of a key (docs/migrate-from/openrouter.md). Days, weeks and months are in UTC; weeks begin on
 * Monday.
 */
const COMPATIBLE = {
  limit_reset: z
    .enum(["daily", "weekly", "monthly"])
    .nullable()
    .describe("`limit_period` in OpenRouter's words. `null` for `total`, and without a limit."),
  usage_daily: dollars("spent with the key today."),
  usage_weekly: dollars("spent with the key this week."),
  usage_monthly: dollars("spent with the key this month."),
  byok_usage: dollars("at list price that providers bill to the account itself for requests with BYOK keys."),
  byok_usage_daily: dollars("of it today."),
  byok_usage_weekly: dollars("of it this week."),
  byok_usage_monthly: dollars("of it this month."),
  include_byok_in_limit: z
    .literal(false)
    .describe("Always `false`: the limit is one of what is charged here."),
  is_free_tier: z.boolean().describe("Whether the account has never bought credits."),
  is_management_key: z.literal(false),
  is_provisioning_key: z.literal(false),
  creator_user_id: z.string().nullable().describe("The user of the key. `null` for a service key."),
  organization_id: z.string().nullable(),
  workspace_id: z.null(),
  allowed_data_regions: z.array(z.literal("global")),
  free_model_daily_requests: z
    .object({ limit: z.int(), remaining: z.int(), used: z.int() })
    .describe(
      "Requests of the account to free models today. `limit` is 24 times `free_model_limit.requests_per_hour`. `limit` and `remaining` are -1 if there is no limit.",
    ),
};

/** `GET key`: the key of the request. */
export const getKey = defineEndpoint({
  ...SELF,
  path: "/key",
  summary: "Retrieve the key of this request: its limits, its spending, and the account that pays",
  response: z.object({
    data: z.object({
      id: z.string(),
      name: z.string(),
      label: z.string().describe("The first and last characters of the secret."),
      limit: z
        .number()
        .nullable()
        .describe("US dollars that may be spent with the key in each period. `null` means no limit."),
      limit_period: z
        .enum(["total", ...SPEND_PERIODS])
        .describe(
          "Period of the limit. `total`: the key's lifetime. The other periods are in UTC, and weeks begin on Monday.",
        ),
      limit_remaining: z.number().nullable().describe("US dollars left in the current period."),
      limit_resets_at: z.iso
        .datetime()
        .nullable()
        .describe(
          "Time at which the next period begins (RFC 3339). `null` without a limit, and for the period `total`.",
        ),
      usage: z.number().describe("US dollars spent with the key."),
      usage_nanodollars: z.int(),
      models: z.array(z.string()).nullable(),
      rate_limit: RateLimitView.extend({
        requests: z.int().describe("Same as `requests_per_minute`; -1 without a limit."),
        interval: z.literal("1m"),
        note: z.string(),
      }).describe("The rate limit in force for the key. `null` means no limit."),
      free_model_limit: z
        .object({
          requests_per_hour: z.int(),
          remaining: z.int().describe("Remaining requests."),
        })
        .nullable()
        .describe(
          "Limit of the account that pays on models whose id ends in `:free`. `null` means no limit.",
        ),
      created_at: z.iso.datetime(),
      expires_at: z.iso.datetime().nullable(),
      ...COMPATIBLE,
      budgets: z
        .array(BudgetOfKey)
        .describe("Budgets of the account that all requests with the key count for."),
      account: z.object({ id: z.string(), kind: z.enum(["user", "organization"]), name: z.string() }),
      team: z
        .object({ id: z.string(), name: z.string() })
        .nullable()
        .describe("The team of the organization that the key belongs to."),
      prompt_log: z
        .int()
        .nullable()
        .describe(
          "Seconds for which the bodies of requests and responses are stored. `null` means they are not.",
        ),
    }),
  }),
  async handle({ principal, deps }) {
    const { key, account } = principal;
    const limited = deps.generation.settings
      .listLimits(principal, null)
      .find(({ source }) => source === "key");
    await deps.generation.recorder.drain();
    const always = hoursOfDays(0, dayOf(deps.clock.now()));
    const scope = { accountId: null, userId: null, keyId: key.id };
    const [sum] = await deps.reports.usage.sumUsage({ groups: ["key"], ...always, ...scope });
    const spent = sum?.cost ?? 0;
    const limit = await findKeyLimit(key, spent, deps);
    const free = await deps.generation.settings.freeLimit.peek(principal, deps.clock.now());
    return {
      data: {
        id: key.id,
        name: key.name,
        label: key.hint,
        ...limit,
        usage: toDollars(spent),
        usage_nanodollars: spent,
        models: key.models,
        rate_limit: {
          ...presentRateLimit(limited?.limit ?? null),
          requests: limited?.limit?.requestsPerMinute ?? -1,
          interval: "1m",
          note: "requests are those of requests_per_minute.",
        },
        free_model_limit: free && { requests_per_hour: free.limit, remaining: free.remaining },
        created_at: new Date(key.createdAt).toISOString(),
        expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
        ...(await findCompatible(principal, { sum, free }, deps)),
        budgets: await listBudgetsOfKey(principal, deps),
        account: { id: account.id, kind: account.kind, name: account.name },
        team: principal.team && { id: principal.team.id, name: principal.team.name },
        prompt_log: promptLogOf(principal),
      },
    };
  },
});

const RESETS = { day: "daily", week: "weekly", month: "monthly" } as const;

/** Returns the fields of a key that clients of OpenRouter read. `sum`: the usage of the key; `free`: the account's limit on free models. */
async function findCompatible(
  { key, account }: AccountPrincipal,
  { sum, free }: { readonly sum: UsageSum | undefined; readonly free: LimitVerdict | null },
  deps: HttpDeps,
) {
  const [usage, sums, used] = await Promise.all([
    sumPeriods(key, deps),
    deps.resources.credits.store.sumTransfers(account.id),
    countFreeRequests(account.id, deps),
  ]);
  const limit = free === null ? null : free.limit * HOURS_OF_DAY;
  return {
    limit_reset:
      key.spendLimit === null || key.spendLimitPeriod === null ? null : RESETS[key.spendLimitPeriod],
    usage_daily: toDollars(usage.day.cost),
    usage_weekly: toDollars(usage.week.cost),
    usage_monthly: toDollars(usage.month.cost),
    byok_usage: toDollars(sum?.byokUpstreamCost ?? 0),
    byok_usage_daily: toDollars(usage.day.byok),
    byok_usage_weekly: toDollars(usage.week.byok),
    byok_usage_monthly: toDollars(usage.month.byok),
    include_byok_in_limit: false as const,
    is_free_tier: sums.purchase === 0,
    is_management_key: false as const,
    is_provisioning_key: false as const,
    creator_user_id: key.userId,
    organization_id: account.kind === "organization" ? account.id : null,
    workspace_id: null,
    allowed_data_regions: ["global" as const],
    free_model_daily_requests: {
      limit: limit ?? -1,
      remaining: limit === null ? -1 : Math.max(0, limit - used),
      used,
    },
  };
}

/** Sums the spending of a key in the present day, week and month, and what providers billed to its account. Nanodollars. */
async function sumPeriods({ id }: KeyRecord, { reports: { usage }, clock }: HttpDeps) {
  const now = clock.now();
  const ranges = { day: daysOf("day", now), week: daysOf("week", now), month: daysOf("month", now) };
  const from = Math.min(ranges.week.from, ranges.month.from);
  const hours = hoursOfDays(from, dayOf(now));
  const sums = await usage.sumUsage({ groups: ["day"], ...hours, accountId: null, userId: null, keyId: id });
  const sumOf = ({ from: first, to }: DayRange) => {
    const total = { cost: 0, byok: 0 };
    for (const { groups, cost, byokUpstreamCost } of sums) {
      const day = parseDay(groups[0] ?? "");
      if (day === null || day < first || day > to) continue;
      total.cost += cost;
      total.byok += byokUpstreamCost;
    }
    return total;
  };
  return { day: sumOf(ranges.day), week: sumOf(ranges.week), month: sumOf(ranges.month) };
}

/** Counts the requests of an account to free models in the present day. */
async function countFreeRequests(
  accountId: string,
  { reports: { usage }, clock }: HttpDeps,
): Promise<number> {
  const today = dayOf(clock.now());
  const sums = await usage.sumUsage({
    groups: ["model"],
    ...hoursOfDays(today, today),
    accountId,
    userId: null,
    keyId: null,
  });
  const free = sums.filter(({ groups: [model] }) => model !== undefined && model !== null && isFreeId(model));
  return free.reduce((count, { requests }) => count + requests, 0);
}

/** Returns the budgets for which every request with a key counts, whatever its end user and tags are. */
async function listBudgetsOfKey(principal: AccountPrincipal, { resources: { budgets }, clock }: HttpDeps) {
  const { key, account } = principal;
  const now = clock.now();
  const { id: keyId, userId, teamId } = key;
  const tags = defaultTagsOf(principal);
  const spender = { accountId: account.id, keyId, userId, teamId: teamId ?? undefined, tags, createdAt: now };
  const own = (account.budgets ?? []).filter((budget) => valuesOf(budget, spender).length > 0);
  const statuses = await readBudgetStatuses(budgets, own, now);
  return own.map((budget, at) => BudgetOfKey.parse(presentBudget(budget, statuses[at] as BudgetStatus)));
}

/** Returns a key's spending limit, with what is left of it and when it resets. `spent`: nanodollars over the key's lifetime. */
async function findKeyLimit({ id, spendLimit, spendLimitPeriod }: KeyRecord, spent: number, deps: HttpDeps) {
  const limit_period = spendLimitPeriod ?? "total";
  if (spendLimit === null) return { limit: null, limit_period, limit_remaining: null, limit_resets_at: null };
  const days = spendLimitPeriod === null ? null : daysOf(spendLimitPeriod, deps.clock.now());
  const used = days === null ? spent : await deps.resources.credits.store.sumSpending({ keyId: id, days });
  return {
    limit: toDollars(spendLimit),
    limit_period,
    limit_remaining: toDollars(Math.max(0, spendLimit - used)),
    limit_resets_at: days === null ? null : formatTime((days.to + 1) * DAY_MS),
  };
}

/** `GET credits`: the balance of the account that pays. */
export const getCredits = defineEndpoint({
  ...SELF,
  path: "/credits",
  summary: "Retrieve the balance of the account that pays: `total_credits` less `total_usage`",
  response: z.object({
    data: z.object({
      balance: z.number(),
      balance_nanodollars: z.int(),
      held: z.number(),
      total_granted: z.number(),
      total_purchased: z.number(),
      total_used: z.number().describe("US dollars charged for generations, less refunds."),
      total_credits: z.number().describe("US dollars granted and purchased, less expired grants."),
      total_usage: z.number().describe("Same as `total_used`."),
    }),
  }),
  async handle({ principal: { account }, deps }) {
    const { ledger, recorder } = deps.generation;
    await recorder.drain();
    const sums = await deps.resources.credits.store.sumTransfers(account.id);
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

/** `GET activity`: the usage of the last 30 days. */
export const getActivity = defineEndpoint({
  ...SELF,
  path: "/activity",
  summary: "Retrieve the usage of the last 30 days by day",
  response: z.object({ data: z.array(DayOfUsage) }),
  async handle({ principal: { key, account }, deps }) {
    await deps.generation.recorder.drain();
    const today = dayOf(deps.clock.now());
    const sums = await deps.reports.usage.sumUsage({
      groups: ["day"],
      ...hoursOfDays(today - USUAL_DAYS + 1, today),
      accountId: account.id,
      // A member of an organization sees only their own usage.
      userId: key.userId,
      keyId: null,
    });
    const shown = hideListPrices(sums, deps.generation.settings.pricing);
    return { data: shown.map((sum) => presentUsage("date", sum)) };
  },
});
