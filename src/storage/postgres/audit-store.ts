import type { AuditStore } from "../../core/audit/audit-store.ts";
import { type ChainEnd, chainEntry, EMPTY_CHAIN } from "../../core/audit/chain.ts";
import { type AuditDraft, type AuditEntry, markUnknown } from "../../core/audit/records.ts";
import type { Postgres, SqlRunner } from "./client.ts";
import { readInteger } from "./values.ts";

interface AuditRow {
  place: string;
  at: string;
  key_id: string | null;
  user_id: string | null;
  action: string;
  account_id: string | null;
  target: string | null;
  request_id: string | null;
  changes: string;
  previous_hash: string;
  hash: string;
}

/** The audit log in PostgreSQL. A trigger prevents that entries are changed or deleted. */
export class PostgresAuditStore implements AuditStore {
  constructor(private readonly database: Postgres) {}

  async appendAudit(draft: AuditDraft) {
    return this.database.transaction(async (sql) => {
      const entry = chainEntry(storable(draft), await lockChain(sql));
      await insertEntry(sql, entry);
      return entry;
    });
  }

  async beginChange(draft: AuditDraft, gatewayId: string) {
    const [row] = await this.database.run<{ id: string }>(
      "INSERT INTO begun_changes (owner, draft) VALUES ($1, $2) RETURNING id",
      [gatewayId, JSON.stringify(draft)],
    );
    return readInteger(row?.id ?? "");
  }

  async commitChange(id: number, drafts: readonly AuditDraft[]) {
    await this.database.transaction(async (sql) => {
      await appendAll(sql, drafts);
      await deleteChange(sql, id);
    });
  }

  async abortChange(id: number) {
    await deleteChange(this.database, id);
  }

  async settleChanges(gatewayId: string) {
    return this.database.transaction(async (sql) => {
      const begun = await sql.run<{ id: string; draft: string }>(SETTLE, [gatewayId]);
      const inOrder = [...begun].sort((a, b) => readInteger(a.id) - readInteger(b.id));
      await appendAll(
        sql,
        inOrder.map(({ draft }) => markUnknown(JSON.parse(draft) as AuditDraft)),
      );
      return begun.length;
    });
  }

  async listAudit(accountId: string | null, beforePlace: number, limit: number) {
    const rows = await this.database.run<AuditRow>(
      `SELECT * FROM audit_log WHERE ($1::text IS NULL OR account_id = $1) AND place < $2
       ORDER BY place DESC LIMIT $3`,
      [accountId, beforePlace, limit],
    );
    return rows.map(readRow);
  }

  async readAudit(afterPlace: number, limit: number) {
    const rows = await this.database.run<AuditRow>(
      "SELECT * FROM audit_log WHERE place > $1 ORDER BY place LIMIT $2",
      [afterPlace, limit],
    );
    return rows.map(readRow);
  }
}

/** Changes of a gateway, and changes that no request can still be making, whichever gateway began them. */
const SETTLE = `DELETE FROM begun_changes
  WHERE owner = $1 OR begun_at < clock_timestamp() - interval '1 hour' RETURNING id, draft`;

/** Chains entries to the last one, in a transaction of the caller. */
async function appendAll(sql: SqlRunner, drafts: readonly AuditDraft[]): Promise<void> {
  if (drafts.length === 0) return;
  let end = await lockChain(sql);
  for (const draft of drafts) {
    const entry = chainEntry(storable(draft), end);
    await insertEntry(sql, entry);
    end = entry;
  }
}

/** Returns the end of the chain, to which no other process appends until the transaction ends. */
async function lockChain(sql: SqlRunner): Promise<ChainEnd> {
  await sql.run("SELECT FROM audit_lock FOR UPDATE");
  const [last] = await sql.run<{ place: string; hash: string }>(
    "SELECT place, hash FROM audit_log ORDER BY place DESC LIMIT 1",
  );
  return last === undefined ? EMPTY_CHAIN : { place: readInteger(last.place), hash: last.hash };
}

/** Returns a draft as it is stored: its hash must be that of what is read back. `changes` is stored as JSON, which escapes U+0000. */
function storable(draft: AuditDraft): AuditDraft {
  const { keyId, userId, action, accountId, target, requestId } = draft;
  const texts = Object.entries({ keyId, userId, action, accountId, target, requestId });
  const stored = texts.map(([name, text]) => [name, text?.replaceAll("\0", "\ufffd") ?? null]);
  return { ...draft, ...Object.fromEntries(stored) };
}

async function insertEntry(sql: SqlRunner, entry: AuditEntry): Promise<void> {
  const { place, at, keyId, userId, action, accountId, target, requestId, changes, previousHash, hash } =
    entry;
  await sql.run(
    `INSERT INTO audit_log
       (place, at, key_id, user_id, action, account_id, target, request_id, changes, previous_hash, hash)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      ...[place, at, keyId, userId, action, accountId, target, requestId],
      ...[JSON.stringify(changes), previousHash, hash],
    ],
  );
}

async function deleteChange(sql: SqlRunner, id: number): Promise<void> {
  await sql.run("DELETE FROM begun_changes WHERE id = $1", [id]);
}

function readRow(row: AuditRow): AuditEntry {
  return {
    place: readInteger(row.place),
    at: readInteger(row.at),
    keyId: row.key_id,
    userId: row.user_id,
    action: row.action,
    accountId: row.account_id,
    target: row.target,
    requestId: row.request_id,
    changes: JSON.parse(row.changes) as Record<string, unknown>,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}
