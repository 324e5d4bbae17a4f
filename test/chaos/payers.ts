import type { Stores } from "../../src/app/stores/stores.ts";
import { createKey, type NewKey } from "../../src/core/accounts/manage/manage-keys.ts";
import {
  type AccountRecord,
  DEFAULT_ACCOUNT_ID,
  NO_KEY_DEFAULTS,
  OPEN_POLICY,
} from "../../src/core/accounts/records/records.ts";
import { PLATFORM_ACCOUNT } from "../../src/core/ledger/records/records.ts";
import type { Payer } from "../books/asked.ts";
import { openTestStores } from "../support/databases/test-stores.ts";

/** The payers of a run, and the store of their gateway, opened by a second process. */
export interface Payers {
  readonly all: readonly Payer[];
  /** The account with a small balance, which is topped up now and then. */
  readonly poor: Payer;
  /** Adds money from outside, while the gateway runs or is being killed. */
  grant(accountId: string, amount: number): Promise<void>;
  close(): Promise<void>;
}

/** The account with a small balance. */
export const DRY_ACCOUNT = "user_poor";

const RICH = 900_000_000_000;
const POOR = 2_000_001;
/** Less than the cost of a long answer of the hostile vendor. */
const POORER = 3_000_001;
const KEY_LIMIT = 900_000_007;
const MEMBER_LIMIT = 800_000_003;
const MONTHLY_LIMIT = 700_000_001;
const BUDGET = 600_000_007;

/** Creates accounts and keys with every kind of limit; with `meetsHostility` the poor account cannot pay a long answer. */
export async function makePayers(dataDir: string, meetsHostility: boolean): Promise<Payers> {
  const stores = await openTestStores(dataDir);
  let grants = 0;
  const grant = async (accountId: string, amount: number): Promise<void> => {
    grants += 1;
    await stores.ledger.addTransfer({
      id: `grant_${grants}`,
      kind: "grant",
      from: PLATFORM_ACCOUNT,
      to: accountId,
      amount,
      createdAt: stores.clock.now(),
      note: null,
      expiresAt: null,
    });
  };
  const make = (name: string, limit: number | null, key: Partial<NewKey>) =>
    makePayer(stores, name, limit, key);

  for (const [id, monthlyLimit] of [
    ["user_rich", null],
    [DRY_ACCOUNT, null],
    ["org_daily", null],
    ["org_monthly", MONTHLY_LIMIT],
    ["org_budget", null],
  ] as const) {
    await stores.accounts.insertAccount(presentAccount(id, monthlyLimit));
    await grant(id, id !== DRY_ACCOUNT ? RICH : meetsHostility ? POORER : POOR);
  }
  await stores.accounts.putMember({
    organizationId: "org_daily",
    userId: "user_rich",
    role: "member",
    source: "manual",
    dailyLimit: MEMBER_LIMIT,
    createdAt: 1,
  });
  for (const [accountId, action, limit] of [
    ["org_budget", "block", BUDGET],
    ["user_rich", "warn", 1],
  ] as const)
    await stores.budgets.insertBudget({
      ...WHOLE_ACCOUNT,
      id: `budget_${accountId}`,
      accountId,
      action,
      limit,
    });
  const poor = await make("a prepaid user who runs out of credit", null, {
    accountId: DRY_ACCOUNT,
    userId: DRY_ACCOUNT,
  });
  const all = [
    await make("the operator", null, { accountId: DEFAULT_ACCOUNT_ID }),
    await make("a prepaid user", null, { accountId: "user_rich", userId: "user_rich" }),
    poor,
    await make("a key with a limit", KEY_LIMIT, {
      accountId: "user_rich",
      userId: "user_rich",
      spendLimit: KEY_LIMIT,
    }),
    await make("a member with a daily limit", MEMBER_LIMIT, { accountId: "org_daily", userId: "user_rich" }),
    await make("an organization with a monthly limit", MONTHLY_LIMIT, { accountId: "org_monthly" }),
    await make("an organization with a budget", BUDGET, { accountId: "org_budget" }),
  ];
  return { all, poor, grant, close: () => stores.close() };
}

/** A budget of all that an account spends. */
const WHOLE_ACCOUNT = {
  name: "all",
  subject: "account",
  subjectId: null,
  endUser: null,
  period: "total",
  days: null,
  warnAt: 800,
  setBy: "operator",
  createdAt: 1,
} as const;

async function makePayer(
  stores: Stores,
  name: string,
  limit: number | null,
  wanted: Partial<NewKey>,
): Promise<Payer> {
  const { secret, key } = await createKey(stores, { name, kind: "inference", expiresAt: null, ...wanted });
  return { name, secret, keyId: key.id, accountId: key.accountId, limit };
}

function presentAccount(id: string, monthlyLimit: number | null): AccountRecord {
  const kind = id.startsWith("org_") ? "organization" : "user";
  return {
    id,
    kind,
    name: id,
    overdraft: 0,
    monthlyLimit,
    policy: OPEN_POLICY,
    rateLimit: null,
    plan: null,
    email: null,
    externalId: null,
    createdAt: 1,
    ...NO_KEY_DEFAULTS,
    closedAt: null,
  };
}
