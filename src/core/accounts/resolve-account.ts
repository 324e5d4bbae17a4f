import { fail } from "../../base/errors.ts";
import type { AccountCache } from "./account-cache.ts";
import type { AccountPrincipal } from "./principal.ts";
import type { KeyRecord } from "./records.ts";

/**
 * Returns a key with the account that it acts for (docs/api/accounts.md, "Accounts"): the organization with the id
 * `organizationId`: the key's user must be a member of it. For null, the account that the key belongs to.
 * @throws GatewayError `permission_denied` if the user is not a member of the organization, or if the account or the user's
 * own account is closed.
 */
export async function resolveAccount(
  cache: AccountCache,
  key: KeyRecord,
  organizationId: string | null,
): Promise<AccountPrincipal> {
  const { userId } = key;
  const accountId = organizationId ?? key.accountId;
  const isOtherUser = userId !== null && userId !== accountId;
  const account = await cache.account(accountId);
  const member = isOtherUser ? await cache.member(accountId, userId) : null;
  const isOwn = key.accountId === accountId && !isOtherUser;
  if (account === null || !(isOwn || member !== null)) {
    return fail("permission_denied", "The key's user is not a member of this organization.", {
      metadata: { organization: accountId },
    });
  }
  const user = isOtherUser ? await cache.account(userId) : null;
  if (account.closedAt !== null || (user !== null && user.closedAt !== null))
    fail("permission_denied", "The account that this key belongs to is closed.");
  return { kind: "key", key, account, member };
}
