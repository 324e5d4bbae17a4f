import type { TeamMemberRecord, TeamRecord } from "../records/records.ts";

/** The maximum number of teams of an organization that are not deleted. They are in memory with the organization. */
export const MAX_TEAMS = 200;
/** The maximum number of members of a team. */
export const MAX_TEAM_MEMBERS = 1_000;

/** The outcome of writing a team. */
export type TeamVerdict = "done" | "unknown" | "name_taken" | "too_many";

/** The keys that ended with a team or a membership, by the hashes of their secrets. */
export interface RevokedKeys {
  readonly revoked: readonly { readonly hash: string; readonly previousHash: string | null }[];
}

/** A page of teams, also of deleted ones. Absent fields do not restrict the result. */
export interface TeamQuery {
  readonly organizationId?: string | undefined;
  /** Only these teams. */
  readonly ids?: readonly string[] | undefined;
  /** Only teams with this id or name. The case of ASCII letters in a name does not matter. */
  readonly named?: string | undefined;
  /** Only teams whose name or id contains this text. The case of ASCII letters does not matter. */
  readonly search?: string | undefined;
  readonly afterId?: string | undefined;
  readonly limit: number;
}

/** A page of the members of a team. */
export interface TeamMemberQuery {
  readonly teamId: string;
  readonly afterUserId: string | null;
  readonly limit: number;
}

/** Stores the teams of organizations. Several processes may share one. Every change is a change of the organization (`accountRevision`). */
export interface TeamStore {
  /** Inserts a team. Inserts nothing unless the verdict is `done`. */
  insertTeam(team: TeamRecord): Promise<TeamVerdict>;
  /** Replaces a team that is not deleted by the result of `change`, in one transaction. */
  changeTeam(
    id: string,
    change: (team: TeamRecord) => TeamRecord,
  ): Promise<{ readonly verdict: TeamVerdict; readonly team: TeamRecord | null }>;
  /** Deletes a team with its memberships, and revokes its keys in the same transaction. Returns null if there is no such team. */
  deleteTeam(id: string, at: number): Promise<RevokedKeys | null>;
  /** Returns a team, also a deleted one. */
  findTeam(id: string): Promise<TeamRecord | null>;
  /** Returns the names of teams by their ids. Ids without a team are left out. */
  findTeamNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns the teams of an organization that are not deleted, in the order of their ids. */
  listTeams(organizationId: string): Promise<readonly TeamRecord[]>;
  /** Returns teams, also deleted ones, newest first. */
  listAllTeams(query: TeamQuery): Promise<readonly TeamRecord[]>;
  /** Adds a member to a team, or replaces whether they lead it. Returns false if the team has too many, or the user is no member of the organization. */
  putTeamMember(member: TeamMemberRecord): Promise<boolean>;
  /** Removes a member, and revokes the member's keys of the team in the same transaction. Returns null if there is no such member. */
  removeTeamMember(teamId: string, userId: string, at: number): Promise<RevokedKeys | null>;
  findTeamMember(teamId: string, userId: string): Promise<TeamMemberRecord | null>;
  /** Returns members in the order of their user ids. */
  listTeamMembers(query: TeamMemberQuery): Promise<readonly TeamMemberRecord[]>;
  /** Returns the number of members of each team of an organization. */
  countTeamMembers(organizationId: string): Promise<ReadonlyMap<string, number>>;
  /** Returns the memberships of a user in teams of an organization. */
  listTeamsOfUser(userId: string, organizationId: string): Promise<readonly TeamMemberRecord[]>;
  /** Returns the memberships of several users in teams of an organization. */
  listTeamsOfUsers(organizationId: string, userIds: readonly string[]): Promise<readonly TeamMemberRecord[]>;
}
