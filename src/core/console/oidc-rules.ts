import { ROLES, type Role } from "../accounts/records/rights.ts";
import { findClaim, findUnknown, type Unknown } from "./find-claim.ts";

/** The rights of people with a claim: everything as the operator, or a role in an organization. */
export type OidcRule = {
  /** The name of a claim of the ID token, such as `groups`, or the path of one, such as `realm_access.roles`. */
  readonly claim: string;
  /** The claim is this text, or a list that contains it. */
  readonly value: string;
} & (
  | { readonly operator: true }
  | {
      readonly operator?: undefined;
      readonly organization: string;
      readonly role: Role;
      /** Teams of the organization, by id or name. */
      readonly teams?: readonly string[] | undefined;
      /** Whether the person leads these teams. */
      readonly lead?: boolean | undefined;
    }
);

/** The rights that the rules grant to one person. */
export interface OidcGrant {
  readonly isOperator: boolean;
  /** The highest role in each organization, in the order of the rules. */
  readonly roles: ReadonlyMap<string, Role>;
  /** The teams in each organization as the rules name them, and whether the person leads them. */
  readonly teams: ReadonlyMap<string, ReadonlyMap<string, boolean>>;
  /** The claims that rules need and the provider did not send, with the reasons. It is not known what they would grant. */
  readonly unknown: ReadonlyMap<string, Unknown>;
}

/** Returns what rules grant to a person with these claims. */
export function applyOidcRules(
  rules: readonly OidcRule[],
  claims: Readonly<Record<string, unknown>>,
): OidcGrant {
  const matching = rules.filter(({ claim, value }) => hasValue(findClaim(claims, claim), value));
  const roles = new Map<string, Role>();
  const teams = new Map<string, Map<string, boolean>>();
  for (const rule of matching) {
    if (rule.operator) continue;
    const known = roles.get(rule.organization);
    if (known === undefined || ROLES.indexOf(rule.role) < ROLES.indexOf(known))
      roles.set(rule.organization, rule.role);
    const named = teams.get(rule.organization) ?? new Map<string, boolean>();
    for (const team of rule.teams ?? []) named.set(team, rule.lead === true || named.get(team) === true);
    teams.set(rule.organization, named);
  }
  const unknown = new Map<string, Unknown>();
  for (const { claim } of rules) {
    const reason = findUnknown(claims, claim);
    if (reason !== null) unknown.set(claim, reason);
  }
  return { isOperator: matching.some(({ operator }) => operator === true), roles, teams, unknown };
}

function hasValue(claim: unknown, value: string): boolean {
  return claim === value || (Array.isArray(claim) && claim.includes(value));
}
