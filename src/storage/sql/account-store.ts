import type { RateLimit } from "../../core/accounts/fields/rate-limit.ts";
import { isLastOwner } from "../../core/accounts/records/owners.ts";
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
  MemberRemoval,
  OwnerVerdict,
  UniqueVerdict,
} from "../../core/accounts/stores/account-store.ts";
import { findNames } from "./find-names.ts";
import type { SqlDatabase, SqlTraits } from "./statements/database.ts";
import { requireKnown } from "./statements/require-known.ts";
import { Revision, raiseRevision } from "./statements/revision.ts";
import { type Sql, sql, type Work, where } from "./statements/statement.ts";
import {
  encodeNullableJson,
  type Integer,
  readInteger,
  readNullableInteger,
  readNullableJson,
} from "./statements/values.ts";

interface AccountRow {
  id: string;
  kind: AccountRecord["kind"];
  name: string;
  overdraft: Integer | null;
  monthly_limit: Integer | null;
  policy: string;
  rate_limit: string | null;
  plan: string | null;
  email: string | null;
  external_id: string | null;
  created_at: Integer;
  closed_at: Integer | null;
}

interface MemberRow {
  organization_id: string;
  user_id: string;
  role: MemberRecord["role"];
  daily_limit: Integer | null;
  created_at: Integer;
}

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
    return readFirst(await this.database.run(selectAccount(id)));
  }

  findAccountNames(ids: readonly string[]) {
    return findNames(this.database, "accounts", ids);
  }

  async listAccounts({ kind, email, externalId, alias, afterId, limit }: AccountQuery) {
    const conditions = where(
      kind === undefined ? null : sql`kind = ${kind}`,
      email === undefined ? null : sql`email = ${email}`,
      externalId === undefined ? null : sql`external_id = ${externalId}`,
      alias === undefined ? null : matchAlias(alias),
      afterId == null ? null : sql`id < ${afterId}`,
    );
    const rows = await this.database.run(
      sql<AccountRow>`SELECT * FROM accounts ${conditions} ORDER BY id DESC LIMIT ${limit}`,
    );
    return rows.map(readAccount);
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

  listMembers(organizationId: string, afterUserId: string | null, limit: number) {
    return this.readMembers(
      sql`WHERE organization_id = ${organizationId} AND user_id > ${afterUserId ?? ""}
        ORDER BY user_id LIMIT ${limit}`,
    );
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
    return (await this.database.run(sql<MemberRow>`SELECT * FROM members ${rest}`)).map(readMember);
  }
}

function isDone(verdict: AccountChange["verdict"] | OwnerVerdict): boolean {
  return verdict === "done";
}

/** An account is called by its name, its e-mail address, which is stored in lower case, or its external id. */
function matchAlias(alias: string): Sql {
  return sql`(email = ${alias.toLowerCase()} OR external_id = ${alias} OR lower(name) = lower(${alias}::text))`;
}

function selectAccount(id: string): Sql<AccountRow> {
  return sql`SELECT * FROM accounts WHERE id = ${id}`;
}

function* insertAccount(
  traits: SqlTraits,
  account: AccountRecord,
  owner: MemberRecord | undefined,
): Work<UniqueVerdict> {
  const verdict = yield* checkUnique(account);
  if (verdict !== "done") return verdict;
  yield* requireKnown(traits, "account", null, account);
  yield* sql`INSERT INTO accounts
      (id, kind, name, email, external_id, overdraft, monthly_limit, policy, rate_limit, plan, created_at, closed_at)
    VALUES (${account.id}, ${account.kind}, ${account.name}, ${account.email}, ${account.externalId},
      ${account.overdraft}, ${account.monthlyLimit}, ${JSON.stringify(account.policy)},
      ${encodeNullableJson(account.rateLimit)}, ${account.plan}, ${account.createdAt}, ${account.closedAt})`;
  if (owner !== undefined) yield* writeMember(owner);
  return verdict;
}

function* changeAccount(
  traits: SqlTraits,
  id: string,
  change: (account: AccountRecord) => AccountRecord,
): Work<AccountChange> {
  const before = readFirst(yield* selectAccount(id));
  if (before === null) return { verdict: "unknown", account: null };
  const after = change(before);
  const closes = before.closedAt === null && after.closedAt !== null;
  if (closes && (yield* isOnlyOwner(id))) return { verdict: "last_owner", account: before };
  const verdict = yield* checkUnique(after);
  if (verdict !== "done") return { verdict, account: before };
  yield* requireKnown(traits, "account", before, after);
  yield* sql`UPDATE accounts SET name = ${after.name}, email = ${after.email}, external_id = ${after.externalId},
      overdraft = ${after.overdraft}, monthly_limit = ${after.monthlyLimit},
      policy = ${JSON.stringify(after.policy)}, rate_limit = ${encodeNullableJson(after.rateLimit)},
      plan = ${after.plan}, closed_at = ${after.closedAt}
    WHERE id = ${id}`;
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

function writeMember({ organizationId, userId, role, dailyLimit, createdAt }: MemberRecord): Sql {
  return sql`INSERT INTO members (organization_id, user_id, role, daily_limit, created_at)
    VALUES (${organizationId}, ${userId}, ${role}, ${dailyLimit}, ${createdAt})
    ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role, daily_limit = excluded.daily_limit`;
}

function* removeMember(traits: SqlTraits, { organizationId, userId, at }: MemberEnd): Work<MemberRemoval> {
  if (isLastOwner(yield* listOwners(organizationId), userId)) return { verdict: "last_owner", revoked: [] };
  const removed = yield* sql`DELETE FROM members
    WHERE organization_id = ${organizationId} AND user_id = ${userId} RETURNING user_id`;
  if (removed.length === 0) return { verdict: "unknown", revoked: [] };
  const revoked = yield* sql<{ hash: string }>`UPDATE api_keys SET revoked_at = ${at}::bigint
    WHERE account_id = ${organizationId} AND user_id = ${userId} AND revoked_at IS NULL RETURNING hash`;
  if (revoked.length > 0) yield* raiseRevision(traits, "keys");
  return { verdict: "done", revoked };
}

function* listOwners(organizationId: string): Work<Parameters<typeof isLastOwner>[0]> {
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

function readFirst([row]: readonly AccountRow[]): AccountRecord | null {
  return row === undefined ? null : readAccount(row);
}

function readAccount(row: AccountRow): AccountRecord {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    email: row.email,
    externalId: row.external_id,
    overdraft: readNullableInteger(row.overdraft),
    monthlyLimit: readNullableInteger(row.monthly_limit),
    policy: { ...OPEN_POLICY, ...(JSON.parse(row.policy) as Partial<Policy>) },
    rateLimit: readNullableJson<RateLimit>(row.rate_limit),
    plan: row.plan,
    createdAt: readInteger(row.created_at),
    closedAt: readNullableInteger(row.closed_at),
  };
}

function readMember(row: MemberRow): MemberRecord {
  return {
    organizationId: row.organization_id,
    userId: row.user_id,
    role: row.role,
    dailyLimit: readNullableInteger(row.daily_limit),
    createdAt: readInteger(row.created_at),
  };
}
