import type { Role } from "../accounts/records/records.ts";
import { type OidcClaims, OidcError } from "./oidc-provider.ts";
import { applyOidcRules } from "./oidc-rules.ts";
import {
  type IdentitySignIn,
  listRuledOrganizations,
  rejectUnknown,
  rejectUnlinked,
  rejectWithoutOrganization,
  requireReadableSubject,
} from "./sign-in-identity.ts";

/** The rights that a person would get from a sign-in. */
export interface SignInPreview {
  readonly isOperator: boolean;
  /** The user that the person is linked to; null if one would be created, or the person would be the operator. */
  readonly userId: string | null;
  /** The organizations of the person after the sign-in. The session would be for the first one. */
  readonly organizations: readonly {
    readonly id: string;
    readonly name: string;
    readonly role: Role;
  }[];
}

type PreviewParts = Pick<IdentitySignIn, "identities" | "stores" | "rules" | "createsUsers">;

/**
 * Returns the rights that a person would get from a sign-in, which `findIdentityKey` makes. Changes nothing.
 * @throws OidcError if the person would not be signed in, or if a rule that applies names no organization of this gateway.
 */
export async function previewSignIn(parts: PreviewParts, claims: OidcClaims): Promise<SignInPreview> {
  const { identities, stores, rules, createsUsers } = parts;
  requireReadableSubject(claims.sub);
  const grant = applyOidcRules(rules, claims);
  if (grant.isOperator) return { isOperator: true, userId: null, organizations: [] };
  const identity = await identities.findIdentity(claims.iss, claims.sub);
  const memberships = identity === null ? [] : await stores.accounts.listMemberships(identity.userId);
  const ruled = listRuledOrganizations(rules);
  const isUnknown = grant.unknown.size > 0;
  const isRuled = memberships.some(({ organizationId }) => ruled.has(organizationId));
  if (isUnknown && (isRuled || memberships.length === 0)) return rejectUnknown(grant.unknown);
  if (identity === null && (!createsUsers || grant.roles.size === 0)) return rejectUnlinked(claims.sub);
  const kept = memberships.filter(({ organizationId }) => !ruled.has(organizationId));
  const roles = new Map([
    ...(isUnknown ? [] : grant.roles),
    ...kept.map(({ organizationId, role }) => [organizationId, role] as const),
  ]);
  if (roles.size === 0) return rejectWithoutOrganization(identity?.userId ?? claims.sub);
  return {
    isOperator: false,
    userId: identity?.userId ?? null,
    organizations: await nameOrganizations(parts, roles),
  };
}

async function nameOrganizations(
  { stores }: PreviewParts,
  roles: ReadonlyMap<string, Role>,
): Promise<SignInPreview["organizations"]> {
  const named: SignInPreview["organizations"][number][] = [];
  for (const [id, role] of roles) {
    const account = await stores.accounts.findAccount(id);
    if (account?.kind !== "organization")
      throw new OidcError(
        `A rule gives you a role in ${id}, which is no organization of this gateway. Correct the rule.`,
        `no organization ${id}`,
      );
    named.push({ id, name: account.name, role });
  }
  return named;
}
