import type { Database } from "bun:sqlite";
import type { AuditStore } from "../../core/audit/audit-store.ts";
import { type ChainEnd, chainEntry, EMPTY_CHAIN } from "../../core/audit/chain.ts";
import { type AuditDraft, type AuditEntry, markUnknown } from "../../core/audit/records.ts";

interface AuditRow {
  place: number;
  at: number;
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

/** The audit log in SQLite. Triggers prevent that entries are changed or deleted. All changes are of one gateway. */
export class SqliteAuditStore implements AuditStore {
  constructor(private readonly database: Database) {}

  async appendAudit(draft: AuditDraft) {
    return this.inTransaction(() => this.append(draft));
  }

  async beginChange(draft: AuditDraft) {
    const insert = this.database.query("INSERT INTO announced_changes (draft) VALUES (?)");
    return Number(insert.run(JSON.stringify(draft)).lastInsertRowid);
  }

  async commitChange(id: number, drafts: readonly AuditDraft[]) {
    this.inTransaction(() => {
      for (const draft of drafts) this.append(draft);
      this.deleteChange(id);
    });
  }

  async abortChange(id: number) {
    this.deleteChange(id);
  }

  async settleChanges() {
    return this.inTransaction(() => {
      const begun = this.database
        .query<{ note: number; draft: string }, []>("SELECT note, draft FROM announced_changes ORDER BY note")
        .all();
      for (const { note, draft } of begun) {
        this.append(markUnknown(JSON.parse(draft) as AuditDraft));
        this.deleteChange(note);
      }
      return begun.length;
    });
  }

  async listAudit(accountId: string | null, beforePlace: number, limit: number) {
    const rows =
      accountId === null
        ? this.database
            .query<AuditRow, [number, number]>(
              "SELECT * FROM audit_log WHERE place < ? ORDER BY place DESC LIMIT ?",
            )
            .all(beforePlace, limit)
        : this.database
            .query<AuditRow, [string, number, number]>(
              "SELECT * FROM audit_log WHERE account_id = ? AND place < ? ORDER BY place DESC LIMIT ?",
            )
            .all(accountId, beforePlace, limit);
    return rows.map(readRow);
  }

  async readAudit(afterPlace: number, limit: number) {
    const rows = this.database.query<AuditRow, [number, number]>(
      "SELECT * FROM audit_log WHERE place > ? ORDER BY place LIMIT ?",
    );
    return rows.all(afterPlace, limit).map(readRow);
  }

  /** Chains an entry to the last one, in a transaction of the caller. */
  private append(draft: AuditDraft): AuditEntry {
    const last = this.database
      .query<ChainEnd, []>("SELECT place, hash FROM audit_log ORDER BY place DESC LIMIT 1")
      .get();
    const entry = chainEntry(draft, last ?? EMPTY_CHAIN);
    this.database.query(INSERT_ENTRY).run({ ...entry, changes: JSON.stringify(entry.changes) });
    return entry;
  }

  private deleteChange(id: number): void {
    this.database.query("DELETE FROM announced_changes WHERE note = ?").run(id);
  }

  /** Begins with the write lock, so that no other process chains an entry to the same last one. */
  private inTransaction<Result>(work: () => Result): Result {
    return this.database.transaction(work).immediate();
  }
}

const INSERT_ENTRY = `INSERT INTO audit_log
    (place, at, key_id, user_id, action, account_id, target, request_id, changes, previous_hash, hash)
  VALUES ($place, $at, $keyId, $userId, $action, $accountId, $target, $requestId, $changes, $previousHash, $hash)`;

function readRow(row: AuditRow): AuditEntry {
  return {
    place: row.place,
    at: row.at,
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
