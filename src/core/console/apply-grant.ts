import { GatewayError } from "../../base/failures/errors.ts";
import { putMember, removeMember } from "../accounts/manage/manage-members.ts";
import { putTeamMember, removeTeamMember } from "../accounts/manage/manage-teams.ts";
import type { MemberRecord, TeamMemberRecord, TeamRecord } from "../accounts/records/records.ts";
import type { IdentitySignIn, SignInChanges } from "./identity-sign-in.ts";
import type { OidcGrant, OidcRule } from "./oidc-rules.ts";

/** What rules grant to a user, and the changes of the sign-in, to which those of memberships are added. */
interface AppliedGrant {
  readonly userId: string;
  readonly grant: OidcGrant;
  readonly changes: SignInChanges;
}

/**
 * Updates the memberships of a user in the organizations that rules name, and in their teams. Memberships that were made by hand or by an
 * invitation stay as they are, and so does the last owner of an organization.
 */
export async function applyGrant(context: IdentitySignIn, applied: AppliedGrant): Promise<void> {
  const members = new Map<string, MemberRecord>();
  for (const member of await context.stores.accounts.listMemberships(applied.userId))
    members.set(member.organizationId, member);
  for (const organizationId of listRuledOrganizations(context.rules)) {
    const member = members.get(organizationId) ?? null;
    // Rules may name many organizations. A person who is no member of one is in none of its teams either.
    if (member === null && !applied.grant.roles.has(organizationId)) continue;
    await applyRole(context, { organizationId, member }, applied);
    await applyTeams(context, organizationId, applied);
    context.accountCache.memberChanged(organizationId, applied.userId);
  }
}

/** Returns the organizations in which rules decide who is a member. */
export function listRuledOrganizations(rules: readonly OidcRule[]): ReadonlySet<string> {
  return new Set(rules.flatMap((rule) => (rule.operator ? [] : [rule.organization])));
}

/** Returns whether rules change and end a membership. They take over those that a version before sources has stored. */
export function isRuled({ source }: Pick<MemberRecord, "source">): boolean {
  return source === null || source === "oidc";
}

async function applyRole(
  { stores, keyCache }: IdentitySignIn,
  { organizationId, member }: { readonly organizationId: string; readonly member: MemberRecord | null },
  { userId, grant, changes }: AppliedGrant,
): Promise<void> {
  const role = grant.roles.get(organizationId);
  if (member === null ? role === undefined : !isRuled(member)) return;
  if (member?.role === role && member?.source === "oidc") return;
  await ignoreConflict(async () => {
    if (role === undefined)
      for (const key of await removeMember(stores, { organizationId, userId, by: "oidc" }))
        keyCache.changed(key);
    else {
      const dailyLimit = member?.dailyLimit ?? null;
      await putMember(stores, { organizationId, userId, role, dailyLimit, source: "oidc" });
    }
    if (member?.role !== role) changes.roles.set(organizationId, role ?? null);
  });
}

/** A team that rules give to a person. */
interface GrantedTeam {
  readonly team: TeamRecord;
  readonly isLead: boolean;
}

/** The teams that rules give to a person in an organization. */
interface GrantedTeams {
  readonly granted: readonly GrantedTeam[];
  /** The names in rules that no team of the organization has. */
  readonly unknown: readonly string[];
}

/** Returns the teams of an organization that a grant names by their ids or names. The case of a name does not matter. */
export function findGrantedTeams(
  grant: OidcGrant,
  organizationId: string,
  teams: readonly TeamRecord[],
): GrantedTeams {
  const granted = new Map<string, GrantedTeam>();
  const unknown: string[] = [];
  for (const [named, isLead] of grant.teams.get(organizationId) ?? []) {
    const team =
      teams.find(({ id }) => id === named) ??
      teams.find(({ name }) => name.toLowerCase() === named.toLowerCase());
    if (team === undefined) unknown.push(named);
    else granted.set(team.id, { team, isLead: isLead || granted.get(team.id)?.isLead === true });
  }
  return { granted: [...granted.values()], unknown };
}

async function applyTeams(
  context: IdentitySignIn,
  organizationId: string,
  { userId, grant, changes }: AppliedGrant,
): Promise<void> {
  const { stores, log } = context;
  const before = await stores.teams.listTeamsOfUser(userId, organizationId);
  const named = grant.teams.get(organizationId) ?? new Map();
  if (named.size === 0 && before.every((team) => !isRuled(team))) return;
  const teams = await stores.teams.listTeams(organizationId);
  const { granted, unknown } = findGrantedTeams(grant, organizationId, teams);
  for (const team of unknown)
    log.warn("a rule of console.oidc.rules names a team that the organization does not have", {
      organization_id: organizationId,
      team,
    });
  for (const one of granted) await joinTeam(context, { ...one, userId, before, changes });
  await leaveTeams(context, {
    ended: before.filter((one) => isRuled(one) && !granted.some(({ team }) => team.id === one.teamId)),
    changes,
  });
}

/** Adds a user to a team, or changes whether they lead it. A user whom the rules made no member of the organization stays out. */
async function joinTeam(
  { stores, log }: IdentitySignIn,
  {
    team,
    isLead,
    userId,
    before,
    changes,
  }: GrantedTeam & {
    readonly userId: string;
    readonly before: readonly TeamMemberRecord[];
    readonly changes: SignInChanges;
  },
): Promise<void> {
  const known = before.find(({ teamId }) => teamId === team.id);
  if (known !== undefined && (!isRuled(known) || known.isLead === isLead)) return;
  try {
    await putTeamMember(stores, { team, userId, isLead, source: "oidc" });
    changes.teams.set(team.id, isLead ? "lead" : "member");
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    log.warn("a person could not join a team that a rule of console.oidc.rules names", {
      team: team.id,
      detail: error.message,
    });
  }
}

async function leaveTeams(
  { stores, keyCache }: IdentitySignIn,
  { ended, changes }: { readonly ended: readonly TeamMemberRecord[]; readonly changes: SignInChanges },
): Promise<void> {
  for (const { teamId, userId } of ended) {
    // The member may have been removed meanwhile, with the same effect.
    await ignore("not_found", async () => {
      for (const key of await removeTeamMember(stores, { teamId, userId, by: "oidc" })) keyCache.changed(key);
      changes.teams.set(teamId, null);
    });
  }
}

/** Does without a change that the last owner of an organization, or the e-mail of another user, forbids. */
export function ignoreConflict(change: () => Promise<void>): Promise<void> {
  return ignore("conflict", change);
}

async function ignore(code: "conflict" | "not_found", change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!(error instanceof GatewayError && error.failure.code === code)) throw error;
  }
}
