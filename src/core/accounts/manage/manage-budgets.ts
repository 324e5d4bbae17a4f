import { fail } from "../../../base/failures/errors.ts";
import { parseDollars } from "../../../base/numbers/money.ts";
import type { IdSource } from "../../../base/secrets/ids.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { EACH, type NewBudget, toThousandths } from "../records/budget-fields.ts";
import type { BudgetChange, BudgetRecord, BudgetSubject } from "../records/budget-records.ts";
import type { AccountRecord } from "../records/records.ts";
import type { AccountStore } from "../stores/account-store.ts";
import { type BudgetStore, MAX_BUDGETS } from "../stores/budget-store.ts";
import type { KeyStore } from "../stores/key-store.ts";
import type { TeamStore } from "../stores/team-store.ts";

/** The dependencies of managing budgets. */
interface BudgetStores {
  readonly budgets: BudgetStore;
  readonly accounts: Pick<AccountStore, "findAccount" | "findMember">;
  readonly keys: Pick<KeyStore, "findKey">;
  readonly teams: Pick<TeamStore, "findTeam">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: IdSource;
}

/** A new budget, and the caller who creates it. */
interface BudgetRequest {
  readonly accountId: string;
  readonly budget: Omit<NewBudget, "account_id">;
  readonly setBy: BudgetRecord["setBy"];
  /** Returns the keyed hash that identifies an end user in records of the account. */
  readonly hashEndUser: (name: string) => string;
}

/**
 * Creates a budget. Earlier spending in its period counts, as far as usage sums have it.
 * @throws GatewayError `invalid_request` that names the field; `conflict` if the account has the maximum number of budgets.
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
  const { label, ...subject } = await findSubject(stores, account, request);
  const budget: BudgetRecord = {
    id: stores.ids.next("budget"),
    accountId,
    name: wanted.name ?? nameOf(wanted, label),
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
    `The account already has ${MAX_BUDGETS} budgets. Delete one, or use spending limits of keys.`,
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

const SUBJECT_FIELDS = {
  key_id: "key",
  user_id: "member",
  team_id: "team",
  end_user: "end_user",
  tag: "tag",
} as const;

interface Subject extends Pick<BudgetRecord, "subject" | "subjectId" | "endUser"> {
  /** Names the subject in the name that a budget gets. */
  readonly label: string;
}

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
  if (field === undefined) return { subject: "account", subjectId: null, endUser: null, label: "account" };
  const value = budget[field] ?? "";
  const subject: BudgetSubject = SUBJECT_FIELDS[field];
  if (value === EACH && (field === "end_user" || field === "tag"))
    return { subject, subjectId: null, endUser: null, label: field === "tag" ? "each tag" : "each end user" };
  const found = { subject, subjectId: value, endUser: null };
  switch (field) {
    case "end_user":
      return { subject, subjectId: hashEndUser(value), endUser: value, label: value };
    case "tag":
      return { ...found, label: value };
    case "key_id":
      return { ...found, label: await nameOfKey(stores, account, value) };
    case "team_id":
      return { ...found, label: await nameOfTeam(stores, account, value) };
    case "user_id":
      return { ...found, label: await nameOfMember(stores, account, value) };
  }
}

async function nameOfKey({ keys }: BudgetStores, { id }: AccountRecord, keyId: string): Promise<string> {
  const key = await keys.findKey(keyId);
  if (key === null || key.accountId !== id || key.kind !== "inference")
    return rejectField("key_id", "must be the id of an inference key of the account");
  return key.name;
}

async function nameOfMember(
  { accounts }: BudgetStores,
  account: AccountRecord,
  userId: string,
): Promise<string> {
  const member = account.kind === "organization" ? await accounts.findMember(account.id, userId) : null;
  if (member === null)
    return rejectField("user_id", "must be the id of a member of the organization that pays");
  return (await accounts.findAccount(userId))?.name ?? userId;
}

async function nameOfTeam({ teams }: BudgetStores, { id }: AccountRecord, teamId: string): Promise<string> {
  const team = await teams.findTeam(teamId);
  if (team === null || team.organizationId !== id || team.deletedAt !== null)
    return rejectField("team_id", "must be the id of a team of the organization that pays");
  return team.name;
}

function nameOf({ period, days }: BudgetRequest["budget"], label: string): string {
  return `${label} by ${period === "rolling" ? `${days} days` : period}`;
}

function rejectField(field: string, problem: string): never {
  return fail("invalid_request", `${field} ${problem}.`, { metadata: { field } });
}
