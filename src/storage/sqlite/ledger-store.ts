import type { Database } from "bun:sqlite";
import type { Transfer } from "../../core/ledger/records.ts";
import type { LedgerStore, SpendQuery, StoredTransfer } from "../../core/ports/ledger-store.ts";
import { prepareTransfers } from "./transfers.ts";

interface TransferRow {
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

/** The ledger in SQLite. */
export function createSqliteLedgerStore(database: Database): LedgerStore {
  const transfers = prepareTransfers(database);
  const byId = database.query<TransferRow, [string]>("SELECT * FROM transfers WHERE id = ?");
  const balance = database.query<{ amount: number }, [string]>(
    "SELECT amount FROM balances WHERE account_id = ?",
  );
  const newest = database.query<{ place: number | null }, []>(
    "SELECT max(place) AS place FROM transfers WHERE kind <> 'usage'",
  );
  const deposits = database.query<TransferRow, [number, number]>(
    "SELECT * FROM transfers WHERE kind <> 'usage' AND place > ? ORDER BY place LIMIT ?",
  );
  const ofAccount = database.query<TransferRow, [string, string, number, number]>(
    `SELECT * FROM (
       SELECT * FROM transfers WHERE from_account = ?1 AND place < ?3
       UNION ALL SELECT * FROM transfers WHERE to_account = ?2 AND place < ?3
     ) ORDER BY place DESC LIMIT ?4`,
  );
  const spending = database.query<{ spent: number }, SpendParameters>(
    `SELECT coalesce(sum(cost), 0) AS spent FROM generations
     WHERE finished_at >= $since AND ($keyId IS NULL OR key_id = $keyId)
       AND ($accountId IS NULL OR account_id = $accountId) AND ($userId IS NULL OR user_id = $userId)`,
  );
  const differences = database.query<{ account_id: string; difference: number }, []>(
    `SELECT account_id, sum(amount) AS difference FROM (
       SELECT to_account AS account_id, amount FROM transfers
       UNION ALL SELECT from_account, -amount FROM transfers
       UNION ALL SELECT account_id, -amount FROM balances
     ) GROUP BY account_id HAVING sum(amount) <> 0`,
  );
  const add = database.transaction((transfer: Transfer) => transfers.add([transfer]) === 1);
  const read = database.transaction((accountId: string) => ({
    balance: balance.get(accountId)?.amount ?? 0,
    depositPlace: newest.get()?.place ?? 0,
  }));

  return {
    async addTransfer(transfer) {
      return add.immediate(transfer);
    },
    async findTransfer(id) {
      const row = byId.get(id);
      return row === null ? null : readRow(row);
    },
    async findBalance(accountId) {
      return read(accountId);
    },
    async listDeposits(afterPlace, limit) {
      return deposits.all(afterPlace, limit).map(readRow);
    },
    async listTransfers(accountId, beforePlace, limit) {
      return ofAccount.all(accountId, accountId, beforePlace, limit).map(readRow);
    },
    async sumSpending(query) {
      return spending.get(describeQuery(query))?.spent ?? 0;
    },
    async findDifferences() {
      return differences.all().map(({ account_id, difference }) => ({ accountId: account_id, difference }));
    },
  };
}

type SpendParameters = { [Name in keyof Required<SpendQuery>]: Required<SpendQuery>[Name] | null };

function describeQuery({ keyId, accountId, userId, since }: SpendQuery): SpendParameters {
  return { keyId: keyId ?? null, accountId: accountId ?? null, userId: userId ?? null, since };
}

function readRow(row: TransferRow): StoredTransfer {
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
