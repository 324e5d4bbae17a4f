import { fail } from "../../base/failures/errors.ts";
import { resolveAccount } from "../../core/accounts/memory/resolve-account.ts";
import type {
  AccountPrincipal,
  AnonymousPrincipal,
  ApiKeyPrincipal,
  InferencePrincipal,
  ManagementPrincipal,
  OperatorPrincipal,
  SignedWebhookPrincipal,
} from "../../core/accounts/records/principal.ts";
import type { KeyRecord } from "../../core/accounts/records/records.ts";
import { type Right, type Role, roleHas, rolesWith } from "../../core/accounts/records/rights.ts";
import type { RequestContext } from "../context/context.ts";
import type { IdentifiedPrincipal } from "./identify.ts";

/** Who may call an endpoint. */
export type Access =
  /** Everyone. A valid inference key may restrict the response; any other key counts as no key. */
  | { readonly kind: "optional_key" }
  /** Inference keys, including those whose account is closed. */
  | { readonly kind: "inference_key" }
  /** Inference keys; without a key, for free models only. */
  | { readonly kind: "open_inference" }
  /** Inference keys. */
  | { readonly kind: "inference" }
  /** The operator, and management keys of the endpoint's account whose user has a right in it. */
  | { readonly kind: "account"; readonly right: Right }
  /** The operator. */
  | { readonly kind: "operator" }
  /** A console session, with any role. An API key is not enough. */
  | { readonly kind: "console_session" }
  /** A browser that signs in, without credentials. */
  | { readonly kind: "sign_in" }
  /** A payment system that signs its requests. */
  | { readonly kind: "signed" };

/** The principal that an endpoint's handler is called with. */
export type PrincipalFor<A extends Access> = {
  optional_key: InferencePrincipal;
  inference_key: ApiKeyPrincipal;
  open_inference: InferencePrincipal;
  inference: AccountPrincipal;
  account: ManagementPrincipal;
  operator: OperatorPrincipal;
  console_session: ManagementPrincipal;
  sign_in: AnonymousPrincipal;
  signed: SignedWebhookPrincipal;
}[A["kind"]];

/**
 * Checks that a principal may call models, and resolves the account that pays.
 * Rejects with a GatewayError `authentication` for an anonymous principal where a key is needed; `permission_denied` for a
 * management key, and for an account that is closed or not the key's.
 */
export async function authorizeInference(
  identified: IdentifiedPrincipal,
  access: { readonly kind: "open_inference" | "inference" },
  context: RequestContext,
): Promise<InferencePrincipal> {
  if (identified.kind === "anonymous")
    return access.kind === "open_inference" ? identified : rejectMissingKey("inference");
  const { key } = requireInferenceKey(identified);
  return resolveAccount(
    context.deps.callers.accountCache,
    key,
    context.headers.get("x-gateway-organization"),
  );
}

/**
 * Checks that a principal is an inference key.
 * @throws GatewayError `authentication` if there is no key, `permission_denied` for a management key.
 */
export function requireInferenceKey(principal: IdentifiedPrincipal): ApiKeyPrincipal {
  if (principal.kind === "anonymous") return rejectMissingKey("inference");
  if (principal.kind === "key" && principal.key.kind === "inference") return principal;
  return fail(
    "permission_denied",
    "This endpoint needs an inference key, but the key sent is a management key. Create an inference key and send that.",
  );
}

/**
 * Checks that a principal may manage: it is the operator, or a management key with the right of `access` in its account. The handler
 * checks which account an endpoint is about (`requireOwnAccount`).
 * @throws GatewayError `authentication`, `permission_denied`.
 */
export async function authorizeManagement(
  identified: IdentifiedPrincipal,
  access: Extract<Access, { kind: "account" | "operator" }>,
  { deps }: RequestContext,
): Promise<ManagementPrincipal> {
  if (identified.kind === "anonymous") return rejectMissingKey("management");
  if (identified.kind === "operator") return identified;
  if (identified.key.kind !== "management") {
    fail(
      "permission_denied",
      "This endpoint needs a management key, but the key sent is an inference key. Create a management key and send that.",
    );
  }
  if (access.kind === "operator")
    return fail("permission_denied", "This endpoint needs a management key of the operator.");
  const principal = await resolveAccount(deps.callers.accountCache, identified.key, null);
  requireRight(principal, access.right);
  return principal;
}

/** Returns the role of a principal in the account that it manages. The operator, users in their own account and service keys act as owners. */
export function roleOf(principal: ManagementPrincipal): Role {
  return principal.kind === "operator" ? "owner" : (principal.member?.role ?? "owner");
}

/** Returns whether a principal has a right in the account that it manages. */
export function hasRight(principal: ManagementPrincipal, right: Right): boolean {
  return principal.kind === "operator" || roleHas(roleOf(principal), right);
}

/** @throws GatewayError `permission_denied` for a principal without a right. */
export function requireRight(principal: ManagementPrincipal, right: Right): void {
  if (hasRight(principal, right)) return;
  fail(
    "permission_denied",
    `This needs the operator's management key, or one of the account with the role ${rolesWith(right).join(" or ")}. Your key has the role ${roleOf(principal)}.`,
  );
}

function rejectMissingKey(kind: KeyRecord["kind"]): never {
  const key = kind === "inference" ? "an API key" : "a management key";
  return fail("authentication", `This endpoint needs ${key}. Send it as "Authorization: Bearer gw_…".`);
}
