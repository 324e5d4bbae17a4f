import { fail } from "../../base/errors.ts";
import type { AccountRing } from "./account-ring.ts";
import type { AccountRecord, Caller, KeyRecord, MemberRecord } from "./records.ts";

type KeyCaller = Extract<Caller, { kind: "key" }>;

/**
 * Who pays for a key's request (docs/contract.md, "Keys, money, limits"): the organization that it names, where its user
 * is a member; else the account that the key belongs to. A promise only where memory does not know.
 * @throws GatewayError `permission_denied` for an organization the user is no member of, or an account that is closed.
 */
export function findPayer(
  ring: AccountRing,
  key: KeyRecord,
  organizationId: string | null,
): KeyCaller | Promise<KeyCaller> {
  const accountId = organizationId ?? key.accountId;
  const account = ring.account(accountId);
  const member = key.userId === null || key.userId === accountId ? null : ring.member(accountId, key.userId);
  if (account instanceof Promise || member instanceof Promise) {
    return Promise.all([account, member]).then(([a, m]) => checkPayer(key, a, m, accountId));
  }
  return checkPayer(key, account, member, accountId);
}

function checkPayer(
  key: KeyRecord,
  account: AccountRecord | null,
  member: MemberRecord | null,
  accountId: string,
): KeyCaller {
  const isOwn = key.accountId === accountId && (key.userId === null || key.userId === accountId);
  if (account === null || !(isOwn || member !== null)) {
    return fail("permission_denied", "The key's user is not a member of this organization.", {
      metadata: { organization: accountId },
    });
  }
  if (account.closedAt !== null) fail("permission_denied", "The account that this key belongs to is closed.");
  return { kind: "key", key, account, member };
}
