import { fail } from "../../../base/failures/errors.ts";
import type { AccountPrincipal } from "../records/principal.ts";
import type { KeyRecord, MemberRecord, SpendingAccount } from "../records/records.ts";
import type { AccountCache } from "./account-cache.ts";

/**
 * Returns a key with the account that it acts for (docs/api/accounts.md, "Accounts"). With `organizationId` that is the organization, and
 * the key's user must be a member of it. With null it is the account that the key belongs to.
 * @throws GatewayError `permission_denied` if the user is not a member of the organization, or if the account or the user's own account is
 * closed.
 */
export async function resolveAccount(
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

/** @throws GatewayError `permission_denied` if the account is closed. */
function openPrincipal(
  cache: AccountCache,
  key: KeyRecord,
  account: SpendingAccount,
  member: MemberRecord | null,
): AccountPrincipal {
  if (account.closedAt !== null) rejectClosed();
  return cache.principalOf(account, key, member);
}

function rejectStranger(organization: string): never {
  return fail("permission_denied", "The key's user is not a member of this organization.", {
    metadata: { organization },
  });
}

function rejectClosed(): never {
  return fail("permission_denied", "The account that this key belongs to is closed.");
}
