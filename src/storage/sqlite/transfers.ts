import type { Database } from "bun:sqlite";
import type { StoredTransfer } from "../../core/ledger/ledger-store.ts";
import type { Transfer } from "../../core/ledger/records.ts";

/** A row of the table `transfers`. */
export interface TransferRow {
  place: number;
  id: string;
  kind: Transfer["kind"];
  from_account: string;
  to_account: string;
  amount: number;
  created_at: number;
  note: string | null;
  expires_at: number | null;
}

/** A row as a transfer. */
export function readTransfer(row: TransferRow): StoredTransfer {
  return {
    place: row.place,
    id: row.id,
    kind: row.kind,
    from: row.from_account,
    to: row.to_account,
    amount: row.amount,
    createdAt: row.created_at,
    note: row.note,
    expiresAt: row.expires_at,
  };
}

/** Writes transfers within a transaction that the caller has opened. */
export interface TransferWriter {
  /** Writes those whose id is new and moves their balances; gives how many there were. */
  add(transfers: readonly Transfer[]): number;
}

/** The statements by which transfers are written, with generations or alone. */
export function prepareTransfers(database: Database): TransferWriter {
  const insert = database.query(
    `INSERT INTO transfers (id, kind, from_account, to_account, amount, created_at, note, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
  );
  const limit = database.query(
    "INSERT INTO limited_grants (id, account_id, place, expires_at) VALUES (?, ?, ?, ?)",
  );
  const move = database.query(
    `INSERT INTO balances (account_id, amount) VALUES (?, ?)
     ON CONFLICT (account_id) DO UPDATE SET amount = amount + excluded.amount`,
  );
  return {
    add(transfers) {
      /** One change an account, however many transfers. */
      const changes = new Map<string, number>();
      let added = 0;
      for (const { id, kind, from, to, amount, createdAt, note, expiresAt } of transfers) {
        const written = insert.run(id, kind, from, to, amount, createdAt, note, expiresAt);
        if (written.changes === 0) continue;
        added += 1;
        if (expiresAt !== null) limit.run(id, to, written.lastInsertRowid, expiresAt);
        changes.set(from, (changes.get(from) ?? 0) - amount);
        changes.set(to, (changes.get(to) ?? 0) + amount);
      }
      for (const [accountId, change] of changes) move.run(accountId, change);
      return added;
    },
  };
}
