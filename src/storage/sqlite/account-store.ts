import type { Database } from "bun:sqlite";
import type { AccountStore, OwnerVerdict } from "../../core/accounts/account-store.ts";
import type { RateLimit } from "../../core/accounts/rate-limit.ts";
import {
  type AccountRecord,
  type MemberRecord,
  OPEN_POLICY,
  type Policy,
} from "../../core/accounts/records.ts";

interface AccountRow {
  id: string;
  kind: AccountRecord["kind"];
  name: string;
  overdraft: number | null;
  monthly_limit: number | null;
  policy: string;
  rate_limit: string | null;
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
    `INSERT INTO accounts (id, kind, name, overdraft, monthly_limit, policy, rate_limit, created_at, closed_at)
     VALUES ($id, $kind, $name, $overdraft, $monthlyLimit, $policy, $rateLimit, $createdAt, $closedAt)`,
  );
  const update = database.query(
    `UPDATE accounts SET name = $name, overdraft = $overdraft, monthly_limit = $monthlyLimit, policy = $policy,
     rate_limit = $rateLimit, closed_at = $closedAt WHERE id = $id`,
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
  const members = database.query<MemberRow, [string, string, number]>(
    "SELECT * FROM members WHERE organization_id = ? AND user_id > ? ORDER BY user_id LIMIT ?",
  );
  const memberships = database.query<MemberRow, [string]>(
    "SELECT * FROM members WHERE user_id = ? ORDER BY created_at, organization_id",
  );
  const revision = database.query<{ value: string }, []>(
    "SELECT value FROM settings WHERE name = 'account_revision'",
  );
  const raise = database.query("UPDATE settings SET value = value + 1 WHERE name = 'account_revision'");
  /** Open organizations, or this one, that nobody would own without a user. */
  const ownedAlone = database.query<{ id: string }, { userId: string; organizationId: string | null }>(
    `SELECT mine.organization_id AS id FROM members AS mine JOIN accounts ON accounts.id = mine.organization_id
     WHERE mine.user_id = $userId AND mine.role = 'owner'
       AND ($organizationId IS NULL AND accounts.closed_at IS NULL OR mine.organization_id = $organizationId)
       AND NOT EXISTS (
         SELECT 1 FROM members AS other JOIN accounts ON accounts.id = other.user_id
         WHERE other.organization_id = mine.organization_id AND other.role = 'owner'
           AND other.user_id <> mine.user_id AND accounts.closed_at IS NULL)
     LIMIT 1`,
  );
  const isNeeded = (userId: string, organizationId: string | null): boolean =>
    ownedAlone.get({ userId, organizationId }) !== null;

  const add = database.transaction((account: AccountRecord, owner: MemberRecord | undefined) => {
    insert.run(encodeAccount(account));
    if (owner !== undefined) put.run({ ...owner });
    raise.run();
  });
  type Change = (account: AccountRecord) => AccountRecord;
  const changeAccount = database.transaction((id: string, change: Change) => {
    const row = byId.get(id);
    if (row === null) return { verdict: "unknown" as const, account: null };
    const before = readAccount(row);
    const after = change(before);
    const closes = before.closedAt === null && after.closedAt !== null;
    if (closes && isNeeded(id, null)) return { verdict: "last_owner" as const, account: before };
    const { name, overdraft, monthlyLimit, policy, rateLimit, closedAt } = encodeAccount(after);
    update.run({ id, name, overdraft, monthlyLimit, policy, rateLimit, closedAt });
    raise.run();
    return { verdict: "done" as const, account: after };
  });
  const changeMember = database.transaction((record: MemberRecord): "done" | "last_owner" => {
    const { organizationId, userId, role } = record;
    if (role !== "owner" && isNeeded(userId, organizationId)) return "last_owner";
    put.run({ ...record });
    raise.run();
    return "done";
  });
  const dropMember = database.transaction((organizationId: string, userId: string): OwnerVerdict => {
    if (isNeeded(userId, organizationId)) return "last_owner";
    if (remove.run(organizationId, userId).changes === 0) return "unknown";
    raise.run();
    return "done";
  });

  return {
    async insertAccount(account, owner) {
      add.immediate(account, owner);
    },
    async changeAccount(id, change) {
      return changeAccount.immediate(id, change);
    },
    async findAccount(id) {
      const row = byId.get(id);
      return row === null ? null : readAccount(row);
    },
    async listAccounts(kind, afterId, limit) {
      return page.all({ kind, afterId, limit }).map(readAccount);
    },
    async putMember(record) {
      return changeMember.immediate(record);
    },
    async removeMember(organizationId, userId) {
      return dropMember.immediate(organizationId, userId);
    },
    async findMember(organizationId, userId) {
      const row = member.get(organizationId, userId);
      return row === null ? null : readMember(row);
    },
    async listMembers(organizationId, afterUserId, limit) {
      return members.all(organizationId, afterUserId ?? "", limit).map(readMember);
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
  const { policy, rateLimit } = account;
  return {
    ...account,
    policy: JSON.stringify(policy),
    rateLimit: rateLimit === null ? null : JSON.stringify(rateLimit),
  };
}

function readAccount(row: AccountRow): AccountRecord {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    overdraft: row.overdraft,
    monthlyLimit: row.monthly_limit,
    policy: { ...OPEN_POLICY, ...(JSON.parse(row.policy) as Partial<Policy>) },
    rateLimit: row.rate_limit === null ? null : (JSON.parse(row.rate_limit) as RateLimit),
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
