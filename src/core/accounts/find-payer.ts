import { fail } from "../../base/errors.ts";
import type { AccountCache } from "./account-cache.ts";
import type { AccountRecord, KeyRecord, MemberRecord, Principal } from "./records.ts";

type KeyCaller = Extract<Principal, { kind: "key" }>;

/**
 * Who pays for a key's request (docs/contract.md, "Keys, money, limits"): the organization that it names, where its user
 * is a member; else the account that the key belongs to. A promise only where memory does not know.
 * @throws GatewayError `permission_denied` for an organization the user is no member of, and where the account that pays or
 * the user's own is closed.
 */
export function findPayer(
  ring: AccountCache,
  key: KeyRecord,
  organizationId: string | null,
): KeyCaller | Promise<KeyCaller> {
  const accountId = organizationId ?? key.accountId;
  const account = ring.account(accountId);
  if (key.userId === null || key.userId === accountId) {
    if (!(account instanceof Promise)) return checkPayer(key, account, null, null, accountId);
    return account.then((found) => checkPayer(key, found, null, null, accountId));
  }
  const member = ring.member(accountId, key.userId);
  const user = ring.account(key.userId);
  if (account instanceof Promise || member instanceof Promise || user instanceof Promise) {
    return Promise.all([account, member, user]).then(([a, m, u]) => checkPayer(key, a, m, u, accountId));
  }
  return checkPayer(key, account, member, user, accountId);
}

/** `member` and `user` are null where the key's user and the account that pays are one, or the key is nobody's. */
function checkPayer(
  key: KeyRecord,
  account: AccountRecord | null,
  member: MemberRecord | null,
  user: AccountRecord | null,
  accountId: string,
): KeyCaller {
  const isOwn = key.accountId === accountId && (key.userId === null || key.userId === accountId);
  if (account === null || !(isOwn || member !== null)) {
    return fail("permission_denied", "The key's user is not a member of this organization.", {
      metadata: { organization: accountId },
    });
  }
  if (account.closedAt !== null || (user !== null && user.closedAt !== null))
    fail("permission_denied", "The account that this key belongs to is closed.");
  return { kind: "key", key, account, member };
}
