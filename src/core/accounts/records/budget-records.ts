/** The subjects of budgets: all spending of an account, or that of one team, one key, one member, one or every end user, one or every tag. */
export const BUDGET_SUBJECTS = ["account", "team", "key", "member", "end_user", "tag"] as const;
export type BudgetSubject = (typeof BUDGET_SUBJECTS)[number];

/** The periods of budgets, in UTC. `rolling`: the current day and the days before it, `days` in all. */
export const BUDGET_PERIODS = ["total", "day", "week", "month", "rolling"] as const;
type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** The actions at the limit: requests are rejected, or continue with a warning. */
export const BUDGET_ACTIONS = ["block", "warn"] as const;
type BudgetAction = (typeof BUDGET_ACTIONS)[number];

/** A limit on what an account spends in each period. */
export interface BudgetRecord {
  /** `budget_…`. */
  readonly id: string;
  /** The account that pays. */
  readonly accountId: string;
  readonly name: string;
  readonly subject: BudgetSubject;
  /**
   * How records identify the subject: by the id of the team, key or user, the keyed hash of an end user, or a tag. Null for the whole account,
   * and if each end user or tag has the limit separately.
   */
  readonly subjectId: string | null;
  /** The end user as the budget's owner named it; null for other subjects, and for every end user. */
  readonly endUser: string | null;
  /** Nanodollars in a period. */
  readonly limit: number;
  readonly period: BudgetPeriod;
  /** The length of a rolling period; null for the others. */
  readonly days: number | null;
  readonly action: BudgetAction;
  /** The share of the limit at which warnings begin, in thousandths. */
  readonly warnAt: number;
  /** The account cannot change what the operator has set. */
  readonly setBy: "operator" | "account";
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** The fields of a budget that can change. Its subject and period cannot, because its sums are recorded by them. */
export type BudgetChange = Partial<Pick<BudgetRecord, "name" | "limit" | "action" | "warnAt">>;

/** Returns how messages name a budget: `The budget "Search by month" of the team "Search"`. `team`: the name of its team; null for others. */
export function labelBudget(name: string, team: string | null): string {
  return `budget ${JSON.stringify(name)}${team === null ? "" : ` of the team ${JSON.stringify(team)}`}`;
}

/** A member of an organization, as budgets identify members and teams. */
interface BudgetReader {
  readonly userId: string | null;
  readonly isInTeam: (teamId: string) => boolean;
}

/** Returns whether a budget concerns a member: it is one of the whole account, of the member, or of one of the member's teams. */
export function concernsMember(
  { subject, subjectId }: BudgetRecord,
  { userId, isInTeam }: BudgetReader,
): boolean {
  if (subject === "account") return true;
  if (subject === "member") return subjectId === userId;
  return subject === "team" && subjectId !== null && isInTeam(subjectId);
}

/** Returns whether each end user, or each tag, has the limit separately. */
export function isForEach({ subject, subjectId }: BudgetRecord): boolean {
  return subjectId === null && subject !== "account";
}
