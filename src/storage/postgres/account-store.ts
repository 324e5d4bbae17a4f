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
import type { Postgres, SqlRunner } from "./client.ts";
import { findNames } from "./find-names.ts";
import { requireKnown } from "./require-known.ts";
import { type KnownRevisions, Revision } from "./revision.ts";
import { encodeNullableJson, readInteger, readNullableInteger, readNullableJson } from "./values.ts";

interface AccountRow {
  id: string;
  kind: AccountRecord["kind"];
  name: string;
  overdraft: string | null;
  monthly_limit: string | null;
  policy: string;
  rate_limit: string | null;
  plan: string | null;
  email: string | null;
  external_id: string | null;
  created_at: string;
  closed_at: string | null;
}

interface MemberRow {
  organization_id: string;
  user_id: string;
  role: MemberRecord["role"];
  daily_limit: string | null;
  created_at: string;
}

type AccountChange = Awaited<ReturnType<AccountStore["changeAccount"]>>;

/** Accounts and members in PostgreSQL. Every change raises the revision in the same transaction. */
export class PostgresAccountStore implements AccountStore {
  private readonly revision: Revision;

  constructor(
    private readonly database: Postgres,
    revisions?: KnownRevisions,
  ) {
    this.revision = new Revision(database, "accounts", revisions);
  }

  async insertAccount(account: AccountRecord, owner?: MemberRecord): Promise<UniqueVerdict> {
    const { id, kind, createdAt } = account;
    return this.revision.change(async (sql) => {
      const verdict = await checkUnique(sql, account);
      if (verdict !== "done") return verdict;
      await requireKnown(sql, "account", null, account);
      await sql.run(INSERT_ACCOUNT, [id, kind, createdAt, ...encodeSettings(account)]);
      if (owner !== undefined) await writeMember(sql, owner);
      return verdict;
    }, isDone);
  }

  async changeAccount(id: string, change: (account: AccountRecord) => AccountRecord): Promise<AccountChange> {
    return this.revision.change(
      async (sql) => {
        const before = await findAccount(sql, id);
        if (before === null) return { verdict: "unknown", account: null };
        const after = change(before);
        const closes = before.closedAt === null && after.closedAt !== null;
        if (closes && (await ownsAlone(sql, id))) return { verdict: "last_owner", account: before };
        const verdict = await checkUnique(sql, after);
        if (verdict !== "done") return { verdict, account: before };
        await requireKnown(sql, "account", before, after);
        await sql.run(UPDATE_ACCOUNT, [id, ...encodeSettings(after)]);
        return { verdict: "done", account: after };
      },
      ({ verdict }) => verdict === "done",
    );
  }

  findAccount(id: string) {
    return findAccount(this.database, id);
  }

  findAccountNames(ids: readonly string[]) {
    return findNames(this.database, "accounts", ids);
  }

  async listAccounts(query: AccountQuery) {
    const { where, values } = encodeQuery(query);
    const rows = await this.database.run<AccountRow>(
      `SELECT * FROM accounts WHERE ${where} ORDER BY id DESC LIMIT $1`,
      values,
    );
    return rows.map(readAccount);
  }

  async putMember(record: MemberRecord): Promise<Exclude<OwnerVerdict, "unknown">> {
    const { organizationId, userId, role } = record;
    return this.revision.change(async (sql) => {
      if (role !== "owner" && isLastOwner(await listOwners(sql, organizationId), userId)) return "last_owner";
      await writeMember(sql, record);
      return "done";
    }, isDone);
  }

  async removeMember({ organizationId, userId, at }: MemberEnd): Promise<MemberRemoval> {
    const remove = async (sql: SqlRunner): Promise<MemberRemoval> => {
      if (isLastOwner(await listOwners(sql, organizationId), userId))
        return { verdict: "last_owner", revoked: [] };
      const removed = await sql.run(
        "DELETE FROM members WHERE organization_id = $1 AND user_id = $2 RETURNING user_id",
        [organizationId, userId],
      );
      if (removed.length === 0) return { verdict: "unknown", revoked: [] };
      const revoked = await sql.run<{ hash: string }>(REVOKE_KEYS, [organizationId, userId, at]);
      if (revoked.length > 0)
        await sql.run("UPDATE revisions SET revision = revision + 1 WHERE name = 'keys'", []);
      return { verdict: "done", revoked };
    };
    return this.revision.change(remove, ({ verdict }) => verdict === "done");
  }

  async findMember(organizationId: string, userId: string) {
    const [row] = await this.database.run<MemberRow>(
      "SELECT * FROM members WHERE organization_id = $1 AND user_id = $2",
      [organizationId, userId],
    );
    return row === undefined ? null : readMember(row);
  }

