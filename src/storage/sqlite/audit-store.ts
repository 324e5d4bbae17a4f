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

/** The audit log in SQLite. Triggers keep what stands there from being changed or taken back. */
export function createSqliteAuditStore(database: Database): AuditStore {
  const insert = database.query(
    `INSERT INTO audit_log
       (place, at, key_id, user_id, action, account_id, target, request_id, changes, previous_hash, hash)
     VALUES ($place, $at, $keyId, $userId, $action, $accountId, $target, $requestId, $changes, $previousHash, $hash)`,
  );
  const last = database.query<ChainEnd, []>("SELECT place, hash FROM audit_log ORDER BY place DESC LIMIT 1");
  const all = database.query<AuditRow, [number, number]>(
    "SELECT * FROM audit_log WHERE place < ? ORDER BY place DESC LIMIT ?",
  );
  const ofAccount = database.query<AuditRow, [string, number, number]>(
    "SELECT * FROM audit_log WHERE account_id = ? AND place < ? ORDER BY place DESC LIMIT ?",
  );
  const behind = database.query<AuditRow, [number, number]>(
    "SELECT * FROM audit_log WHERE place > ? ORDER BY place LIMIT ?",
  );
  const announce = database.query("INSERT INTO announced_changes (draft) VALUES (?)");
  const forget = database.query("DELETE FROM announced_changes WHERE note = ?");
  const announced = database.query<{ note: number; draft: string }, []>(
    "SELECT note, draft FROM announced_changes ORDER BY note",
  );
  const chain = (draft: AuditDraft): AuditEntry => {
    const entry = chainEntry(draft, last.get() ?? EMPTY_CHAIN);
    insert.run({ ...entry, changes: JSON.stringify(entry.changes) });
    return entry;
  };
  const append = database.transaction(chain);
  const fulfil = database.transaction((note: number, drafts: readonly AuditDraft[]) => {
    for (const draft of drafts) chain(draft);
    forget.run(note);
  });
  const settle = database.transaction(() => {
    const left = announced.all();
    for (const { note, draft } of left) {
      chain(markUnknown(JSON.parse(draft) as AuditDraft));
      forget.run(note);
    }
    return left.length;
  });

  return {
    async appendAudit(draft) {
      // Immediate: no other process may go on from the same end.
      return append.immediate(draft);
    },
    async beginChange(draft) {
      return Number(announce.run(JSON.stringify(draft)).lastInsertRowid);
    },
    async commitChange(note, drafts) {
      fulfil.immediate(note, drafts);
    },
    async abortChange(note) {
      forget.run(note);
    },
    async settleChanges() {
      return settle.immediate();
    },
    async listAudit(accountId, beforePlace, limit) {
      const rows =
        accountId === null ? all.all(beforePlace, limit) : ofAccount.all(accountId, beforePlace, limit);
      return rows.map(readRow);
    },
    async readAudit(afterPlace, limit) {
      return behind.all(afterPlace, limit).map(readRow);
    },
  };
}

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
