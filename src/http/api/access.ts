import { fail } from "../../base/failures/errors.ts";
import type { AccountPrincipal, ManagementPrincipal } from "../../core/accounts/records/principal.ts";
import type { TeamMemberRecord } from "../../core/accounts/records/records.ts";
import type { Right } from "../../core/accounts/records/rights.ts";
import { type Access, hasRight, requireRight } from "../middleware/authorize.ts";

/** The operator only. */
export const OPERATOR = { kind: "operator" } as const satisfies Access;
/** The operator, and principals with a right in the account of the endpoint. Of those with `own` alone, the handler shows only what is theirs. */
export function needs(right: Right) {
  return { kind: "account", right } as const satisfies Access;
}

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

/** Whose records a principal may read who may not read the whole account: their own, and those of the teams that they lead. */
interface ReadScope {
  readonly userId: string;
  readonly teamIds: readonly string[];
}

/** Returns whose records alone a principal may read; null if it may read all of its account. */
export function readScopeOf(principal: ManagementPrincipal): ReadScope | null {
  if (principal.kind === "operator" || hasRight(principal, "read")) return null;
  const led = teamsOf(principal).filter(({ isLead }) => isLead);
  return { userId: principal.key.userId ?? "", teamIds: led.map(({ teamId }) => teamId) };
}

/** Says in descriptions of filters by team which teams may be named. */
export const READABLE_TEAM = "Without the right to read the whole account, it must be a team that you lead.";

/** The query of a list that can be restricted to a user and a team. */
interface OwnerQuery {
  readonly user_id?: string | undefined;
  readonly team_id?: string | undefined;
}

/** The user and the team whose records a list shows; null for all. */
interface ListedOwners {
  readonly userId: string | null;
  readonly teamId: string | null;
}

/**
 * Returns whose records a list shows: what the query asks for, and by default all that the principal may read of its account. Without the
 * right to read it, that is the principal's own records, or with `team_id` those of a team that the principal leads.
 * @throws GatewayError `not_found` for a user or team whose records the principal may not read. It does not reveal whether they exist.
 */
export function listedOwnersOf(principal: ManagementPrincipal, query: OwnerQuery): ListedOwners {
  const { user_id: userId = null, team_id: teamId = null } = query;
  const scope = readScopeOf(principal);
  if (scope === null) return { userId, teamId };
  if (teamId !== null)
    return scope.teamIds.includes(teamId)
      ? { userId, teamId }
      : rejectOwner("team_id", "Of teams, you can list only those that you lead. Omit team_id.");
  if (userId === null || userId === scope.userId) return { userId: scope.userId, teamId };
  return rejectOwner("user_id", "With your role, you can list only your own resources. Omit user_id.");
}

function rejectOwner(field: string, message: string): never {
  return fail("not_found", message, { metadata: { field } });
}

/** Whose a record is. Null means anonymous use, a service key, or a key without a team. */
interface Owned {
  readonly accountId: string | null;
  readonly userId: string | null;
  readonly teamId?: string | null | undefined;
}

/** Returns whether a principal may read a record of an account: any with the right to, their own, and those of teams that they lead. */
export function mayRead(
  principal: ManagementPrincipal,
  { accountId, userId, teamId = null }: Owned,
): boolean {
  if (principal.kind === "operator") return true;
  if (accountId !== principal.account.id) return false;
  const scope = readScopeOf(principal);
  return scope === null || userId === scope.userId || (teamId !== null && scope.teamIds.includes(teamId));
}

/** Returns whether a principal is a member of a team. */
export function isInTeam(principal: ManagementPrincipal, id: string): boolean {
  return principal.kind === "key" && teamsOf(principal).some(({ teamId }) => teamId === id);
}

function teamsOf({ member }: AccountPrincipal): readonly TeamMemberRecord[] {
  return member?.teams ?? [];
}

/** Returns whether a principal leads a team. */
export function leadsTeam(principal: ManagementPrincipal, teamId: string | null): boolean {
  if (principal.kind === "operator" || teamId === null) return false;
  return teamsOf(principal).some((team) => team.teamId === teamId && team.isLead);
}

/**
 * Rejects a principal who neither may manage the people of the organization nor, where that is enough, leads the team.
 * @throws GatewayError `permission_denied`.
 */
export function requireTeamRight(
  principal: ManagementPrincipal,
  teamId: string,
  right: "lead" | "manage_people",
): void {
  if (right === "lead" && leadsTeam(principal, teamId)) return;
  requireRight(principal, "manage_people");
}

/**
 * Rejects a field that only the operator may set.
 * @throws GatewayError `permission_denied`.
 */
export function requireOperatorFor(field: string, value: unknown, principal: ManagementPrincipal): void {
  if (value === undefined || principal.kind === "operator") return;
  fail("permission_denied", `Only the operator may set ${field}. Omit it.`, { metadata: { field } });
}
