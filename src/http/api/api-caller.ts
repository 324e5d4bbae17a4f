import { fail } from "../../base/errors.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord, type Role } from "../../core/accounts/records.ts";
import type { RequestContext } from "../context.ts";
import { requireKey } from "../middleware/identify-caller.ts";

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

/** Whoever calls the management or self-service API. */
export interface ApiCaller {
  readonly key: KeyRecord;
  /** May do everything. */
  readonly isOperator: boolean;
  /** The one account that they may manage; null for the operator, who may manage all. */
  readonly accountId: string | null;
}

/**
 * Finds out who calls and whether they may.
 * @throws GatewayError `authentication`, `permission_denied`.
 */
export async function identifyApiCaller(
  request: Request,
  context: RequestContext,
  access: Exclude<Access, { kind: "signed" }>,
): Promise<ApiCaller> {
  if (access.kind === "self") {
    const key = await requireKey(request, context, "inference");
    return { key, isOperator: false, accountId: key.accountId };
  }
  const key = await requireKey(request, context, "management");
  if (key.accountId === DEFAULT_ACCOUNT_ID) return { key, isOperator: true, accountId: null };
  if (access.kind === "operator") return refuse();
  await requireRole(key, access.roles, context);
  return { key, isOperator: false, accountId: key.accountId };
}

/** A user manages their own account; in an organization their role decides, and a service key is its owner's. */
async function requireRole(key: KeyRecord, roles: readonly Role[], { deps }: RequestContext): Promise<void> {
  if (key.userId === null || key.userId === key.accountId) return;
  const member = await deps.accountRing.member(key.accountId, key.userId);
  if (member === null || !roles.includes(member.role)) refuse();
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
export function requireOwnAccount(caller: ApiCaller, accountId: string): string {
  if (caller.isOperator || caller.accountId === accountId) return accountId;
  return fail("not_found", "There is no account with that id.");
}
