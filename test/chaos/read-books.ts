import { Database } from "bun:sqlite";
import { join } from "node:path";
import { PLATFORM_ACCOUNT } from "../../src/core/ledger/records/records.ts";
import type { Books, TransferRow } from "../books/books.ts";

/** Reads everything. */
export function readBooks(dataDir: string): Books {
  const database = new Database(join(dataDir, "gateway.db"), { readonly: true, strict: true });
  try {
    const generations = database
      .query<{ id: string; outcome: string; record: string }, []>(
        "SELECT id, outcome, record FROM generations",
      )
      .all();
    const transfers = database.query<TransferRow, []>("SELECT * FROM transfers").all();
    const balances = database
      .query<{ account_id: string; amount: number }, []>("SELECT * FROM balances")
      .all();
    // The platform's balance is derived: what all others together leave.
    if (balances.length > 0)
      balances.push({
        account_id: PLATFORM_ACCOUNT,
        amount: -balances.reduce((sum, { amount }) => sum + amount, 0),
      });
    return {
      integrity: (database.query("PRAGMA integrity_check").get() as { integrity_check: string })
        .integrity_check,
      rows: generations.length,
      // The columns for queries and the JSON of the record are stored separately; they must agree.
      records: new Map(
        generations.map(({ id, outcome, record }) => [id, { ...JSON.parse(record), id, outcome }]),
      ),
      transfers: new Map(transfers.map((transfer) => [transfer.id, transfer])),
      transferRows: transfers.length,
      balances: new Map(balances.map(({ account_id, amount }) => [account_id, amount])),
    };
  } finally {
    database.close();
  }
}
