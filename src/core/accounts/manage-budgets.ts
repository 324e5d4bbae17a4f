import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { IdSource } from "../../base/ids.ts";
import { parseDollars } from "../../base/money.ts";
import type { AccountStore } from "./account-store.ts";
import { EACH, type NewBudget, toThousandths } from "./budget-fields.ts";
import type { BudgetChange, BudgetRecord, BudgetSubject } from "./budget-records.ts";
import { type BudgetStore, MAX_BUDGETS } from "./budget-store.ts";
import type { KeyStore } from "./key-store.ts";
import type { AccountRecord } from "./records.ts";

/** What managing budgets needs. */
export interface BudgetStores {
  readonly budgets: BudgetStore;
  readonly accounts: Pick<AccountStore, "findAccount" | "findMember">;
  readonly keys: Pick<KeyStore, "findKey">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: IdSource;
}

/** A new budget, and who asks for it. */
export interface BudgetRequest {
  readonly accountId: string;
  readonly budget: Omit<NewBudget, "account_id">;
  readonly setBy: BudgetRecord["setBy"];
  /** Returns the keyed hash by which records of the account name an end user. */
  readonly hashEndUser: (name: string) => string;
}

/**
 * Creates a budget. What was spent in its period before counts, as far as usage sums tell it.
 * @throws GatewayError `invalid_request` that names the field; `conflict` if the account has as many as it may.
 */
export async function createBudget(stores: BudgetStores, request: BudgetRequest): Promise<BudgetRecord> {
  const { accountId, budget: wanted, setBy } = request;
  const account = await stores.accounts.findAccount(accountId);
  if (account === null || account.closedAt !== null)
    return rejectField("account_id", "must be the id of an open account");
  if ((wanted.period === "rolling") !== (wanted.days !== undefined))
    rejectField(
      "days",
      wanted.days === undefined ? "is required for the period rolling" : "applies to the period rolling only",
    );
  const subject = await findSubject(stores, account, request);
  const budget: BudgetRecord = {
    id: stores.ids.next("budget"),
    accountId,
    name: wanted.name ?? nameOf(wanted),
    ...subject,
    limit: parseDollars(wanted.limit) ?? 0,
    period: wanted.period,
    days: wanted.days ?? null,
    action: wanted.action,
    warnAt: toThousandths(wanted.warn_at),
    setBy,
    createdAt: stores.clock.now(),
  };
  if (await stores.budgets.insertBudget(budget)) return budget;
  return fail(
    "conflict",
    `The account has ${MAX_BUDGETS} budgets already. Delete one, or use limits of keys.`,
  );
}

/**
 * Changes a budget.
 * @throws GatewayError `not_found`.
 */
export async function changeBudget(
  { budgets }: Pick<BudgetStores, "budgets">,
  id: string,
  change: BudgetChange,
): Promise<BudgetRecord> {
  const changed = await budgets.changeBudget(id, (budget) => ({ ...budget, ...change }));
  return changed ?? fail("not_found", "There is no budget with that id.");
}

const SUBJECT_FIELDS = { key_id: "key", user_id: "member", end_user: "end_user", tag: "tag" } as const;

type Subject = Pick<BudgetRecord, "subject" | "subjectId" | "endUser">;

async function findSubject(
  stores: BudgetStores,
  account: AccountRecord,
  { budget, hashEndUser }: BudgetRequest,
): Promise<Subject> {
  const given = (Object.keys(SUBJECT_FIELDS) as (keyof typeof SUBJECT_FIELDS)[]).filter(
    (name) => budget[name] !== undefined,
  );
  const [field, second] = given;
  if (second !== undefined) rejectField(second, `cannot be combined with ${field}; create a budget for each`);
  if (field === undefined) return { subject: "account", subjectId: null, endUser: null };
  const value = budget[field] ?? "";
  const subject: BudgetSubject = SUBJECT_FIELDS[field];
  if (field === "key_id") await requireKey(stores, account, value);
  if (field === "user_id") await requireMember(stores, account, value);
  if (value === EACH) return { subject, subjectId: null, endUser: null };
  if (field === "end_user") return { subject, subjectId: hashEndUser(value), endUser: value };
  return { subject, subjectId: value, endUser: null };
}

async function requireKey({ keys }: BudgetStores, { id }: AccountRecord, keyId: string): Promise<void> {
  const key = await keys.findKey(keyId);
  if (key === null || key.accountId !== id || key.kind !== "inference")
    rejectField("key_id", "must be the id of an inference key of the account");
}

async function requireMember({ accounts }: BudgetStores, account: AccountRecord, userId: string) {
  const member = account.kind === "organization" ? await accounts.findMember(account.id, userId) : null;
  if (member === null) rejectField("user_id", "must be the id of a member of the organization that pays");
}

function nameOf({ key_id, user_id, end_user, tag, period, days }: BudgetRequest["budget"]): string {
  const subject =
    key_id ??
    user_id ??
    (end_user === EACH ? "each end user" : end_user) ??
    (tag === EACH ? "each tag" : tag);
  return `${subject ?? "account"} by ${period === "rolling" ? `${days} days` : period}`;
}

function rejectField(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
}
