import { fail } from "../../base/errors.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord, ROLES, type Role } from "../../core/accounts/records.ts";
import type { RequestContext } from "../context/context.ts";
import { requireKey } from "../middleware/identify-principal.ts";

/**
 * Who may call an endpoint. `operator`: keys of kind management that belong to nobody's account. `account`: those, and
 * management keys of the account that the endpoint is about, whose user has one of `roles` there.
 * `self`: inference keys, about themselves. `signed`: a payment system that signs what it sends; it has no key.
 */
export type Access =
  | { readonly kind: "operator" }
  | { readonly kind: "account"; readonly roles: readonly Role[] }
  | { readonly kind: "self" }
  | { readonly kind: "signed" };

/** The operator alone. */
export const OPERATOR: Access = { kind: "operator" };
/** Whoever may see an account: its balance, its members, its keys. */
export const SEEING: Access = { kind: "account", roles: ["owner", "admin", "billing"] };
/** Whoever may change an account. */
export const MANAGING: Access = { kind: "account", roles: ["owner", "admin"] };

/** Whoever calls the management or self-service API. */
export interface ApiPrincipal {
  readonly key: KeyRecord;
  /** May do everything. */
  readonly isOperator: boolean;
  /** The one account that they may manage; null for the operator, who may manage all. */
  readonly accountId: string | null;
  /** Their place in that account. The operator, a user in their own account and a service key act as `owner`. */
  readonly role: Role;
}

/**
 * Finds out who calls and whether they may.
 * @throws GatewayError `authentication`, `permission_denied`.
 */
export async function identifyApiPrincipal(
  request: Request,
  context: RequestContext,
  access: Exclude<Access, { kind: "signed" }>,
): Promise<ApiPrincipal> {
  if (access.kind === "self") {
    const key = await requireKey(request, context, "inference");
    return { key, isOperator: false, accountId: key.accountId, role: "member" };
  }
  const key = await requireKey(request, context, "management");
  if (key.accountId === DEFAULT_ACCOUNT_ID) return { key, isOperator: true, accountId: null, role: "owner" };
  if (access.kind === "operator") return refuse();
  const role = await findRole(key, context);
  if (role === null || !access.roles.includes(role)) return refuse();
  return { key, isOperator: false, accountId: key.accountId, role };
}

/**
 * A user owns their own account; in an organization their membership decides, and a service key is its owner's. Null for
 * who is no member any more, and where the account or the user's own is closed.
 */
async function findRole(key: KeyRecord, { deps }: RequestContext): Promise<Role | null> {
  const ids = new Set([key.accountId, key.userId ?? key.accountId]);
  for (const id of ids) {
    const account = await deps.accountCache.account(id);
    if (account === null || account.closedAt !== null) return null;
  }
  if (key.userId === null || key.userId === key.accountId) return "owner";
  return (await deps.accountCache.member(key.accountId, key.userId))?.role ?? null;
}

function refuse(): never {
  return fail(
    "permission_denied",
    "This management key may not do that. Use one of an owner, or the operator's.",
  );
}

/**
 * The account that an endpoint is about, for who may manage it; others are told that there is none.
 * @throws GatewayError `not_found`.
 */
export function requireOwnAccount(principal: ApiPrincipal, accountId: string): string {
  if (principal.isOperator || principal.accountId === accountId) return accountId;
  return fail("not_found", "There is no account with that id.");
}

/**
 * Refuses a field that only the operator may set.
 * @throws GatewayError `permission_denied`.
 */
export function requireOperatorFor(field: string, value: unknown, principal: ApiPrincipal): void {
  if (value === undefined || principal.isOperator) return;
  fail("permission_denied", `Only the operator may set ${field}. Leave it out.`, { metadata: { field } });
}

/**
 * Refuses to give or touch a place above the caller's own: nobody makes themselves more than they are.
 * @throws GatewayError `permission_denied`.
 */
export function requireRank(principal: ApiPrincipal, role: Role): void {
  if (ROLES.indexOf(principal.role) <= ROLES.indexOf(role)) return;
  fail(
    "permission_denied",
    `Only a key of an organization's ${role}, or the operator's, may do that; the key sent is of its ${principal.role}.`,
  );
}
