import { fail } from "../../../base/failures/errors.ts";
import type { IdSource } from "../../../base/secrets/ids.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { type KnownNames, type NameList, requireKnownNames } from "../../catalog/served/known-names.ts";
import { changeRateLimit } from "../fields/own-rate-limit.ts";
import { type Change, mergeChange } from "../fields/resource-fields.ts";
import type { ACCOUNT_SETTINGS } from "../records/account-fields.ts";
import {
  type AccountRecord,
  DEFAULT_ACCOUNT_ID,
  NO_KEY_DEFAULTS,
  NO_MEMBER_KEYS,
  OPEN_POLICY,
  type Policy,
} from "../records/records.ts";
import type { AccountStore, OwnerVerdict, UniqueVerdict } from "../stores/account-store.ts";
import type { InvitationStore } from "../stores/invitation-store.ts";
import type { TeamStore } from "../stores/team-store.ts";

/** The stores that managing accounts needs. */
export interface AccountStores {
  readonly accounts: AccountStore;
  readonly teams: TeamStore;
  readonly invitations: InvitationStore;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** The fields of an account to change. Absent and undefined fields keep their value, in a new account their default. */
interface AccountChange extends Change<typeof ACCOUNT_SETTINGS> {
  /** True closes the account, false opens it again. */
  readonly isClosed?: boolean | undefined;
}

type Kind = AccountRecord["kind"];

/** A new account. */
interface NewAccount {
  readonly kind: Kind;
  readonly settings: AccountChange & { readonly name: string };
  /** The first owner of an organization. */
  readonly ownerId?: string | undefined;
}

/** What members of a new organization may make. */
const USUAL_MEMBER_KEYS = { count: 10, days: null, spendLimit: null } as const;

const PREFIX: Record<Kind, string> = { user: "user", organization: "org" };

/**
 * Creates an account; for an organization, optionally with its first owner.
 * @throws GatewayError `invalid_request` for an owner who is not an open user, and for a policy with a model or provider that is not in
 * `known`; `conflict` for the e-mail or external id of another account.
 */
export async function createAccount(
  stores: AccountStores,
  known: () => KnownNames,
  { kind, settings, ownerId }: NewAccount,
): Promise<AccountRecord> {
  requireKnownNames(known, listPolicyNames(settings, OPEN_POLICY));
  const account = makeAccount(stores, { kind, settings });
  const { id, createdAt } = account;
  if (ownerId !== undefined) await requireUser(stores, ownerId, "owner");
  const owner =
    ownerId === undefined
      ? undefined
      : ({
          organizationId: id,
          userId: ownerId,
          role: "owner",
          dailyLimit: null,
          source: "manual",
          createdAt,
        } as const);
  requireDone(await stores.accounts.insertAccount(account, owner));
  return account;
}

/** Returns a new account without storing it. */
export function makeAccount(
  { clock, ids }: Pick<AccountStores, "clock" | "ids">,
  { kind, settings }: Omit<NewAccount, "ownerId">,
): AccountRecord {
  const createdAt = clock.now();
  const blank: AccountRecord = {
    id: ids.next(PREFIX[kind]),
    kind,
    name: settings.name,
    email: null,
    externalId: null,
    overdraft: 0,
    monthlyLimit: null,
    policy: OPEN_POLICY,
    rateLimit: null,
    plan: null,
    ...NO_KEY_DEFAULTS,
    memberKeys: kind === "organization" ? USUAL_MEMBER_KEYS : null,
    createdAt,
    closedAt: null,
  };
  return applyChange(blank, settings, createdAt);
}

/** @throws GatewayError `conflict` that names the field. */
function requireDone(verdict: OwnerVerdict | UniqueVerdict): void {
  if (verdict === "last_owner")
    fail(
      "conflict",
      "This user is the only owner of an organization. First make another member its owner, or close the organization.",
    );
  if (verdict === "email_taken")
    fail("conflict", "Another user has this e-mail address. First change or remove it there.", {
      metadata: { field: "email" },
    });
  if (verdict === "external_id_taken")
    fail("conflict", "Another user or organization has this external_id. First change or remove it there.", {
      metadata: { field: "external_id" },
    });
}

/** A change of one account. */
interface ChangeOfAccount {
  readonly kind: Kind;
  readonly id: string;
  readonly change: AccountChange;
}

/**
 * Changes, closes or reopens an account. Names in its policy must be known (`known`) or have been set before.
 * @throws GatewayError `not_found`; `invalid_request` for a policy with an unknown name; `conflict` if a user is closed who is the only
 * owner of an organization, and for the e-mail or external id of another account.
 */
export async function changeAccount(
  { accounts, clock }: AccountStores,
  known: () => KnownNames,
  { kind, id, change }: ChangeOfAccount,
): Promise<AccountRecord> {
  const found = await findAccount(accounts, kind, id);
  requireKnownNames(known, listPolicyNames(change, found.policy));
  if (change.isClosed && id === DEFAULT_ACCOUNT_ID) {
    fail("invalid_request", "The operator account cannot be closed.", { metadata: { field: "closed" } });
  }
  const now = clock.now();
  const { verdict, account } = await accounts.changeAccount(id, (before) => applyChange(before, change, now));
  requireDone(verdict);
  return account ?? rejectUnknown(kind);
}

/**
 * Returns the account with an id, if it is of the kind.
 * @throws GatewayError `not_found`.
 */
export async function findAccount(accounts: AccountStore, kind: Kind, id: string): Promise<AccountRecord> {
  const account = await accounts.findAccount(id);
  return account?.kind === kind ? account : rejectUnknown(kind);
}

/**
 * Checks that a field is the id of an open user. The operator account is not a user.
 * @throws GatewayError `invalid_request`.
 */
export async function requireUser({ accounts }: AccountStores, id: string, field: string): Promise<void> {
  const account = await accounts.findAccount(id);
  if (account?.kind === "user" && account.closedAt === null && id !== DEFAULT_ACCOUNT_ID) return;
  fail("invalid_request", `${field} must be the id of an open user.`, { metadata: { field } });
}

function rejectUnknown(kind: Kind): never {
  return fail("not_found", `There is no ${kind} with that id.`);
}

/** Returns the names in a changed policy that need checking. Names that were in it before are not checked again. */
export function listPolicyNames(
  { policy }: Pick<AccountChange, "policy">,
  before: Policy,
): readonly NameList[] {
  if (policy === undefined) return [];
  const list = (field: string, kind: NameList["kind"], of: ListField): NameList => ({
    field: `policy.${field}`,
    kind,
    names: policy[of],
    kept: before[of],
    ...(of === "allowedModels" ? { use: "allow" } : {}),
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
  const { policy = {}, rateLimit, memberKeys, isClosed, ...settings } = change;
  return {
    ...mergeChange(before, settings),
    policy: mergeChange(before.policy, policy),
    rateLimit: changeRateLimit(before.rateLimit, rateLimit),
    memberKeys:
      memberKeys === undefined
        ? before.memberKeys
        : mergeChange(before.memberKeys ?? NO_MEMBER_KEYS, memberKeys),
    closedAt: isClosed === undefined ? before.closedAt : isClosed ? (before.closedAt ?? now) : null,
  };
}