  async listMembers(organizationId: string, afterUserId: string | null, limit: number) {
    const rows = await this.database.run<MemberRow>(
      "SELECT * FROM members WHERE organization_id = $1 AND user_id > $2 ORDER BY user_id LIMIT $3",
      [organizationId, afterUserId ?? "", limit],
    );
    return rows.map(readMember);
  }

  async listMemberships(userId: string) {
    const rows = await this.database.run<MemberRow>(
      "SELECT * FROM members WHERE user_id = $1 ORDER BY created_at, organization_id",
      [userId],
    );
    return rows.map(readMember);
  }

  accountRevision() {
    return this.revision.read();
  }

  listChangedAccounts(cursor: string | null) {
    return this.revision.listChanged(cursor);
  }
}

/** Returns the condition of a query, and the parameters of the statement: first the limit (`$1`), then those of the condition. */
function encodeQuery({ kind, email, externalId, alias, afterId, limit }: AccountQuery) {
  const values: (string | number)[] = [limit];
  const bind = (value: string) => `$${values.push(value)}::text`;
  const conditions = ["true"];
  if (kind !== undefined) conditions.push(`kind = ${bind(kind)}`);
  if (email !== undefined) conditions.push(`email = ${bind(email)}`);
  if (externalId !== undefined) conditions.push(`external_id = ${bind(externalId)}`);
  if (alias !== undefined) {
    const text = bind(alias);
    const names = `name = ${text} OR lower(name) = lower(${text})`;
    conditions.push(`(${names} OR external_id = ${text} OR email = ${bind(alias.toLowerCase())})`);
  }
  if (afterId != null) conditions.push(`id < ${bind(afterId)}`);
  return { where: conditions.join(" AND "), values };
}

const REVOKE_KEYS = `UPDATE api_keys SET revoked_at = $3::bigint
  WHERE account_id = $1 AND user_id = $2 AND revoked_at IS NULL RETURNING hash`;

const INSERT_ACCOUNT = `INSERT INTO accounts
    (id, kind, created_at, name, email, external_id, overdraft, monthly_limit, policy, rate_limit, plan, closed_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;

const UPDATE_ACCOUNT = `UPDATE accounts SET name = $2, email = $3, external_id = $4, overdraft = $5, monthly_limit = $6,
    policy = $7, rate_limit = $8, plan = $9, closed_at = $10 WHERE id = $1`;

/** The columns that `changeAccount` may change, in the order of the statements. */
function encodeSettings(account: AccountRecord) {
  return [
    account.name,
    account.email,
    account.externalId,
    account.overdraft,
    account.monthlyLimit,
    JSON.stringify(account.policy),
    encodeNullableJson(account.rateLimit),
    account.plan,
    account.closedAt,
  ] as const;
}

function isDone(verdict: OwnerVerdict | UniqueVerdict): boolean {
  return verdict === "done";
}

async function findAccount(sql: SqlRunner, id: string): Promise<AccountRecord | null> {
  const [row] = await sql.run<AccountRow>("SELECT * FROM accounts WHERE id = $1", [id]);
  return row === undefined ? null : readAccount(row);
}

/** Returns whether no other account has the e-mail or the external id of an account. */
async function checkUnique(sql: SqlRunner, { id, email, externalId }: AccountRecord): Promise<UniqueVerdict> {
  const [other] = await sql.run<{ email: string | null }>(
    `SELECT email FROM accounts WHERE (email = $1::text OR external_id = $2::text) AND id <> $3
     ORDER BY email IS NOT DISTINCT FROM $1::text DESC LIMIT 1`,
    [email, externalId, id],
  );
  if (other === undefined) return "done";
  return email !== null && other.email === email ? "email_taken" : "external_id_taken";
}

async function writeMember(sql: SqlRunner, member: MemberRecord): Promise<void> {
  const { organizationId, userId, role, dailyLimit, createdAt } = member;
  await sql.run(
    `INSERT INTO members (organization_id, user_id, role, daily_limit, created_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role, daily_limit = excluded.daily_limit`,
    [organizationId, userId, role, dailyLimit, createdAt],
  );
}

async function listOwners(sql: SqlRunner, organizationId: string) {
  return sql.run<{ userId: string; isOpen: boolean }>(
    `SELECT user_id AS "userId", accounts.id IS NOT NULL AND closed_at IS NULL AS "isOpen"
     FROM members LEFT JOIN accounts ON accounts.id = user_id
     WHERE organization_id = $1 AND role = 'owner'`,
    [organizationId],
  );
}

/** Returns whether a user is the last owner of an organization that is not closed. */
async function ownsAlone(sql: SqlRunner, userId: string): Promise<boolean> {
  const owned = await sql.run<{ id: string }>(
    `SELECT organization_id AS id FROM members JOIN accounts ON accounts.id = organization_id
     WHERE user_id = $1 AND role = 'owner' AND closed_at IS NULL`,
    [userId],
  );
  for (const { id } of owned) if (isLastOwner(await listOwners(sql, id), userId)) return true;
  return false;
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
