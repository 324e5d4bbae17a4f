import {
  OPEN_POLICY,
  type Policy,
  type TeamMemberRecord,
  type TeamRecord,
} from "../../core/accounts/records/records.ts";
import {
  MAX_TEAM_MEMBERS,
  MAX_TEAMS,
  type RevokedKeys,
  type TeamMemberQuery,
  type TeamQuery,
  type TeamStore,
  type TeamVerdict,
} from "../../core/accounts/stores/team-store.ts";
import { findNames } from "./find-names.ts";
import { contains } from "./statements/contains.ts";
import type { SqlDatabase, SqlTraits } from "./statements/database.ts";
import { requireKnown } from "./statements/require-known.ts";
import { Revision, raiseRevision } from "./statements/revision.ts";
import { join, type Sql, sql, type Work, where } from "./statements/statement.ts";
import { flag, integer, json, named, Table, text } from "./statements/table.ts";
import { type Integer, readInteger } from "./statements/values.ts";

const TEAMS = new Table<TeamRecord>("teams", {
  id: text,
  organizationId: text,
  name: text,
  policy: {
    read: (stored: string) => ({ ...OPEN_POLICY, ...(JSON.parse(stored) as Partial<Policy>) }),
    write: (policy) => JSON.stringify(policy),
  },
  rateLimit: json,
  promptLog: named("prompt_log_seconds", integer),
  cache: named("cache_seconds", integer),
  tags: json,
  createdAt: integer,
  deletedAt: integer,
});

/** The columns of a team that can change. */
const CHANGING = ["name", "policy", "rateLimit", "promptLog", "cache", "tags"] as const;

/** The table of memberships in teams. */
export const TEAM_MEMBERS = new Table<TeamMemberRecord>("team_members", {
  teamId: text,
  organizationId: text,
  userId: text,
  isLead: flag,
  source: text,
  createdAt: integer,
});

/** Teams and their members. Every change raises the revision of accounts in the same transaction. */
export class SqlTeamStore implements TeamStore {
  private readonly revision: Revision;

  constructor(private readonly database: SqlDatabase) {
    this.revision = new Revision(database, "accounts");
  }

  insertTeam(team: TeamRecord) {
    return this.revision.change(() => insertTeam(this.database.traits, team), isDone);
  }

  changeTeam(id: string, change: (team: TeamRecord) => TeamRecord) {
    return this.revision.change(
      () => changeTeam(id, change),
      ({ verdict }) => isDone(verdict),
    );
  }

  deleteTeam(id: string, at: number) {
    return this.revision.change(() => deleteTeam(this.database.traits, id, at), isFound);
  }

  async findTeam(id: string) {
    return TEAMS.readFirst(await this.database.run(selectTeam(id)));
  }

  findTeamNames(ids: readonly string[]) {
    return findNames(this.database, "teams", ids);
  }

  async listTeams(organizationId: string) {
    const teams = sql`WHERE organization_id = ${organizationId} AND deleted_at IS NULL ORDER BY id`;
    return (await this.database.run(TEAMS.select(teams))).map(TEAMS.read);
  }

  async listAllTeams({ organizationId, ids, named, search, afterId, limit }: TeamQuery) {
    if (ids?.length === 0) return [];
    const conditions = where(
      organizationId === undefined ? null : sql`organization_id = ${organizationId}`,
      ids === undefined ? null : sql`id IN (${join(ids, ", ")})`,
      named === undefined ? null : sql`(id = ${named} OR lower(name) = lower(${named}::text))`,
      search === undefined ? null : contains(["name", "id"], search),
      afterId === undefined ? null : sql`id < ${afterId}`,
    );
    const page = TEAMS.select(sql`${conditions} ORDER BY id DESC LIMIT ${limit}::bigint`);
    return (await this.database.run(page)).map(TEAMS.read);
  }

  putTeamMember(member: TeamMemberRecord) {
    return this.revision.change(
      () => putMember(member),
      (isPut) => isPut,
    );
  }

  removeTeamMember(teamId: string, userId: string, at: number) {
    return this.revision.change(() => removeMember(this.database.traits, { teamId, userId, at }), isFound);
  }

  async findTeamMember(teamId: string, userId: string) {
    const [found] = await this.readMembers(sql`WHERE team_id = ${teamId} AND user_id = ${userId}`);
    return found ?? null;
  }

  listTeamMembers({ teamId, afterUserId, limit }: TeamMemberQuery) {
    return this.readMembers(
      sql`WHERE team_id = ${teamId} AND user_id > ${afterUserId ?? ""} ORDER BY user_id LIMIT ${limit}`,
    );
  }

  async countTeamMembers(organizationId: string) {
    const rows = await this.database.run(
      sql<{ id: string; members: Integer }>`SELECT team_id AS id, count(*) AS members FROM team_members
        WHERE organization_id = ${organizationId} GROUP BY team_id`,
    );
    return new Map(rows.map(({ id, members }) => [id, readInteger(members)]));
  }

  listTeamsOfUser(userId: string, organizationId: string) {
    return this.readMembers(
      sql`WHERE organization_id = ${organizationId} AND user_id = ${userId} ORDER BY team_id`,
    );
  }

