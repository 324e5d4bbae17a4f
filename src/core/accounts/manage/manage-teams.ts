import { fail } from "../../../base/failures/errors.ts";
import { type KnownNames, requireKnownNames } from "../../catalog/served/known-names.ts";
import { changeRateLimit } from "../fields/own-rate-limit.ts";
import { type Change, mergeChange } from "../fields/resource-fields.ts";
import {
  type MemberSource,
  OPEN_POLICY,
  type TeamMemberRecord,
  type TeamRecord,
} from "../records/records.ts";
import type { TEAM_SETTINGS } from "../records/team-fields.ts";
import { MAX_TEAM_MEMBERS, MAX_TEAMS, type RevokedKeys, type TeamVerdict } from "../stores/team-store.ts";
import { type AccountStores, findAccount, listPolicyNames } from "./manage-accounts.ts";
import { rejectRuledEnd } from "./manage-members.ts";

/** The fields of a team to change. Absent and undefined fields keep their value, in a new team their default. */
type TeamChange = Change<typeof TEAM_SETTINGS>;

/**
 * Creates a team in an organization.
 * @throws GatewayError `not_found` for an unknown organization; `invalid_request` for a policy with a name that is not in `known`;
 * `conflict` for the name of another team, and if there are too many.
 */
export async function createTeam(
  stores: AccountStores,
  known: () => KnownNames,
  {
    organizationId,
    settings,
  }: { readonly organizationId: string; readonly settings: TeamChange & { readonly name: string } },
): Promise<TeamRecord> {
  await findAccount(stores.accounts, "organization", organizationId);
  requireKnownNames(known, listPolicyNames(settings, OPEN_POLICY));
  const blank: TeamRecord = {
    id: stores.ids.next("team"),
    organizationId,
    name: settings.name,
    policy: OPEN_POLICY,
    rateLimit: null,
    promptLog: null,
    cache: null,
    tags: null,
    createdAt: stores.clock.now(),
    deletedAt: null,
  };
  const team = applyChange(blank, settings);
  requireDone(await stores.teams.insertTeam(team));
  return team;
}

/**
 * Changes a team. Names in its policy must be known (`known`) or have been set before.
 * @throws GatewayError `invalid_request` for a policy with an unknown name; `conflict` for the name of another team; `not_found`.
 */
export async function changeTeam(
  { teams }: AccountStores,
  known: () => KnownNames,
  { team: found, change }: { readonly team: TeamRecord; readonly change: TeamChange },
): Promise<TeamRecord> {
  requireKnownNames(known, listPolicyNames(change, found.policy));
  const { verdict, team } = await teams.changeTeam(found.id, (before) => applyChange(before, change));
  requireDone(verdict);
  return team ?? rejectUnknown();
}

/**
 * Returns a team of an organization that is not deleted.
 * @throws GatewayError `not_found`.
 */
export async function findTeam(
  { teams }: Pick<AccountStores, "teams">,
  organizationId: string,
  id: string,
): Promise<TeamRecord> {
  const team = await teams.findTeam(id);
  return team !== null && team.organizationId === organizationId && team.deletedAt === null
    ? team
    : rejectUnknown();
}

/**
 * Deletes a team with its memberships, and revokes its keys, which are returned.
 * @throws GatewayError `not_found`.
 */
export async function deleteTeam(
  { teams, clock }: AccountStores,
  id: string,
): Promise<RevokedKeys["revoked"]> {
  return ((await teams.deleteTeam(id, clock.now())) ?? rejectUnknown()).revoked;
}

/** A membership in a team as its source wants it. */
interface WantedTeamMember {
  readonly team: TeamRecord;
  readonly userId: string;
  readonly isLead: boolean;
  readonly source: MemberSource;
}

/**
 * Adds a member of the organization to a team, or replaces whether they lead it. A membership keeps its source.
 * @throws GatewayError `invalid_request` for a user who is no member of the organization; `conflict` if the team has too many members, or
 * if rules of OpenID Connect say otherwise whether the member leads it.
 */
export async function putTeamMember(
  { accounts, teams, clock }: AccountStores,
  { team, userId, isLead, source }: WantedTeamMember,
): Promise<TeamMemberRecord> {
  const { id: teamId, organizationId } = team;
  if ((await accounts.findMember(organizationId, userId)) === null)
    fail("invalid_request", "user_id must be a member of the organization. Make the user one first.", {
      metadata: { field: "user_id" },
    });
  const found = await teams.findTeamMember(teamId, userId);
  if (found?.source === "oidc" && source !== "oidc" && found.isLead !== isLead) rejectRuledLead();
  const member = {
    teamId,
    organizationId,
    userId,
    isLead,
    source: found?.source ?? source,
    createdAt: clock.now(),
  };
  if (!(await teams.putTeamMember(member)))
    fail(
      "conflict",
      `The team already has ${MAX_TEAM_MEMBERS} members. Remove one first. Or the team or the membership in the organization has just ended.`,
    );
  return (await teams.findTeamMember(teamId, userId)) ?? member;
}

/** Whose membership in a team ends, and who ends it. */
interface EndedTeamMember {
  readonly teamId: string;
  readonly userId: string;
  readonly by: MemberSource;
  /** Whether it ends although another source has made it. */
  readonly isForced?: boolean;
}

/**
 * Removes a member from a team, and revokes their keys of the team. Returns these keys.
 * @throws GatewayError `not_found`; `conflict` if rules of OpenID Connect have made the membership.
 */
export async function removeTeamMember(
  { teams, clock }: AccountStores,
  { teamId, userId, by, isForced = false }: EndedTeamMember,
): Promise<RevokedKeys["revoked"]> {
  const found = await teams.findTeamMember(teamId, userId);
  if (found?.source === "oidc" && by !== "oidc" && !isForced) rejectRuledEnd();
  const removed = await teams.removeTeamMember(teamId, userId, clock.now());
  return (removed ?? fail("not_found", "This team has no member with that id.")).revoked;
}

function rejectRuledLead(): never {
  return fail(
    "conflict",
    "Rules of OpenID Connect (console.oidc.rules) have given this membership of the team. Change `lead` of the rule, or first end the membership with DELETE and force=true.",
    { metadata: { field: "is_lead", source: "oidc" } },
  );
}

function applyChange(before: TeamRecord, change: TeamChange): TeamRecord {
  const { policy = {}, rateLimit, ...settings } = change;
  return {
    ...mergeChange(before, settings),
    policy: mergeChange(before.policy, policy),
    rateLimit: changeRateLimit(before.rateLimit, rateLimit),
  };
}

function requireDone(verdict: TeamVerdict): void {
  if (verdict === "unknown") rejectUnknown();
  if (verdict === "name_taken")
    fail("conflict", "Another team of the organization has this name. Choose another one.", {
      metadata: { field: "name" },
    });
  if (verdict === "too_many")
    fail("conflict", `The organization already has ${MAX_TEAMS} teams. Delete one first.`);
}

function rejectUnknown(): never {
  return fail("not_found", "This organization has no team with that id.");
}
