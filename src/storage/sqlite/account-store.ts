import type { Database } from "bun:sqlite";
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
import { describeConditions } from "./describe-conditions.ts";
import { findNames } from "./find-names.ts";
import { Revision } from "./revision.ts";

interface AccountRow {
  id: string;
  kind: AccountRecord["kind"];
  name: string;
  overdraft: number | null;
  monthly_limit: number | null;
  policy: string;
  rate_limit: string | null;
  plan: string | null;
  email: string | null;
  external_id: string | null;
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

type AccountChange = Awaited<ReturnType<AccountStore["changeAccount"]>>;

/** Accounts and members in SQLite. Every change raises the revision in the same transaction. */
export class SqliteAccountStore implements AccountStore {
  private readonly revision: Revision;
  private readonly keyRevision: Revision;
  private readonly byId;
  private readonly member;
  private readonly memberships;

  constructor(private readonly database: Database) {
    this.revision = new Revision(database, "account_revision");
    this.keyRevision = new Revision(database, "key_revision");
    this.byId = database.query<AccountRow, [string]>("SELECT * FROM accounts WHERE id = ?");
    this.member = database.query<MemberRow, [string, string]>(
      "SELECT * FROM members WHERE organization_id = ? AND user_id = ?",
    );
    this.memberships = database.query<MemberRow, [string]>(
      "SELECT * FROM members WHERE user_id = ? ORDER BY created_at, organization_id",
    );
  }

  async insertAccount(account: AccountRecord, owner?: MemberRecord): Promise<UniqueVerdict> {
    return this.inTransaction(() => {
      const verdict = this.checkUnique(account);
      if (verdict !== "done") return verdict;
      this.database.query(INSERT_ACCOUNT).run(encodeAccount(account));
      if (owner !== undefined) this.writeMember(owner);
      this.revision.raise();
      return verdict;
    });
  }

  async changeAccount(id: string, change: (account: AccountRecord) => AccountRecord): Promise<AccountChange> {
    return this.inTransaction(() => {
      const row = this.byId.get(id);
      if (row === null) return { verdict: "unknown", account: null };
      const before = readAccount(row);
      const after = change(before);
      const closes = before.closedAt === null && after.closedAt !== null;
      if (closes && this.ownsAlone(id)) return { verdict: "last_owner", account: before };
      const verdict = this.checkUnique(after);
      if (verdict !== "done") return { verdict, account: before };
      const { kind: _, createdAt: __, ...fields } = encodeAccount(after);
      this.database.query(UPDATE_ACCOUNT).run(fields);
      this.revision.raise();
      return { verdict: "done", account: after };
    });
  }

  async findAccount(id: string) {
    const row = this.byId.get(id);
    return row === null ? null : readAccount(row);
  }

  async findAccountNames(ids: readonly string[]) {
    return findNames(this.database, "accounts", ids);
  }

  async listAccounts({ kind, email, externalId, alias, afterId, limit }: AccountQuery) {
    const { where, values } = describeConditions({
      "kind = $kind": kind,
      "email = $email": email,
      "external_id = $externalId": externalId,
      "(email = lower($alias) OR external_id = $alias OR lower(name) = lower($alias))": alias,
      "id < $afterId": afterId,
    });
    const page = this.database.query<AccountRow, Record<string, string | number>>(
      `SELECT * FROM accounts ${where} ORDER BY id DESC LIMIT $limit`,
    );
    return page.all({ ...values, limit }).map(readAccount);
  }

  async putMember(record: MemberRecord): Promise<Exclude<OwnerVerdict, "unknown">> {
    return this.inTransaction(() => {
      const { organizationId, userId, role } = record;
      if (role !== "owner" && this.isLastOwner(organizationId, userId)) return "last_owner";
      this.writeMember(record);
      this.revision.raise();
      return "done";
    });
  }

  async removeMember({ organizationId, userId, at }: MemberEnd): Promise<MemberRemoval> {
    return this.inTransaction((): MemberRemoval => {
      if (this.isLastOwner(organizationId, userId)) return { verdict: "last_owner", revoked: [] };
      const remove = this.database.query("DELETE FROM members WHERE organization_id = ? AND user_id = ?");
      if (remove.run(organizationId, userId).changes === 0) return { verdict: "unknown", revoked: [] };
      this.revision.raise();
      const revoked = this.database.query<{ hash: string }, [number, string, string]>(REVOKE_KEYS);
      const keys = revoked.all(at, organizationId, userId);
      if (keys.length > 0) this.keyRevision.raise();
      return { verdict: "done", revoked: keys };
    });
  }

