import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { IdSource } from "../../base/ids.ts";
import { toDollars } from "../../base/money.ts";
import { type KnownNames, type NameList, requireKnownNames } from "../catalog/known-names.ts";
import type { AccountStore } from "./account-store.ts";
import { changeRateLimit, presentRateLimit, type RateLimitChange } from "./own-rate-limit.ts";
import { type AccountRecord, DEFAULT_ACCOUNT_ID, OPEN_POLICY, type Policy } from "./records.ts";

/** What making and changing accounts takes. */
export interface AccountStores {
  readonly accounts: AccountStore;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** What an account is to be. What is left out stays as it is; of a new one, it is what a prepaid account has. */
export interface AccountChange {
  readonly name?: string | undefined;
  /** Nanodollars; null: no bound. */
  readonly overdraft?: number | null | undefined;
  /** Nanodollars; null: no limit. */
  readonly monthlyLimit?: number | null | undefined;
  readonly policy?: { readonly [Field in keyof Policy]?: Policy[Field] | undefined } | undefined;
  readonly rateLimit?: RateLimitChange | undefined;
  readonly isClosed?: boolean | undefined;
}

type Kind = AccountRecord["kind"];

const PREFIX: Record<Kind, string> = { user: "user", organization: "org" };

/**
 * Makes an account; an organization with its first owner, if one is named. Its policy may name what `known` knows.
 * @throws GatewayError `invalid_request` for an owner that is no user, or a policy that names what is not known.
 */
export async function createAccount(
  stores: AccountStores,
  known: () => KnownNames,
  kind: Kind,
  wanted: AccountChange & { readonly name: string },
  ownerId: string | null = null,
): Promise<AccountRecord> {
  requireKnownNames(known, listNames(wanted, OPEN_POLICY));
  const createdAt = stores.clock.now();
  const id = stores.ids.next(PREFIX[kind]);
  const blank: AccountRecord = {
    id,
    kind,
    name: wanted.name,
    overdraft: 0,
    monthlyLimit: null,
    policy: OPEN_POLICY,
    rateLimit: null,
    createdAt,
    closedAt: null,
  };
  const account = applyChange(blank, wanted, createdAt);
  if (ownerId === null) {
    await stores.accounts.insertAccount(account);
    return account;
  }
  await requireUser(stores, ownerId, "owner");
  const owner = { organizationId: id, userId: ownerId, role: "owner", dailyLimit: null, createdAt } as const;
  await stores.accounts.insertAccount(account, owner);
  return account;
}

/**
 * Changes an account, closes it or opens it again. Its policy may name what it named before and what `known` knows.
 * @throws GatewayError `not_found`; `invalid_request` for a policy that names what is not known; `conflict` for a user who alone owns an organization and is to be closed.
 */
export async function changeAccount(
  { accounts, clock }: AccountStores,
  known: () => KnownNames,
  kind: Kind,
  id: string,
  change: AccountChange,
): Promise<AccountRecord> {
  const found = await findAccount(accounts, kind, id);
  requireKnownNames(known, listNames(change, found.policy));
  if (change.isClosed && id === DEFAULT_ACCOUNT_ID) {
    fail("invalid_request", "The operator's own account cannot be closed.", {
      metadata: { field: "closed" },
    });
  }
  const now = clock.now();
  const { verdict, account } = await accounts.changeAccount(id, (before) => applyChange(before, change, now));
  if (verdict === "last_owner") {
    fail(
      "conflict",
      "This user alone owns an organization. Make somebody else its owner, or close it, first.",
    );
  }
  return account ?? refuseUnknown(kind);
}

/**
 * An account of a kind.
 * @throws GatewayError `not_found`.
 */
export async function findAccount(accounts: AccountStore, kind: Kind, id: string): Promise<AccountRecord> {
  const account = await accounts.findAccount(id);
  return account?.kind === kind ? account : refuseUnknown(kind);
}

/**
 * Checks that a field names a user whose account is open. The operator's own account is nobody.
 * @throws GatewayError `invalid_request`.
 */
export async function requireUser({ accounts }: AccountStores, id: string, field: string): Promise<void> {
  const account = await accounts.findAccount(id);
  if (account?.kind === "user" && account.closedAt === null && id !== DEFAULT_ACCOUNT_ID) return;
  fail("invalid_request", `${field} names no user, or one whose account is closed.`, { metadata: { field } });
}

function refuseUnknown(kind: Kind): never {
  return fail("not_found", `There is no ${kind} with that id.`);
}

/** The names in a policy that is to be; those that were in it `before` are not looked up again. */
function listNames({ policy }: AccountChange, before: Policy): readonly NameList[] {
  if (policy === undefined) return [];
  const list = (field: string, kind: NameList["kind"], of: ListField): NameList => ({
    field: `policy.${field}`,
    kind,
    names: policy[of],
    kept: before[of],
  });
  return [
    list("allowed_models", "model", "allowedModels"),
    list("denied_models", "model", "deniedModels"),
    list("allowed_providers", "provider", "allowedProviders"),
    list("denied_providers", "provider", "deniedProviders"),
  ];
}

type ListField = "allowedModels" | "deniedModels" | "allowedProviders" | "deniedProviders";

function applyChange(before: AccountRecord, change: AccountChange, now: number): AccountRecord {
  const { name, overdraft, monthlyLimit, policy, rateLimit, isClosed } = change;
  const given = Object.entries(policy ?? {}).filter(([, value]) => value !== undefined);
  return {
    ...before,
    name: name ?? before.name,
    overdraft: overdraft === undefined ? before.overdraft : overdraft,
    monthlyLimit: monthlyLimit === undefined ? before.monthlyLimit : monthlyLimit,
    policy: { ...before.policy, ...Object.fromEntries(given) },
    rateLimit: changeRateLimit(before.rateLimit, rateLimit),
    closedAt: isClosed === undefined ? before.closedAt : isClosed ? (before.closedAt ?? now) : null,
  };
}

/** An account as the management API and the command show it. */
export function presentAccount(account: AccountRecord): Record<string, unknown> {
  const { id, name, overdraft, monthlyLimit, policy, rateLimit, createdAt, closedAt } = account;
  return {
    id,
    name,
    overdraft: overdraft === null ? null : toDollars(overdraft),
    ...(account.kind === "organization"
      ? { monthly_limit: monthlyLimit === null ? null : toDollars(monthlyLimit) }
      : {}),
    policy: describePolicy(policy),
    rate_limit: presentRateLimit(rateLimit),
    created_at: new Date(createdAt).toISOString(),
    closed_at: closedAt === null ? null : new Date(closedAt).toISOString(),
  };
}

function describePolicy(policy: Policy): Record<string, unknown> {
  return {
    allowed_models: policy.allowedModels,
    denied_models: policy.deniedModels,
    allowed_providers: policy.allowedProviders,
    denied_providers: policy.deniedProviders,
    deny_data_collection: policy.denyDataCollection,
    zero_retention: policy.zeroRetention,
    own_keys_only: policy.ownKeysOnly,
  };
}
