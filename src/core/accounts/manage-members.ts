import { fail } from "../../base/errors.ts";
import { toDollars } from "../../base/money.ts";
import { type AccountStores, findAccount, requireUser } from "./manage-accounts.ts";
import type { MemberRecord } from "./records.ts";

/**
 * Makes a user a member of an organization, or gives a member another place in it.
 * @throws GatewayError `not_found` for an unknown organization; `invalid_request` for one that is no user; `conflict` where
 * the organization would be left without an owner.
 */
export async function putMember(
  stores: AccountStores,
  wanted: Omit<MemberRecord, "createdAt">,
): Promise<MemberRecord> {
  const { accounts, clock } = stores;
  await findAccount(accounts, "organization", wanted.organizationId);
  await requireUser(stores, wanted.userId, "user_id");
  const member = { ...wanted, createdAt: clock.now() };
  if ((await accounts.putMember(member)) === "last_owner") refuseLastOwner();
  return (await accounts.findMember(wanted.organizationId, wanted.userId)) ?? member;
}

/**
 * Takes a user out of an organization; their keys of it are refused from now on.
 * @throws GatewayError `not_found`; `conflict` for the last owner.
 */
export async function removeMember(
  { accounts }: AccountStores,
  organizationId: string,
  userId: string,
): Promise<void> {
  const verdict = await accounts.removeMember(organizationId, userId);
  if (verdict === "last_owner") refuseLastOwner();
  if (verdict === "unknown") fail("not_found", "This organization has no such member.");
}

function refuseLastOwner(): never {
  return fail("conflict", "This is the organization's last owner. Make another member its owner first.");
}

/** A member as the management API and the command show them. */
export function presentMember(member: MemberRecord): Record<string, unknown> {
  return {
    organization_id: member.organizationId,
    user_id: member.userId,
    role: member.role,
    daily_limit: member.dailyLimit === null ? null : toDollars(member.dailyLimit),
    created_at: new Date(member.createdAt).toISOString(),
  };
}