  async findMember(organizationId: string, userId: string) {
    const row = this.member.get(organizationId, userId);
    return row === null ? null : readMember(row);
  }

  async listMembers(organizationId: string, afterUserId: string | null, limit: number) {
    const page = this.database.query<MemberRow, [string, string, number]>(
      "SELECT * FROM members WHERE organization_id = ? AND user_id > ? ORDER BY user_id LIMIT ?",
    );
    return page.all(organizationId, afterUserId ?? "", limit).map(readMember);
  }

  async listMemberships(userId: string) {
    return this.memberships.all(userId).map(readMember);
  }

  async accountRevision() {
    return this.revision.read();
  }

  /** Begins with the write lock, so that no other process changes what the work reads. */
  private inTransaction<Result>(work: () => Result): Result {
    return this.database.transaction(work).immediate();
  }

  /** Returns whether no other account has the e-mail or the external id of an account. */
  private checkUnique({ id, email, externalId }: AccountRecord): UniqueVerdict {
    const other = this.database.query<{ isEmail: number }, Record<string, string | null>>(
      `SELECT email IS $email AS isEmail FROM accounts
       WHERE (email = $email OR external_id = $externalId) AND id <> $id ORDER BY isEmail DESC LIMIT 1`,
    );
    const found = other.get({ id, email, externalId });
    if (found === null) return "done";
    return email !== null && found.isEmail === 1 ? "email_taken" : "external_id_taken";
  }

  private writeMember(record: MemberRecord): void {
    const put = this.database.query(
      `INSERT INTO members (organization_id, user_id, role, daily_limit, created_at)
       VALUES ($organizationId, $userId, $role, $dailyLimit, $createdAt)
       ON CONFLICT DO UPDATE SET role = excluded.role, daily_limit = excluded.daily_limit`,
    );
    put.run({ ...record });
  }

  private isLastOwner(organizationId: string, userId: string): boolean {
    const owners = this.database.query<{ userId: string; isOpen: number }, [string]>(
      `SELECT user_id AS userId, accounts.id IS NOT NULL AND closed_at IS NULL AS isOpen
       FROM members LEFT JOIN accounts ON accounts.id = user_id
       WHERE organization_id = ? AND role = 'owner'`,
    );
    const found = owners.all(organizationId).map((owner) => ({ ...owner, isOpen: owner.isOpen === 1 }));
    return isLastOwner(found, userId);
  }

  /** Returns whether a user is the last owner of an organization that is not closed. */
  private ownsAlone(userId: string): boolean {
    return this.memberships
      .all(userId)
      .some(
        ({ organization_id: id }) => this.byId.get(id)?.closed_at === null && this.isLastOwner(id, userId),
      );
  }
}

const REVOKE_KEYS = `UPDATE api_keys SET revoked_at = ?1
  WHERE account_id = ?2 AND user_id = ?3 AND revoked_at IS NULL RETURNING hash`;

const INSERT_ACCOUNT = `INSERT INTO accounts
    (id, kind, name, email, external_id, overdraft, monthly_limit, policy, rate_limit, plan, created_at, closed_at)
  VALUES ($id, $kind, $name, $email, $externalId, $overdraft, $monthlyLimit, $policy, $rateLimit, $plan, $createdAt,
    $closedAt)`;

const UPDATE_ACCOUNT = `UPDATE accounts SET name = $name, email = $email, external_id = $externalId, overdraft = $overdraft, monthly_limit = $monthlyLimit,
    policy = $policy, rate_limit = $rateLimit, plan = $plan, closed_at = $closedAt WHERE id = $id`;

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
    email: row.email,
    externalId: row.external_id,
    overdraft: row.overdraft,
    monthlyLimit: row.monthly_limit,
    policy: { ...OPEN_POLICY, ...(JSON.parse(row.policy) as Partial<Policy>) },
    rateLimit: row.rate_limit === null ? null : (JSON.parse(row.rate_limit) as RateLimit),
    plan: row.plan,
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
