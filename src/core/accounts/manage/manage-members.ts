import { fail } from "../../../base/failures/errors.ts";
import type { MemberRecord } from "../records/records.ts";
import type { MemberRemoval } from "../stores/account-store.ts";
import { type AccountStores, findAccount, requireUser } from "./manage-accounts.ts";

/**
 * Makes a user a member of an organization, or replaces a member's role and limit.
 * @throws GatewayError `not_found` for an unknown organization; `invalid_request` if `userId` is not an open user; `conflict` if
 * the organization would lose its last owner.
 */
export async function putMember(
  stores: AccountStores,
  wanted: Omit<MemberRecord, "createdAt">,
): Promise<MemberRecord> {
  const { accounts, clock } = stores;
  await findAccount(accounts, "organization", wanted.organizationId);
  await requireUser(stores, wanted.userId, "user_id");
  const member = { ...wanted, createdAt: clock.now() };
  if ((await accounts.putMember(member)) === "last_owner") rejectLastOwner();
  return (await accounts.findMember(wanted.organizationId, wanted.userId)) ?? member;
}

/**
 * Removes a user from an organization, and revokes their keys of the organization. Returns these keys.
 * @throws GatewayError `not_found`; `conflict` for the last owner.
 */
export async function removeMember(
  { accounts, clock }: AccountStores,
  organizationId: string,
  userId: string,
): Promise<MemberRemoval["revoked"]> {
  const { verdict, revoked } = await accounts.removeMember({ organizationId, userId, at: clock.now() });
  if (verdict === "last_owner") rejectLastOwner();
  if (verdict === "unknown") fail("not_found", "This organization has no member with that id.");
  return revoked;
}

function rejectLastOwner(): never {
  return fail("conflict", "This is the last owner of the organization. First make another member an owner.");
}
