import { fail } from "../../../base/failures/errors.ts";
import type { MemberRecord, MemberSource } from "../records/records.ts";
import type { MemberRemoval } from "../stores/account-store.ts";
import { type AccountStores, findAccount, requireUser } from "./manage-accounts.ts";

/** A membership as its source wants it. */
interface WantedMember extends Omit<MemberRecord, "createdAt"> {
  readonly source: MemberSource;
}

/**
 * Makes a user a member of an organization, or replaces a member's role and limit. A membership keeps its source as long as its role stays.
 * @throws GatewayError `not_found` for an unknown organization; `invalid_request` if `userId` is not an open user; `conflict` if
 * the organization would lose its last owner, or if rules of OpenID Connect have given another role.
 */
export async function putMember(stores: AccountStores, wanted: WantedMember): Promise<MemberRecord> {
  const { accounts, clock } = stores;
  const { organizationId, userId, role } = wanted;
  await findAccount(accounts, "organization", organizationId);
  await requireUser(stores, userId, "user_id");
  const found = await accounts.findMember(organizationId, userId);
  const isSame = found?.role === role;
  if (!isSame && found?.source === "oidc" && wanted.source !== "oidc") rejectRuledRole();
  const source = isSame ? (found.source ?? (wanted.source === "oidc" ? "oidc" : null)) : wanted.source;
  const member = { ...wanted, source, createdAt: clock.now() };
  if ((await accounts.putMember(member)) === "last_owner") rejectLastOwner();
  return (await accounts.findMember(organizationId, userId)) ?? member;
}

/** Whose membership ends, and who ends it. */
interface EndedMember {
  readonly organizationId: string;
  readonly userId: string;
  readonly by: MemberSource;
  /** Whether it ends although another source has made it. */
  readonly isForced?: boolean;
}

/**
 * Removes a user from an organization, and revokes their keys of the organization. Returns these keys.
 * @throws GatewayError `not_found`; `conflict` for the last owner, and if rules of OpenID Connect have made the membership.
 */
export async function removeMember(
  { accounts, clock }: AccountStores,
  { organizationId, userId, by, isForced = false }: EndedMember,
): Promise<MemberRemoval["revoked"]> {
  const found = await accounts.findMember(organizationId, userId);
  if (found?.source === "oidc" && by !== "oidc" && !isForced) rejectRuledEnd();
  const { verdict, revoked } = await accounts.removeMember({ organizationId, userId, at: clock.now() });
  if (verdict === "last_owner") rejectLastOwner();
  if (verdict === "unknown") fail("not_found", "This organization has no member with that id.");
  return revoked;
}

const RULED =
  "Rules of OpenID Connect (console.oidc.rules) have given this membership. Change the person's groups at the provider, or the rule.";

function rejectRuledRole(): never {
  return fail(
    "conflict",
    `${RULED} To give a role by hand, which rules leave alone, first end the membership with DELETE and force=true.`,
    { metadata: { field: "role", source: "oidc" } },
  );
}

/** @throws GatewayError `conflict` for the end of a membership that rules have given. */
export function rejectRuledEnd(): never {
  return fail(
    "conflict",
    `${RULED} To end it nevertheless, until the person signs in again, add force=true.`,
    { metadata: { source: "oidc" } },
  );
}

function rejectLastOwner(): never {
  return fail("conflict", "This is the last owner of the organization. First make another member an owner.");
}