  async listTeamsOfUsers(organizationId: string, userIds: readonly string[]) {
    if (userIds.length === 0) return [];
    const wanted = this.database.traits.listAs(
      "wanted",
      { id: "text" },
      userIds.map((id) => [id]),
    );
    return this.readMembers(
      sql`WHERE organization_id = ${organizationId} AND user_id IN (SELECT wanted.id FROM ${wanted})
        ORDER BY user_id, team_id`,
    );
  }

  private async readMembers(rest: Sql): Promise<readonly TeamMemberRecord[]> {
    return (await this.database.run(TEAM_MEMBERS.select(rest))).map(TEAM_MEMBERS.read);
  }
}

function isDone(verdict: TeamVerdict): boolean {
  return verdict === "done";
}

function isFound(found: object | null): boolean {
  return found !== null;
}

function selectTeam(id: string): Sql {
  return TEAMS.select(sql`WHERE id = ${id}`);
}

function* insertTeam(traits: SqlTraits, team: TeamRecord): Work<TeamVerdict> {
  const [count] = yield* sql<{ teams: Integer }>`SELECT count(*) AS teams FROM teams
    WHERE organization_id = ${team.organizationId} AND deleted_at IS NULL`;
  if (readInteger(count?.teams ?? 0) >= MAX_TEAMS) return "too_many";
  if (yield* isTaken(team)) return "name_taken";
  yield* requireKnown(traits, "team", null, team);
  yield* TEAMS.insert(team);
  return "done";
}

function* changeTeam(
  id: string,
  change: (team: TeamRecord) => TeamRecord,
): Work<{
  readonly verdict: TeamVerdict;
  readonly team: TeamRecord | null;
}> {
  const before = TEAMS.readFirst(yield* selectTeam(id));
  if (before === null || before.deletedAt !== null) return { verdict: "unknown", team: null };
  const team = change(before);
  if (yield* isTaken(team)) return { verdict: "name_taken", team: before };
  yield* sql`UPDATE teams ${TEAMS.set(team, CHANGING)} WHERE id = ${id}`;
  return { verdict: "done", team };
}

/** Returns whether another team of the organization has the name. */
function* isTaken({ id, organizationId, name }: TeamRecord): Work<boolean> {
  const others = yield* sql`SELECT id FROM teams WHERE organization_id = ${organizationId}
    AND lower(name) = lower(${name}::text) AND deleted_at IS NULL AND id <> ${id}`;
  return others.length > 0;
}

function* deleteTeam(traits: SqlTraits, id: string, at: number): Work<RevokedKeys | null> {
  const deleted = yield* sql`UPDATE teams SET deleted_at = ${at}::bigint
    WHERE id = ${id} AND deleted_at IS NULL RETURNING id`;
  if (deleted.length === 0) return null;
  yield* sql`DELETE FROM team_members WHERE team_id = ${id}`;
  return yield* revokeKeys(traits, sql`team_id = ${id}`, at);
}

function* putMember(member: TeamMemberRecord): Work<boolean> {
  const { teamId, organizationId, userId } = member;
  const [found] = yield* sql<{ others: Integer; ours: Integer }>`SELECT
      (SELECT count(*) FROM team_members WHERE team_id = ${teamId} AND user_id <> ${userId}) AS others,
      (SELECT count(*) FROM members JOIN teams ON teams.organization_id = members.organization_id
        WHERE teams.id = ${teamId} AND deleted_at IS NULL AND user_id = ${userId}
          AND members.organization_id = ${organizationId}) AS ours`;
  if (readInteger(found?.ours ?? 0) === 0 || readInteger(found?.others ?? 0) >= MAX_TEAM_MEMBERS)
    return false;
  yield* sql`${TEAM_MEMBERS.insert(member)}
    ON CONFLICT (team_id, user_id) DO UPDATE SET is_lead = excluded.is_lead, source = excluded.source`;
  return true;
}

/** The end of a membership in a team. */
interface TeamMemberEnd {
  readonly teamId: string;
  readonly userId: string;
  readonly at: number;
}

function* removeMember(traits: SqlTraits, { teamId, userId, at }: TeamMemberEnd): Work<RevokedKeys | null> {
  const removed = yield* sql`DELETE FROM team_members
    WHERE team_id = ${teamId} AND user_id = ${userId} RETURNING user_id`;
  if (removed.length === 0) return null;
  return yield* revokeKeys(traits, sql`team_id = ${teamId} AND user_id = ${userId}`, at);
}

/** Revokes the valid keys of a condition, and raises their revision. Returns the hashes of their secrets. */
export function* revokeKeys(traits: SqlTraits, condition: Sql, at: number): Work<RevokedKeys> {
  const revoked = yield* sql<RevokedKeys["revoked"][number]>`UPDATE api_keys SET revoked_at = ${at}::bigint
    WHERE ${condition} AND revoked_at IS NULL RETURNING hash, previous_hash AS "previousHash"`;
  if (revoked.length > 0) yield* raiseRevision(traits, "keys");
  return { revoked };
}
