import type { Database } from "bun:sqlite";
import {
  expiryIdOf,
  findGrantsLeft,
  type GrantLeft,
  type Movement,
  movementOf,
} from "../../core/ledger/grants.ts";
import type { EndedGrant } from "../../core/ledger/ledger-store.ts";
import { PLATFORM_ACCOUNT } from "../../core/ledger/records.ts";
import { readTransfer, type TransferRow, type TransferWriter } from "./transfers.ts";

/** Grants for a time. */
export interface Grants {
  left(accountId: string): readonly GrantLeft[];
  ended(now: number, limit: number): readonly EndedGrant[];
  expire(grantId: string, now: number): number;
}

interface GrantRow {
  id: string;
  account_id: string;
  place: number;
  ended_at: number | null;
}

/** The statements by which it is found what is left of grants, and taken back. */
export function prepareGrants(database: Database, transfers: TransferWriter): Grants {
  const rows = database.query<GrantRow, [string]>(
    "SELECT * FROM limited_grants WHERE account_id = ? ORDER BY place",
  );
  const row = database.query<GrantRow, [string]>("SELECT * FROM limited_grants WHERE id = ?");
  const due = database.query<EndedGrant, [number, number]>(
    `SELECT id, account_id AS accountId FROM limited_grants WHERE ended_at IS NULL AND expires_at <= ?
     ORDER BY expires_at LIMIT ?`,
  );
  const end = database.query("UPDATE limited_grants SET ended_at = ? WHERE id = ?");
  const clear = database.query(
    `DELETE FROM limited_grants WHERE account_id = ?1
     AND NOT EXISTS (SELECT 1 FROM limited_grants WHERE account_id = ?1 AND ended_at IS NULL)`,
  );
  const readMovements = prepareMovements(database);

  const findLeft = (accountId: string): readonly GrantLeft[] => {
    const grants = rows.all(accountId);
    const [first] = grants;
    if (first === undefined) return [];
    const { opening, movements } = readMovements(accountId, first.place);
    const open = new Set(grants.filter((grant) => grant.ended_at === null).map(({ id }) => id));
    return findGrantsLeft(opening, movements).filter(({ id }) => open.has(id));
  };

  const expire = database.transaction((grantId: string, now: number): number => {
    const grant = row.get(grantId);
    if (grant === null || grant.ended_at !== null) return 0;
    const accountId = grant.account_id;
    const amount = findLeft(accountId).find(({ id }) => id === grantId)?.left ?? 0;
    if (amount > 0) {
      const id = expiryIdOf(grantId);
      const rest = { createdAt: now, note: null, expiresAt: null };
      transfers.add([{ id, kind: "expiry", from: accountId, to: PLATFORM_ACCOUNT, amount, ...rest }]);
    }
    end.run(now, grantId);
    clear.run(accountId);
    return amount;
  });

  return {
    left: database.transaction(findLeft),
    ended: (now, limit) => due.all(now, limit),
    expire: (grantId, now) => expire.immediate(grantId, now),
  };
}

/** Reads what moved an account's money from a place on, what generations cost in a row as one sum, and what it had before. */
function prepareMovements(database: Database) {
  const balance = database.query<{ amount: number }, [string]>(
    "SELECT amount FROM balances WHERE account_id = ?",
  );
  const credits = database.query<TransferRow, [string, number]>(
    `SELECT * FROM (
       SELECT * FROM transfers WHERE from_account = ?1 AND kind <> 'usage' AND place >= ?2
       UNION ALL SELECT * FROM transfers WHERE to_account = ?1 AND kind <> 'usage' AND place >= ?2
     ) ORDER BY place`,
  );
  const used = database.query<{ amount: number }, [string, number, number]>(
    `SELECT coalesce(sum(amount), 0) AS amount FROM transfers
     WHERE from_account = ? AND kind = 'usage' AND place > ? AND place < ?`,
  );
  return (accountId: string, fromPlace: number) => {
    const movements: Movement[] = [];
    let change = 0;
    const found = credits.all(accountId, fromPlace);
    for (const [index, row] of found.entries()) {
      movements.push(movementOf(readTransfer(row), accountId));
      change += row.to_account === accountId ? row.amount : -row.amount;
      const next = found[index + 1]?.place ?? Number.MAX_SAFE_INTEGER;
      const amount = used.get(accountId, row.place, next)?.amount ?? 0;
      movements.push({ kind: "out", amount });
      change -= amount;
    }
    return { opening: (balance.get(accountId)?.amount ?? 0) - change, movements };
  };
}
