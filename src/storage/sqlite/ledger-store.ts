import type { Database } from "bun:sqlite";
import type { LedgerStore, SpendQuery, SumsByKind, UnmatchedUsage } from "../../core/ledger/ledger-store.ts";
import { TRANSFER_KINDS, type Transfer } from "../../core/ledger/records.ts";
import { prepareGrants } from "./grants.ts";
import { prepareRefunds } from "./refunds.ts";
import { prepareTransfers, readTransfer, type TransferRow } from "./transfers.ts";

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
  // What generations cost goes to the house alone, and is the most there is: it has no index on that side.
  const ofAccount = database.query<TransferRow, [string, string, number, number]>(
    `SELECT * FROM (
       SELECT * FROM transfers WHERE from_account = ?1 AND place < ?3
       UNION ALL SELECT * FROM transfers WHERE to_account = ?2 AND kind <> 'usage' AND place < ?3
     ) ORDER BY place DESC LIMIT ?4`,
  );
  const creditsOfAccount = database.query<TransferRow, [string, string, number, number]>(
    `SELECT * FROM (
       SELECT * FROM transfers WHERE from_account = ?1 AND kind = ?2 AND kind <> 'usage' AND place < ?3
       UNION ALL SELECT * FROM transfers WHERE to_account = ?1 AND kind = ?2 AND kind <> 'usage' AND place < ?3
     ) ORDER BY place DESC LIMIT ?4`,
  );
  const usageOfAccount = database.query<TransferRow, [string, number, number]>(
    `SELECT * FROM transfers WHERE from_account = ?1 AND kind = 'usage' AND place < ?2
     ORDER BY place DESC LIMIT ?3`,
  );
  const creditSums = database.query<{ kind: Transfer["kind"]; amount: number }, [string]>(
    `SELECT kind, sum(amount) AS amount FROM (
       SELECT kind, amount FROM transfers WHERE to_account = ?1 AND kind <> 'usage'
       UNION ALL SELECT kind, -amount FROM transfers WHERE from_account = ?1 AND kind <> 'usage'
     ) GROUP BY kind`,
  );
  const unmatched = database.query<UnmatchedUsage, [number]>(
    `SELECT id AS generationId, sum(recorded) AS recorded, sum(transferred) AS transferred FROM (
       SELECT id, account_id, cost AS recorded, 0 AS transferred FROM generations
         WHERE account_id IS NOT NULL AND cost > 0
       UNION ALL SELECT id, from_account, 0, amount FROM transfers WHERE kind = 'usage'
     ) GROUP BY id, account_id HAVING sum(recorded) <> sum(transferred) LIMIT ?`,
  );
  const differences = database.query<{ account_id: string; difference: number }, []>(
    `SELECT account_id, sum(amount) AS difference FROM (
       SELECT to_account AS account_id, amount FROM transfers
       UNION ALL SELECT from_account, -amount FROM transfers
       UNION ALL SELECT account_id, -amount FROM balances
     ) GROUP BY account_id HAVING sum(amount) <> 0`,
  );
  const grants = prepareGrants(database, transfers);
  const refunds = prepareRefunds(database, transfers);
  const sums = database.transaction((accountId: string): SumsByKind => {
    const byKind = Object.fromEntries(TRANSFER_KINDS.map((kind) => [kind, 0])) as Record<
      Transfer["kind"],
      number
    >;
    let credits = 0;
    for (const { kind, amount } of creditSums.all(accountId)) {
      byKind[kind] = amount;
      credits += amount;
    }
    // Of what generations cost there may be millions; their sum is what is missing.
    byKind.usage = (balance.get(accountId)?.amount ?? 0) - credits;
    return byKind;
  });
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
      return row === null ? null : readTransfer(row);
    },
    async findBalance(accountId) {
      return read(accountId);
    },
    async listDeposits(afterPlace, limit) {
      return deposits.all(afterPlace, limit).map(readTransfer);
    },
    async listTransfers(accountId, beforePlace, limit, kind) {
      if (kind === undefined)
        return ofAccount.all(accountId, accountId, beforePlace, limit).map(readTransfer);
      if (kind === "usage") return usageOfAccount.all(accountId, beforePlace, limit).map(readTransfer);
      return creditsOfAccount.all(accountId, kind, beforePlace, limit).map(readTransfer);
    },
    async sumTransfers(accountId) {
      return sums(accountId);
    },
    async addRefund(refund) {
      return refunds.add(refund);
    },
    async findGrantsLeft(accountId) {
      return grants.left(accountId);
    },
    async listEndedGrants(now, limit) {
      return grants.ended(now, limit);
    },
    async expireGrant(grantId, now) {
      return grants.expire(grantId, now);
    },
    async sumSpending(query) {
      const { text, values } = describeSpending(query);
      return database.query<{ spent: number }, (string | number)[]>(text).get(...values)?.spent ?? 0;
    },
    async findUnmatchedUsage(limit) {
      return unmatched.all(limit);
    },
    async findDifferences() {
      return differences.all().map(({ account_id, difference }) => ({ accountId: account_id, difference }));
    },
  };
}

/** A query as a statement with only the conditions that it has, so that each finds its index. */
export function describeSpending({ days, ...whose }: SpendQuery) {
  const conditions = ["1 = 1"];
  const values: (string | number)[] = [];
  for (const name of ["accountId", "userId", "keyId"] as const) {
    const value = whose[name];
    if (value === undefined) continue;
    conditions.push(`${COLUMNS[name]} = ?`);
    values.push(value);
  }
  if (days !== undefined) {
    conditions.push("day BETWEEN ? AND ?");
    values.push(days.from, days.to);
  }
  const text = `SELECT coalesce(sum(cost), 0) AS spent FROM usage_days WHERE ${conditions.join(" AND ")}`;
  return { text, values };
}

const COLUMNS = { accountId: "account_id", userId: "user_id", keyId: "key_id" } as const;
