import type { Database } from "bun:sqlite";
import {
  type AccountRecord,
  type MemberRecord,
  OPEN_POLICY,
  type Policy,
} from "../../core/accounts/records.ts";
import type { AccountStore } from "../../core/ports/account-store.ts";

interface AccountRow {
  id: string;
  kind: AccountRecord["kind"];
  name: string;
  overdraft: number | null;
  monthly_limit: number | null;
  policy: string;
  created_at: number;
  closed_at: number | null;
}

interface MemberRow {
  organization_id: string;
  user_id: string;
  role: MemberRecord["role"];
  daily_limit: number | null;
  created_at: number;
}

/** Accounts and members in SQLite. Every change raises the revision in the same transaction. */
export function createSqliteAccountStore(database: Database): AccountStore {
  const insert = database.query(
    `INSERT INTO accounts (id, kind, name, overdraft, monthly_limit, policy, created_at, closed_at)
     VALUES ($id, $kind, $name, $overdraft, $monthlyLimit, $policy, $createdAt, $closedAt)`,
  );
  const update = database.query(
    `UPDATE accounts SET name = $name, overdraft = $overdraft, monthly_limit = $monthlyLimit, policy = $policy,
     closed_at = $closedAt WHERE id = $id`,
  );
  const byId = database.query<AccountRow, [string]>("SELECT * FROM accounts WHERE id = ?");
  const page = database.query<AccountRow, { kind: string; afterId: string | null; limit: number }>(
    `SELECT * FROM accounts WHERE kind = $kind AND ($afterId IS NULL OR id < $afterId)
     ORDER BY id DESC LIMIT $limit`,
  );
  const put = database.query(
    `INSERT INTO members (organization_id, user_id, role, daily_limit, created_at)
     VALUES ($organizationId, $userId, $role, $dailyLimit, $createdAt)
     ON CONFLICT DO UPDATE SET role = excluded.role, daily_limit = excluded.daily_limit`,
  );
  const remove = database.query("DELETE FROM members WHERE organization_id = ? AND user_id = ?");
  const member = database.query<MemberRow, [string, string]>(
    "SELECT * FROM members WHERE organization_id = ? AND user_id = ?",
  );
  const members = database.query<MemberRow, [string]>(
    "SELECT * FROM members WHERE organization_id = ? ORDER BY created_at, user_id",
  );
  const memberships = database.query<MemberRow, [string]>(
    "SELECT * FROM members WHERE user_id = ? ORDER BY created_at, organization_id",
  );
  const revision = database.query<{ value: string }, []>(
    "SELECT value FROM settings WHERE name = 'account_revision'",
  );
  const raise = database.query("UPDATE settings SET value = value + 1 WHERE name = 'account_revision'");
  /** A change and the revision that tells of it, or neither. */
  const change = database.transaction((make: () => number) => {
    const changes = make();
    if (changes > 0) raise.run();
    return changes > 0;
  });

  return {
    async insertAccount(account) {
      change(() => insert.run(encodeAccount(account)).changes);
    },
    async updateAccount({ kind: _, createdAt: __, ...account }) {
      return change(() => update.run({ ...account, policy: JSON.stringify(account.policy) }).changes);
    },
    async findAccount(id) {
      const row = byId.get(id);
      return row === null ? null : readAccount(row);
    },
    async listAccounts(kind, afterId, limit) {
      return page.all({ kind, afterId, limit }).map(readAccount);
    },
    async putMember(record) {
      change(() => put.run({ ...record }).changes);
    },
    async removeMember(organizationId, userId) {
      return change(() => remove.run(organizationId, userId).changes);
    },
    async findMember(organizationId, userId) {
      const row = member.get(organizationId, userId);
      return row === null ? null : readMember(row);
    },
    async listMembers(organizationId) {
      return members.all(organizationId).map(readMember);
    },
    async listMemberships(userId) {
      return memberships.all(userId).map(readMember);
    },
    async accountRevision() {
      return Number(revision.get()?.value);
    },
  };
}

function encodeAccount(account: AccountRecord) {
  return { ...account, policy: JSON.stringify(account.policy) };
}

function readAccount(row: AccountRow): AccountRecord {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    overdraft: row.overdraft,
    monthlyLimit: row.monthly_limit,
    policy: { ...OPEN_POLICY, ...(JSON.parse(row.policy) as Partial<Policy>) },
    createdAt: row.created_at,
    closedAt: row.closed_at,
  };
}

function readMember(row: MemberRow): MemberRecord {
  return {
    organizationId: row.organization_id,
    userId: row.user_id,
    role: row.role,
    dailyLimit: row.daily_limit,
    createdAt: row.created_at,
  };
}
