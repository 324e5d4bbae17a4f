import type { Role } from "../accounts/records/rights.ts";
import { findGrantedTeams, isRuled, listRuledOrganizations } from "./apply-grant.ts";
import type { IdentitySignIn } from "./identity-sign-in.ts";
import { type OidcClaims, OidcError } from "./oidc-provider.ts";
import { applyOidcRules, type OidcGrant } from "./oidc-rules.ts";
import {
  rejectUnknown,
  rejectUnlinked,
  rejectWithoutOrganization,
  requireReadableSubject,
} from "./sign-in-identity.ts";

/** An organization of a person after a sign-in. */
interface PreviewedOrganization {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly teams: readonly { readonly id: string; readonly name: string; readonly isLead: boolean }[];
  /** The teams in rules that the organization does not have. */
  readonly unknownTeams: readonly string[];
}

/** The rights that a person would get from a sign-in. */
export interface SignInPreview {
  readonly isOperator: boolean;
  /** The user that the person is linked to; null if one would be created, or the person would be the operator. */
  readonly userId: string | null;
  /** The organizations of the person after the sign-in. The session would be for the first one. */
  readonly organizations: readonly PreviewedOrganization[];
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
  const isConcerned = memberships.some(({ organizationId }) => ruled.has(organizationId));
  if (isUnknown && (isConcerned || memberships.length === 0)) return rejectUnknown(grant.unknown);
  if (identity === null && (!createsUsers || grant.roles.size === 0)) return rejectUnlinked(claims.sub);
  const kept = memberships.filter((one) => !ruled.has(one.organizationId) || !isRuled(one));
  const roles = new Map([
    ...(isUnknown ? [] : grant.roles),
    ...kept.map(({ organizationId, role }) => [organizationId, role] as const),
  ]);
  if (roles.size === 0) return rejectWithoutOrganization(identity?.userId ?? claims.sub);
  const userId = identity?.userId ?? null;
  const organizations: PreviewedOrganization[] = [];
  for (const [id, role] of roles) {
    const name = await findName(parts, id);
    const isApplied = !isUnknown && ruled.has(id);
    const teams = await previewTeams(parts, { organizationId: id, userId, grant: isApplied ? grant : null });
    organizations.push({ id, name, role, ...teams });
  }
  return { isOperator: false, userId, organizations };
}

/** @throws OidcError for an id of no organization. */
async function findName({ stores }: PreviewParts, id: string): Promise<string> {
  const account = await stores.accounts.findAccount(id);
  if (account?.kind === "organization") return account.name;
  throw new OidcError(
    `A rule gives you a role in ${id}, which is no organization of this gateway. Correct the rule.`,
    `no organization ${id}`,
  );
}

/** Returns the teams of a person in an organization after a sign-in. Without a grant, they stay as they are. */
async function previewTeams(
  { stores }: PreviewParts,
  {
    organizationId,
    userId,
    grant,
  }: {
    readonly organizationId: string;
    readonly userId: string | null;
    readonly grant: OidcGrant | null;
  },
): Promise<Pick<PreviewedOrganization, "teams" | "unknownTeams">> {
  const all = await stores.teams.listTeams(organizationId);
  const before = userId === null ? [] : await stores.teams.listTeamsOfUser(userId, organizationId);
  const { granted, unknown } =
    grant === null ? { granted: [], unknown: [] } : findGrantedTeams(grant, organizationId, all);
  const kept = before.filter((one) => grant === null || !isRuled(one));
  const leads = new Map([
    ...granted.map(({ team, isLead }) => [team.id, isLead] as const),
    ...kept.map(({ teamId, isLead }) => [teamId, isLead] as const),
  ]);
  const teams = all.flatMap(({ id, name }) => {
    const isLead = leads.get(id);
    return isLead === undefined ? [] : [{ id, name, isLead }];
  });
  return { teams, unknownTeams: unknown };
}
