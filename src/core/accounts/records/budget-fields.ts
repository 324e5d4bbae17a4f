import { z } from "zod";
import { parseDollars, toDollars } from "../../../base/numbers/money.ts";
import { PlainText } from "../../catalog/records/plain-text-schema.ts";
import { dollarsInput, IdInput, NameInput } from "../fields/resource-fields.ts";
import {
  BUDGET_ACTIONS,
  BUDGET_PERIODS,
  BUDGET_SUBJECTS,
  type BudgetChange,
  type BudgetRecord,
  isForEach,
} from "./budget-records.ts";

/** Means that every end user, or every tag, has the limit separately. */
export const EACH = "*";

/** The longest rolling period. Days. */
const MAX_DAYS = 365;
const THOUSANDTHS = 1_000;

const LimitInput = dollarsInput(1)
  .describe("US dollars that may be spent in each period, as a number or a decimal string.")
  .meta({ examples: [50] });

const WarnAtInput = z
  .number()
  .min(0.001)
  .max(1)
  .refine((share) => Number.isInteger(Math.round(share * 1e9) / 1e6), {
    error: "must have at most 3 decimal places",
  })
  .describe("Share of the limit at which warnings start and the event `budget.warning` is sent.");

const CHANGEABLE = {
  name: NameInput.describe("Display name of the budget."),
  limit: LimitInput,
  action: z
    .enum(BUDGET_ACTIONS)
    .describe(
      "What happens at the limit. `block`: requests that do not fit are rejected with 402. `warn`: they pass, and their answers have a warning.",
    ),
  warn_at: WarnAtInput,
};

/** The body of a change of a budget. */
export const BudgetChangeInput = z
  .strictObject(CHANGEABLE)
  .partial()
  .meta({ examples: [{ limit: 80 }] });

/** The validated body of a change. */
export type BudgetChangeBody = z.infer<typeof BudgetChangeInput>;

/** The body of a new budget. */
export const BudgetInput = z.strictObject({
  account_id: IdInput.optional().describe("Id of the account that pays. Default: the caller's own account."),
  name: CHANGEABLE.name
    .optional()
    .describe("Display name of the budget. Default: a name made of its subject and period."),
  key_id: IdInput.optional().describe("Only spending with this API key of the account."),
  user_id: IdInput.optional().describe("Only spending of this member of the organization."),
  team_id: IdInput.optional().describe("Only spending with the keys of this team of the organization."),
  end_user: PlainText.min(1)
    .max(512)
    .optional()
    .describe(
      "Only requests with this end user (`user`). `*`: the limit applies to each end user separately.",
    ),
  tag: PlainText.min(1)
    .max(200)
    .optional()
    .describe("Only requests with this tag. `*`: the limit applies to each tag separately."),
  limit: LimitInput,
  period: z
    .enum(BUDGET_PERIODS)
    .default("month")
    .describe(
      "Period of the limit, in UTC. `total`: no end. `day`, `week` (from Monday), `month`: each calendar period. `rolling`: the last `days` days, including today.",
    ),
  days: z.int().min(1).max(MAX_DAYS).optional().describe("Length of a `rolling` period in days."),
  action: CHANGEABLE.action.default("block"),
  warn_at: WarnAtInput.default(0.8),
});
export type NewBudget = z.infer<typeof BudgetInput>;

/** Returns the changes that a request asks for, by their names in a record. */
export function readBudgetChange(body: BudgetChangeBody): BudgetChange {
  const { name, limit, action, warn_at } = body;
  return {
    ...(name === undefined ? {} : { name }),
    ...(limit === undefined ? {} : { limit: parseDollars(limit) ?? 0 }),
    ...(action === undefined ? {} : { action }),
    ...(warn_at === undefined ? {} : { warnAt: toThousandths(warn_at) }),
  };
}

/** Returns a share as whole thousandths. */
export function toThousandths(share: number): number {
  return Math.round(share * THOUSANDTHS);
}

