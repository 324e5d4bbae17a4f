import { type DayRange, dayOf } from "../../../base/time/time.ts";
import type { BudgetRecord } from "../../accounts/records/budget-records.ts";
import type { Spender, SpendLimit } from "../holds/hold-book.ts";
import { daysOf } from "./spend-periods.ts";

/** The prefix of the meters that have a sum only while their limits are set. */
export const LATE_METERS = "budget:";

/** The last day of a period without an end. */
const NO_END = 2_000_000_000;

/** The fields of budgets and records that distinguish one subject from another. */
const ONE: readonly string[] = [""];
const NONE: readonly string[] = [];

/** Returns the names of a budget's sums for which a generation counts: none, the only one, or one for its end user or each of its tags. */
export function valuesOf(budget: BudgetRecord, spender: Spender): readonly string[] {
  if (spender.accountId !== budget.accountId) return NONE;
  const { subject, subjectId } = budget;
  switch (subject) {
    case "account":
      return ONE;
    case "key":
      return spender.keyId === subjectId ? ONE : NONE;
    case "member":
      return spender.userId === subjectId ? ONE : NONE;
    case "team":
      return spender.teamId === subjectId ? ONE : NONE;
    case "end_user":
      return pick(subjectId, spender.endUser === undefined ? NONE : [spender.endUser]);
    case "tag":
      return pick(subjectId, spender.tags ?? NONE);
  }
}

function pick(subjectId: string | null, values: readonly string[]): readonly string[] {
  if (subjectId === null) return values;
  return values.includes(subjectId) ? ONE : NONE;
}

/** Returns the days of a budget's period that a time is in. */
export function daysOfBudget({ period, days }: Pick<BudgetRecord, "period" | "days">, ms: number): DayRange {
  if (period === "total") return { from: 0, to: NO_END };
  if (period !== "rolling") return daysOf(period, ms);
  const today = dayOf(ms);
  return { from: today - (days ?? 1) + 1, to: today };
}

/** Returns the day that names the period of a budget: its first day, or the last day of a rolling period. */
export function nameDay({ period }: Pick<BudgetRecord, "period">, { from, to }: DayRange): number {
  return period === "rolling" ? to : from;
}

/** Returns the periods of a budget for which a generation of a day counts, by the days that name them. */
export function periodsOf(budget: Pick<BudgetRecord, "period" | "days">, createdAt: number): DayRange {
  const days = daysOfBudget(budget, createdAt);
  if (budget.period !== "rolling") return { from: days.from, to: days.from };
  return { from: days.to, to: days.to + (budget.days ?? 1) - 1 };
}

/** Returns the meter of one sum of a budget. */
export function meterOfBudget({ id }: Pick<BudgetRecord, "id">, value: string): string {
  return value === "" ? `${LATE_METERS}${id}` : `${LATE_METERS}${id}/${value}`;
}

/** Adds budgets to the spending limits of a generation: those for which it counts and which reject requests at their limit. */
export function addBudgets(limits: SpendLimit[], budgets: readonly BudgetRecord[], spender: Spender): void {
  for (const budget of budgets)
    if (budget.action === "block")
      for (const value of valuesOf(budget, spender)) limits.push(limitOfBudget(budget, value, spender));
}

function limitOfBudget(budget: BudgetRecord, value: string, { createdAt }: Spender): SpendLimit {
  const days = daysOfBudget(budget, createdAt);
  const since = nameDay(budget, days);
  return {
    meter: meterOfBudget(budget, value),
    of: "budget",
    budget: { id: budget.id, name: budget.name, subject: budget.subject },
    limit: budget.limit,
    since,
    query: { budget: { id: budget.id, value }, days },
    covers(other) {
      const periods = periodsOf(budget, other.createdAt);
      return periods.from <= since && since <= periods.to && isOf(budget, value, other);
    },
  };
}

function isOf(budget: BudgetRecord, value: string, spender: Spender): boolean {
  return valuesOf(budget, spender).includes(value);
}

/** A cost that counts for one sum of a budget. */
interface BudgetCost {
  readonly budget: BudgetRecord;
  readonly value: string;
  /** The day of the request, counted from the epoch. */
  readonly day: number;
  /** Nanodollars. */
  cost: number;
}

/** Sums the costs of ended generations by the sums of budgets for which they count, in the order of their keys. */
export function sumByBudget(
  budgets: readonly BudgetRecord[],
  ended: readonly (Spender & { readonly costNanodollars: number })[],
): readonly BudgetCost[] {
  const sums = new Map<string, BudgetCost>();
  for (const record of ended) {
    if (record.costNanodollars === 0) continue;
    const day = dayOf(record.createdAt);
    for (const budget of budgets)
      for (const value of valuesOf(budget, record)) {
        const name = `${budget.id}\n${value}\n${day}`;
        const sum = sums.get(name) ?? { budget, value, day, cost: 0 };
        sum.cost += record.costNanodollars;
        sums.set(name, sum);
      }
  }
  return [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

/** Returns whether an account's requests must name their end users in records, because a budget is about them. */
export function countsEndUsers(budgets: readonly BudgetRecord[]): boolean {
  return budgets.some(({ subject }) => subject === "end_user");
}
