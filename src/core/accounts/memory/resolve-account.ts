import { fail } from "../../../base/failures/errors.ts";
import type { AccountPrincipal } from "../records/principal.ts";
import type { ActingMember, KeyRecord, SpendingAccount } from "../records/records.ts";
import type { AccountCache } from "./account-cache.ts";

/**
 * Returns a key with the account that it acts for (docs/api/accounts.md, "Accounts"): the organization with the id
 * `organizationId`: the key's user must be a member of it. For null, the account that the key belongs to.
 * Rejects with a GatewayError `permission_denied` if the user is not a member of the organization, or if the account or the user's
 * own account is closed.
 */
export function resolveAccount(
  cache: AccountCache,
  key: KeyRecord,
  organizationId: string | null,
): Promise<AccountPrincipal> {
  const { userId } = key;
  const accountId = organizationId ?? key.accountId;
  if (userId !== null && userId !== accountId) return resolveMember(cache, key, { accountId, userId });
  return resolveOwner(cache, key, accountId);
}

/** Resolves a key in the account that it belongs to. */
async function resolveOwner(
  cache: AccountCache,
  key: KeyRecord,
  accountId: string,
): Promise<AccountPrincipal> {
  const account = await cache.account(accountId);
  if (account === null || key.accountId !== accountId) return rejectStranger(accountId);
  return openPrincipal(cache, key, account, null);
}

/** Resolves a user's key in the account of an organization. */
async function resolveMember(
  cache: AccountCache,
  key: KeyRecord,
  { accountId, userId }: { readonly accountId: string; readonly userId: string },
): Promise<AccountPrincipal> {
  const account = await cache.account(accountId);
  const member = await cache.member(accountId, userId);
  if (account === null || member === null) return rejectStranger(accountId);
  const user = await cache.account(userId);
  if (user !== null && user.closedAt !== null) rejectClosed();
  return openPrincipal(cache, key, account, member);
}

/** @throws GatewayError `permission_denied` if the account is closed, or if the team of the key is not one of the account and the user. */
function openPrincipal(
  cache: AccountCache,
  key: KeyRecord,
  account: SpendingAccount,
  member: ActingMember | null,
): AccountPrincipal {
  if (account.closedAt !== null) rejectClosed();
  if (key.teamId !== null) requireTeam(key, account, member);
  return cache.principalOf(account, key, member);
}

function rejectStranger(organization: string): never {
  return fail("permission_denied", "The key's user is not a member of this organization.", {
    metadata: { organization },
  });
}

/**
 * Checks the team of a key. The end of a team or of a membership in it revokes its keys. This also rejects a key that was made at the same
 * time, and was stored just after the others were revoked.
 */
function requireTeam(
  { accountId, teamId }: KeyRecord,
  account: SpendingAccount,
  member: ActingMember | null,
) {
  if (accountId !== account.id)
    fail(
      "permission_denied",
      "This key belongs to a team of another organization, which pays for it. Omit X-Gateway-Organization, or use a key without a team.",
      { metadata: { organization: account.id } },
    );
  if (account.teams?.has(teamId ?? "") !== true)
    fail("permission_denied", "The team that this key belongs to was deleted. Use another key.");
  if (member !== null && member.teams?.some((team) => team.teamId === teamId) !== true)
    fail("permission_denied", "The key's user has left the team that this key belongs to. Use another key.");
}

function rejectClosed(): never {
  return fail("permission_denied", "The account that this key belongs to is closed.");
}
