import { fail } from "../../base/failures/errors.ts";
import type { ManagementPrincipal } from "../../core/accounts/records/principal.ts";
import { ROLES, type Role } from "../../core/accounts/records/records.ts";
import { type Access, roleOf } from "../middleware/authorize.ts";

/** The operator only. */
export const OPERATOR = { kind: "operator" } as const satisfies Access;
/** Principals that may read an account: its balance, members and keys. */
export const ACCOUNT_READERS = {
  kind: "account",
  roles: ["owner", "admin", "billing"],
} as const satisfies Access;
/** All members of an account. Members with the role `member` read only their own records: the handler calls `ownUserOf` or `listedUserOf`. */
export const ACCOUNT_MEMBERS = { kind: "account", roles: ROLES } as const satisfies Access;
/** Principals that may change an account. */
export const ACCOUNT_MANAGERS = { kind: "account", roles: ["owner", "admin"] } as const satisfies Access;

/** Returns the one account that a principal may manage; null for the operator, who may manage all. */
export function managedAccountOf(principal: ManagementPrincipal): string | null {
  return principal.kind === "operator" ? null : principal.account.id;
}

/**
 * Returns `accountId` if the principal may manage that account. The error does not reveal whether the account exists.
 * @throws GatewayError `not_found`.
 */
export function requireOwnAccount(principal: ManagementPrincipal, accountId: string): string {
  if (principal.kind === "operator" || principal.account.id === accountId) return accountId;
  return fail("not_found", "There is no account with that id.");
}

/**
 * Returns the account whose records a list shows: the requested one, otherwise the principal's own; null for all accounts.
 * @throws GatewayError `not_found` for an account that the principal may not manage.
 */
export function listedAccountOf(principal: ManagementPrincipal, asked: string | undefined): string | null {
  return asked === undefined ? managedAccountOf(principal) : requireOwnAccount(principal, asked);
}

/** Returns the user whose records alone a principal may read, if its role is `member`; null if it may read all of its account. */
function ownUserOf(principal: ManagementPrincipal): string | null {
  return roleOf(principal) === "member" && principal.kind === "key" ? principal.key.userId : null;
}

/**
 * Returns the user whose records a list shows: the requested one, otherwise the only one whose records the principal may read; null for all
 * users.
 * @throws GatewayError `not_found` for a user whose records the principal may not read.
 */
export function listedUserOf(principal: ManagementPrincipal, asked: string | undefined): string | null {
  const own = ownUserOf(principal);
  if (own === null || asked === undefined || asked === own) return own ?? asked ?? null;
  return fail("not_found", "With the role member, you can list only your own resources. Omit user_id.", {
    metadata: { field: "user_id" },
  });
}

/** Returns whether a principal may read a record of an account's user. Null means anonymous use, or a service key. */
export function mayRead(
  principal: ManagementPrincipal,
  { accountId, userId }: { readonly accountId: string | null; readonly userId: string | null },
): boolean {
  const own = ownUserOf(principal);
  if (principal.kind === "operator") return true;
  return accountId === principal.account.id && (own === null || userId === own);
}

/**
 * Rejects a field that only the operator may set.
 * @throws GatewayError `permission_denied`.
 */
export function requireOperatorFor(field: string, value: unknown, principal: ManagementPrincipal): void {
  if (value === undefined || principal.kind === "operator") return;
  fail("permission_denied", `Only the operator may set ${field}. Omit it.`, { metadata: { field } });
}

/**
 * Rejects a principal whose role is below `role`. Prevents privilege escalation.
 * @throws GatewayError `permission_denied`.
 */
export function requireRank(principal: ManagementPrincipal, role: Role): void {
  const own = roleOf(principal);
  if (ROLES.indexOf(own) <= ROLES.indexOf(role)) return;
  fail(
    "permission_denied",
    `This requires the operator's management key, or a key of the organization with the role ${role}. Your key has the role ${own}.`,
  );
}
