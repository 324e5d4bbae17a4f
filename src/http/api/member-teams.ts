import { z } from "zod";
import type { ManagementPrincipal } from "../../core/accounts/records/principal.ts";
import type { TeamMemberRecord } from "../../core/accounts/records/records.ts";
import type { StoreDeps } from "../context/store-deps.ts";

/** A team of a member, as responses about people name it. */
export const TeamOfMember = z.object({ id: z.string(), name: z.string(), is_lead: z.boolean() });
type TeamOfMember = z.infer<typeof TeamOfMember>;

/** Returns the teams of the person who calls, by name; none for the operator and for service keys. */
export function listOwnTeams(principal: ManagementPrincipal): readonly TeamOfMember[] {
  if (principal.kind === "operator") return [];
  const { account, member } = principal;
  return present(member?.teams ?? [], (id) => account.teams?.get(id)?.name);
}

/** Returns a function that lists the teams of each of some users in an organization, by name. */
export async function findTeamsOf(
  { resources }: StoreDeps,
  organizationId: string,
  userIds: readonly string[],
): Promise<(userId: string) => readonly TeamOfMember[]> {
  const { teams } = resources.keyStores;
  const found = await teams.listTeamsOfUsers(organizationId, userIds);
  const names = await teams.findTeamNames([...new Set(found.map(({ teamId }) => teamId))]);
  const byUser = Map.groupBy(found, ({ userId }) => userId);
  return (userId) => present(byUser.get(userId) ?? [], (id) => names.get(id));
}

function present(
  teams: readonly TeamMemberRecord[],
  nameOf: (id: string) => string | undefined,
): readonly TeamOfMember[] {
  return teams
    .map(({ teamId, isLead }) => ({ id: teamId, name: nameOf(teamId) ?? teamId, is_lead: isLead }))
    .sort((a, b) => a.name.localeCompare(b.name, "en"));
}
