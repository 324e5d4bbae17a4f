import {
  type AccountRecord,
  type MemberRecord,
  OPEN_POLICY,
  type Policy,
} from "../../core/accounts/records/records.ts";
import type {
  AccountQuery,
  AccountStore,
  MemberEnd,
  MemberQuery,
  MemberRemoval,
  OwnerVerdict,
  UniqueVerdict,
} from "../../core/accounts/stores/account-store.ts";
import { findNames } from "./find-names.ts";
import { contains } from "./statements/contains.ts";
import type { SqlDatabase, SqlTraits } from "./statements/database.ts";
import { requireKnown } from "./statements/require-known.ts";
import { Revision } from "./statements/revision.ts";
import { type Sql, sql, type Work, where } from "./statements/statement.ts";
import { integer, json, named, Table, text } from "./statements/table.ts";
import { revokeKeys } from "./team-store.ts";

const ACCOUNTS = new Table<AccountRecord>("accounts", {
  id: text,
  kind: text,
  name: text,
  email: text,
  externalId: text,
  overdraft: integer,
  monthlyLimit: integer,
  policy: {
    read: (stored: string) => ({ ...OPEN_POLICY, ...(JSON.parse(stored) as Partial<Policy>) }),
    write: (policy) => JSON.stringify(policy),
  },
  rateLimit: json,
  plan: text,
  promptLog: named("prompt_log_seconds", integer),
  cache: named("cache_seconds", integer),
  tags: json,
  memberKeys: json,
  createdAt: integer,
  closedAt: integer,
});

/** The columns of an account that can change. */
const CHANGING = [
  "name",
  "email",
  "externalId",
  "overdraft",
  "monthlyLimit",
  "policy",
  "rateLimit",
  "plan",
  "promptLog",
  "cache",
  "tags",
  "memberKeys",
  "closedAt",
] as const;

/** The table of memberships in organizations. */
export const MEMBERS = new Table<MemberRecord>("members", {
  organizationId: text,
  userId: text,
  role: text,
  dailyLimit: integer,
  source: text,
  createdAt: integer,
});

type AccountChange = Awaited<ReturnType<AccountStore["changeAccount"]>>;

/** Accounts and members. Every change raises the revision in the same transaction. */
export class SqlAccountStore implements AccountStore {
  private readonly revision: Revision;
  private readonly traits: SqlTraits;

  constructor(private readonly database: SqlDatabase) {
    this.revision = new Revision(database, "accounts");
    this.traits = database.traits;
  }

  insertAccount(account: AccountRecord, owner?: MemberRecord): Promise<UniqueVerdict> {
    return this.revision.change(() => insertAccount(this.traits, account, owner), isDone);
  }

  changeAccount(id: string, change: (account: AccountRecord) => AccountRecord): Promise<AccountChange> {
    return this.revision.change(
      () => changeAccount(this.traits, id, change),
      ({ verdict }) => isDone(verdict),
    );
  }

  async findAccount(id: string) {
    return ACCOUNTS.readFirst(await this.database.run(selectAccount(id)));
  }

  findAccountNames(ids: readonly string[]) {
    return findNames(this.database, "accounts", ids);
  }