/** The spending under a budget in its current period. */
export interface BudgetStatus {
  /** Nanodollars; null if each end user or tag has the limit separately. */
  readonly spent: number | null;
  /** The end users or tags that have spent the most; empty for other budgets. */
  readonly values: readonly { readonly value: string; readonly spent: number }[];
  /** When the next period begins; null for the periods `total` and `rolling`. Milliseconds since the epoch. */
  readonly resetsAt: number | null;
}

const BUDGET_STATES = ["ok", "warning", "reached"] as const;
export type BudgetState = (typeof BUDGET_STATES)[number];

/** Returns how close the spending of a budget is to its limit. Nanodollars. */
export function stateOf({ limit, warnAt }: BudgetRecord, spent: number): BudgetState {
  if (spent >= limit) return "reached";
  return spent * THOUSANDTHS >= limit * warnAt ? "warning" : "ok";
}

const Dollars = z.number().nullable();
const STATE = z.enum(BUDGET_STATES);
const RESETS_AT = z.iso.datetime().nullable();

/** A budget in a response. */
export const BudgetView = z
  .object({
    id: z.string().describe("Id of the budget, `budget_…`."),
    account_id: z.string().describe("Id of the account that pays."),
    name: CHANGEABLE.name,
    subject: z
      .enum(BUDGET_SUBJECTS)
      .describe("What the budget limits: the whole account, or a part of its spending."),
    key_id: z.string().nullable(),
    user_id: z.string().nullable(),
    team_id: z.string().nullable(),
    end_user: z.string().nullable().describe("`*`: each end user has the limit for itself."),
    tag: z.string().nullable().describe("`*`: each tag has the limit for itself."),
    limit: z.number().describe("US dollars that may be spent in each period."),
    period: z.enum(BUDGET_PERIODS),
    days: z.int().nullable().describe("Length of a rolling period."),
    action: CHANGEABLE.action,
    warn_at: z.number(),
    set_by: z
      .enum(["operator", "account"])
      .describe("Who set the budget. The account cannot change a budget that the operator set."),
    created_at: z.iso.datetime(),
    spent: Dollars.describe(
      "US dollars spent in the current period. `null` if the limit applies to each end user or tag separately.",
    ),
    remaining: Dollars.describe("US dollars left in the current period; holds are not subtracted."),
    state: STATE.describe(
      "`warning`: `warn_at` of the limit is spent. `reached`: all of it. Of several end users or tags, the highest.",
    ),
    resets_at: RESETS_AT.describe("When the next period begins. `null` for `total` and `rolling`."),
    top: z
      .array(z.object({ value: z.string(), spent: z.number(), remaining: z.number(), state: STATE }))
      .describe(
        "If the limit applies to each end user or tag separately: those that have spent the most. End users are named by a keyed hash.",
      ),
  })
  .meta({ id: "Budget", description: "A limit on what an account, or a part of it, spends in each period." });

/** Returns a budget as the management API and the commands show it. */
export function presentBudget(budget: BudgetRecord, status: BudgetStatus): Record<string, unknown> {
  const { limit } = budget;
  const { spent, values, resetsAt } = status;
  const subjectId = isForEach(budget) ? EACH : budget.subjectId;
  const idOf = (subject: BudgetRecord["subject"]) => (budget.subject === subject ? subjectId : null);
  return {
    id: budget.id,
    account_id: budget.accountId,
    name: budget.name,
    subject: budget.subject,
    key_id: idOf("key"),
    user_id: idOf("member"),
    team_id: idOf("team"),
    end_user: budget.endUser ?? idOf("end_user"),
    tag: idOf("tag"),
    limit: toDollars(limit),
    period: budget.period,
    days: budget.days,
    action: budget.action,
    warn_at: budget.warnAt / THOUSANDTHS,
    set_by: budget.setBy,
    created_at: new Date(budget.createdAt).toISOString(),
    spent: spent === null ? null : toDollars(spent),
    remaining: spent === null ? null : toDollars(Math.max(0, limit - spent)),
    state: stateOf(budget, spent ?? values[0]?.spent ?? 0),
    resets_at: resetsAt === null ? null : new Date(resetsAt).toISOString(),
    top: values.map(({ value, spent: own }) => ({
      value,
      spent: toDollars(own),
      remaining: toDollars(Math.max(0, limit - own)),
      state: stateOf(budget, own),
    })),
  };
}
