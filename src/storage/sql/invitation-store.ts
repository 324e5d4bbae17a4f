import { type InvitationRecord, stateOfInvitation } from "../../core/accounts/records/invitation-records.ts";
import type { MemberRecord, TeamMemberRecord } from "../../core/accounts/records/records.ts";
import {
  type AcceptedMemberships,
  type InvitationAcceptance,
  type InvitationProblem,
  type InvitationQuery,
  type InvitationStore,
  MAX_OPEN_INVITATIONS,
} from "../../core/accounts/stores/invitation-store.ts";
import { MAX_TEAM_MEMBERS } from "../../core/accounts/stores/team-store.ts";
import { insertAccount, MEMBERS } from "./account-store.ts";
import { KEYS } from "./key-store.ts";
import type { SqlDatabase, SqlTraits } from "./statements/database.ts";
import { Revision, raiseRevision } from "./statements/revision.ts";
import { type Sql, sql, type Work, where } from "./statements/statement.ts";
import { integer, json, Table, text } from "./statements/table.ts";
import { type Integer, readInteger } from "./statements/values.ts";
import { TEAM_MEMBERS } from "./team-store.ts";

const INVITATIONS = new Table<InvitationRecord>("invitations", {
  id: text,
  organizationId: text,
  role: text,
  teams: json,
  email: text,
  hash: text,
  createdBy: text,
  createdAt: integer,
  expiresAt: integer,
  endedAt: integer,
  userId: text,
});

/** Invitations to organizations. Accepting one changes accounts, so that it waits for other changes of accounts. */
export class SqlInvitationStore implements InvitationStore {
  private readonly revision: Revision;

  constructor(private readonly database: SqlDatabase) {
    this.revision = new Revision(database, "accounts");
  }

  insertInvitation(invitation: InvitationRecord) {
    // Only the lock is needed, so that several processes do not exceed the maximum together.
    return this.revision.change(
      () => insertInvitation(invitation),
      () => false,
    );
  }

  findInvitation(id: string) {
    return this.find(sql`id = ${id}`);
  }

  findInvitationByHash(hash: string) {
    return this.find(sql`hash = ${hash}`);
  }

  async listInvitations({ organizationId, createdBy, afterId, limit }: InvitationQuery) {
    const conditions = where(
      sql`organization_id = ${organizationId}`,
      createdBy === null ? null : sql`created_by = ${createdBy}`,
      afterId === null ? null : sql`id < ${afterId}`,
    );
    const page = INVITATIONS.select(sql`${conditions} ORDER BY id DESC LIMIT ${limit}::bigint`);
    return (await this.database.run(page)).map(INVITATIONS.read);
  }

  async withdrawInvitation(id: string, at: number) {
    return (await this.database.run(endInvitation(id, { at, userId: null }))).length === 1;
  }

  acceptInvitation(acceptance: InvitationAcceptance) {
    return this.revision.change(
      () => acceptInvitation(this.database.traits, acceptance),
      (result) => typeof result !== "string",
    );
  }

  async deleteEndedInvitations(before: number, limit: number) {
    const deleted = await this.database.run(
      sql`DELETE FROM invitations WHERE id IN (SELECT id FROM invitations
          WHERE coalesce(ended_at, expires_at) < ${before}::bigint LIMIT ${limit}::bigint) RETURNING id`,
    );
    return deleted.length;
  }

  private async find(condition: Sql): Promise<InvitationRecord | null> {
    return INVITATIONS.readFirst(await this.database.run(INVITATIONS.select(sql`WHERE ${condition}`)));
  }
}

function* insertInvitation(invitation: InvitationRecord): Work<boolean> {
  const { organizationId, createdAt } = invitation;
  const [row] = yield* sql<{ count: Integer }>`SELECT count(*) AS count FROM invitations
    WHERE organization_id = ${organizationId} AND ended_at IS NULL AND expires_at > ${createdAt}::bigint`;
  if (readInteger(row?.count ?? 0) >= MAX_OPEN_INVITATIONS) return false;
  yield* INVITATIONS.insert(invitation);
  return true;
}

/** Ends an open invitation. Returns its row; none if it is not open. */
function endInvitation(
  id: string,
  { at, userId }: { readonly at: number; readonly userId: string | null },
): Sql {
  return sql`UPDATE invitations SET ended_at = ${at}::bigint, user_id = ${userId}
    WHERE id = ${id} AND ended_at IS NULL AND expires_at > ${at}::bigint RETURNING id`;
}

/** Checks everything before the first change, because a problem is no error that would undo the transaction. */
function* acceptInvitation(
  traits: SqlTraits,
  acceptance: InvitationAcceptance,
): Work<AcceptedMemberships | InvitationProblem> {
  const { id, userId, user, key, at } = acceptance;
  const invitation = INVITATIONS.readFirst(yield* INVITATIONS.select(sql`WHERE id = ${id}`));
  if (invitation === null || stateOfInvitation(invitation, at) !== "open") return "not_open";
  const joined = yield* findMemberships(invitation, { userId, at });
  if (typeof joined === "string") return joined;
  if (user?.email != null && (yield* isTaken(user.email))) return "email_taken";
  if ((yield* endInvitation(id, { at, userId })).length === 0) return "not_open";
  if (user !== null) yield* insertAccount(traits, user, undefined);
  if (joined.member !== null) yield* MEMBERS.insert(joined.member);
  for (const team of joined.teams) yield* TEAM_MEMBERS.insert(team);
  if (key !== null) {
    yield* KEYS.insert(key);
    yield* raiseRevision(traits, "keys");
  }
  return joined;
}

/** Returns the memberships that a user would get from an invitation, or why there would be none. */
function* findMemberships(
  { organizationId, role, teams }: InvitationRecord,
  { userId, at }: Pick<InvitationAcceptance, "userId" | "at">,
): Work<AcceptedMemberships | InvitationProblem> {
  const open = yield* sql`SELECT id FROM accounts WHERE id = ${organizationId} AND closed_at IS NULL`;
  if (open.length === 0) return "organization_closed";
  const known = yield* sql`SELECT role FROM members
    WHERE organization_id = ${organizationId} AND user_id = ${userId}`;
  const shared = { organizationId, userId, source: "invitation", createdAt: at } as const;
  const joined: TeamMemberRecord[] = [];
  for (const { id: teamId, isLead } of teams) {
    const [team] = yield* sql<{ others: Integer; ours: Integer }>`SELECT
        (SELECT count(*) FROM team_members WHERE team_id = ${teamId} AND user_id <> ${userId}) AS others,
        (SELECT count(*) FROM team_members WHERE team_id = ${teamId} AND user_id = ${userId}) AS ours
      FROM teams WHERE id = ${teamId} AND organization_id = ${organizationId} AND deleted_at IS NULL`;
    if (team === undefined) return "team_deleted";
    if (readInteger(team.others) >= MAX_TEAM_MEMBERS) return "team_full";
    if (readInteger(team.ours) === 0) joined.push({ teamId, isLead, ...shared });
  }
  if (known.length > 0 && joined.length === 0) return "member";
  const member: MemberRecord | null = known.length > 0 ? null : { role, dailyLimit: null, ...shared };
  return { member, teams: joined };
}

function* isTaken(email: string): Work<boolean> {
  return (yield* sql`SELECT id FROM accounts WHERE email = ${email}`).length > 0;
}