  async findClosed(ids: readonly string[]) {
    if (ids.length === 0) return [];
    const rows = await this.database.run(
      sql<{ id: string }>`SELECT id FROM accounts
        WHERE ${this.traits.isOneOf("id", ids)} AND closed_at IS NOT NULL ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  }

  async listAccounts({ kind, email, externalId, alias, search, afterId, limit }: AccountQuery) {
    const conditions = where(
      kind === undefined ? null : sql`kind = ${kind}`,
      email === undefined ? null : sql`email = ${email}`,
      externalId === undefined ? null : sql`external_id = ${externalId}`,
      alias === undefined ? null : matchAlias(alias),
      search === undefined ? null : contains(["name", "email", "external_id", "id"], search),
      afterId == null ? null : sql`id < ${afterId}`,
    );
    const page = ACCOUNTS.select(sql`${conditions} ORDER BY id DESC LIMIT ${limit}`);
    return (await this.database.run(page)).map(ACCOUNTS.read);
  }

  putMember(record: MemberRecord): Promise<Exclude<OwnerVerdict, "unknown">> {
    return this.revision.change(() => putMember(record), isDone);
  }

  removeMember(end: MemberEnd): Promise<MemberRemoval> {
    return this.revision.change(
      () => removeMember(this.traits, end),
      ({ verdict }) => isDone(verdict),
    );
  }

  async findMember(organizationId: string, userId: string) {
    const members = await this.readMembers(
      sql`WHERE organization_id = ${organizationId} AND user_id = ${userId}`,
    );
    return members[0] ?? null;
  }

  listMembers({ organizationId, search, outsideTeamId, afterUserId, limit }: MemberQuery) {
    const conditions = where(
      sql`organization_id = ${organizationId} AND user_id > ${afterUserId ?? ""}`,
      search === undefined
        ? null
        : sql`EXISTS (SELECT 1 FROM accounts WHERE id = user_id AND ${contains(["name", "email", "id"], search)})`,
      outsideTeamId === undefined
        ? null
        : sql`NOT EXISTS (SELECT 1 FROM team_members
            WHERE team_id = ${outsideTeamId} AND team_members.user_id = members.user_id)`,
    );
    return this.readMembers(sql`${conditions} ORDER BY user_id LIMIT ${limit}`);
  }

  listMemberships(userId: string) {
    return this.readMembers(sql`WHERE user_id = ${userId} ORDER BY created_at, organization_id`);
  }

  accountRevision() {
    return this.revision.read();
  }

  listChangedAccounts(cursor: string | null) {
    return this.revision.listChanged(cursor);
  }

  private async readMembers(rest: Sql): Promise<readonly MemberRecord[]> {
    return (await this.database.run(MEMBERS.select(rest))).map(MEMBERS.read);
  }
}

function isDone(verdict: AccountChange["verdict"] | OwnerVerdict): boolean {
  return verdict === "done";
}

/** An account is called by its name, its e-mail address, which is stored in lower case, or its external id. */
function matchAlias(alias: string): Sql {
  return sql`(email = ${alias.toLowerCase()} OR external_id = ${alias} OR lower(name) = lower(${alias}::text))`;
}

function selectAccount(id: string): Sql {
  return ACCOUNTS.select(sql`WHERE id = ${id}`);
}

/** Inserts an account, and the first owner of an organization. Inserts nothing unless the verdict is `done`. */
export function* insertAccount(
  traits: SqlTraits,
  account: AccountRecord,
  owner: MemberRecord | undefined,
): Work<UniqueVerdict> {
  const verdict = yield* checkUnique(account);
  if (verdict !== "done") return verdict;
  yield* requireKnown(traits, "account", null, account);
  yield* ACCOUNTS.insert(account);
  if (owner !== undefined) yield* writeMember(owner);
  return verdict;
}

function* changeAccount(
  traits: SqlTraits,
  id: string,
  change: (account: AccountRecord) => AccountRecord,
): Work<AccountChange> {
  const before = ACCOUNTS.readFirst(yield* selectAccount(id));
  if (before === null) return { verdict: "unknown", account: null };
  const after = change(before);
  const closes = before.closedAt === null && after.closedAt !== null;
  if (closes && (yield* isOnlyOwner(id))) return { verdict: "last_owner", account: before };
  const verdict = yield* checkUnique(after);
  if (verdict !== "done") return { verdict, account: before };
  yield* requireKnown(traits, "account", before, after);
  yield* sql`UPDATE accounts ${ACCOUNTS.set(after, CHANGING)} WHERE id = ${id}`;
  return { verdict: "done", account: after };
}

/** Returns whether no other account has the e-mail or the external id of an account. */
function* checkUnique({ id, email, externalId }: AccountRecord): Work<UniqueVerdict> {
  const [other] = yield* sql<{ email: string | null }>`
    SELECT email FROM accounts WHERE (email = ${email}::text OR external_id = ${externalId}::text) AND id <> ${id}
    ORDER BY email IS NOT DISTINCT FROM ${email}::text DESC LIMIT 1`;
  if (other === undefined) return "done";
  return email !== null && other.email === email ? "email_taken" : "external_id_taken";
}

function* putMember(record: MemberRecord): Work<Exclude<OwnerVerdict, "unknown">> {
  const { organizationId, userId, role } = record;
  if (role !== "owner" && isLastOwner(yield* listOwners(organizationId), userId)) return "last_owner";
  yield* writeMember(record);
  return "done";
}

function writeMember(member: MemberRecord): Sql {
  return sql`${MEMBERS.insert(member)}
    ON CONFLICT (organization_id, user_id) DO UPDATE SET
      role = excluded.role, daily_limit = excluded.daily_limit, source = excluded.source`;
}

function* removeMember(traits: SqlTraits, { organizationId, userId, at }: MemberEnd): Work<MemberRemoval> {
  if (isLastOwner(yield* listOwners(organizationId), userId)) return { verdict: "last_owner", revoked: [] };
  const removed = yield* sql`DELETE FROM members
    WHERE organization_id = ${organizationId} AND user_id = ${userId} RETURNING user_id`;
  if (removed.length === 0) return { verdict: "unknown", revoked: [] };
  yield* sql`DELETE FROM team_members WHERE organization_id = ${organizationId} AND user_id = ${userId}`;
  const ofMember = sql`account_id = ${organizationId} AND user_id = ${userId}`;
  return { verdict: "done", ...(yield* revokeKeys(traits, ofMember, at)) };
}

function* listOwners(organizationId: string): Work<readonly Owner[]> {
  const owners = yield* sql<{ userId: string; isOpen: boolean | number }>`
    SELECT user_id AS "userId", accounts.id IS NOT NULL AND closed_at IS NULL AS "isOpen"
    FROM members LEFT JOIN accounts ON accounts.id = user_id
    WHERE organization_id = ${organizationId} AND role = 'owner'`;
  return owners.map(({ userId, isOpen }) => ({ userId, isOpen: Boolean(isOpen) }));
}

/** Returns whether a user is the last owner of an organization that is not closed. */
function* isOnlyOwner(userId: string): Work<boolean> {
  const owned = yield* sql<{ id: string }>`
    SELECT organization_id AS id FROM members JOIN accounts ON accounts.id = organization_id
    WHERE user_id = ${userId} AND role = 'owner' AND closed_at IS NULL`;
  for (const { id } of owned) if (isLastOwner(yield* listOwners(id), userId)) return true;
  return false;
}

/** An owner of an organization. */
interface Owner {
  readonly userId: string;
  /** The user's account exists and is not closed. */
  readonly isOpen: boolean;
}

/** Returns whether an organization would have no owner with an open account without this one. */
function isLastOwner(owners: readonly Owner[], userId: string): boolean {
  const isOwner = owners.some((owner) => owner.userId === userId);
  return isOwner && !owners.some((owner) => owner.userId !== userId && owner.isOpen);
}
