import type { Database } from "bun:sqlite";
import {
  expiryOf,
  findGrantsLeft,
  type GrantLeft,
  type Movement,
  movementOf,
} from "../../../core/ledger/records/grants.ts";
import type { EndedGrant } from "../../../core/ledger/records/ledger-store.ts";
import { readTransfer, type TransferRow } from "../../sql/transfer-row.ts";
import type { TransferWriter } from "./transfers.ts";

interface GrantRow {
  id: string;
  account_id: string;
  place: number;
  ended_at: number | null;
}

/** The table `limited_grants`: grants that expire. */
export class Grants {
  /** Returns the rests of an account's grants that have not ended. */
  readonly findLeft: (accountId: string) => readonly GrantLeft[];
  /** Ends a grant, once, and removes what is left of it from the balance. Returns that amount. */
  readonly expire: (grantId: string, now: number) => number;
  private readonly byId;
  private readonly due;
  private readonly end;
  private readonly clear;
  private readonly ofAccount;
  private readonly movements: Movements;

  constructor(
    database: Database,
    private readonly transfers: TransferWriter,
  ) {
    this.byId = database.query<GrantRow, [string]>("SELECT * FROM limited_grants WHERE id = ?");
    this.ofAccount = database.query<GrantRow, [string]>(
      "SELECT * FROM limited_grants WHERE account_id = ? ORDER BY place",
    );
    this.due = database.query<EndedGrant, [number, number, string, number]>(
      `SELECT id, account_id AS accountId, expires_at AS expiresAt FROM limited_grants
       WHERE ended_at IS NULL AND expires_at <= ? AND (expires_at, id) > (?, ?)
       ORDER BY expires_at, id LIMIT ?`,
    );
    this.end = database.query("UPDATE limited_grants SET ended_at = ? WHERE id = ?");
    this.clear = database.query(
      `DELETE FROM limited_grants WHERE account_id = ?1
       AND NOT EXISTS (SELECT 1 FROM limited_grants WHERE account_id = ?1 AND ended_at IS NULL)`,
    );
    this.movements = new Movements(database);
    this.findLeft = database.transaction((accountId: string) => this.readLeft(accountId));
    const expire = database.transaction((grantId: string, now: number) => this.endGrant(grantId, now));
    this.expire = (grantId, now) => expire.immediate(grantId, now);
  }

  /** Returns the grants that have expired and not ended, the earliest first, after `last` unless it is null. */
  listEnded(now: number, limit: number, last: EndedGrant | null): readonly EndedGrant[] {
    return this.due.all(now, last?.expiresAt ?? -1, last?.id ?? "", limit);
  }

  private readLeft(accountId: string): readonly GrantLeft[] {
    const grants = this.ofAccount.all(accountId);
    const [first] = grants;
    if (first === undefined) return [];
    const { opening, movements } = this.movements.readFrom(accountId, first.place);
    const open = new Set(grants.filter((grant) => grant.ended_at === null).map(({ id }) => id));
    return findGrantsLeft(opening, movements).filter(({ id }) => open.has(id));
  }

  private endGrant(grantId: string, now: number): number {
    const grant = this.byId.get(grantId);
    if (grant === null || grant.ended_at !== null) return 0;
    const accountId = grant.account_id;
    const left = this.readLeft(accountId).find(({ id }) => id === grantId)?.left ?? 0;
    const expiry = expiryOf({ id: grantId, accountId }, left, now);
    if (expiry !== null) this.transfers.add([expiry]);
    this.end.run(now, grantId);
    this.clear.run(accountId);
    return left;
  }
}

/** Reads how an account's balance changed from a transfer on. Consecutive costs of generations are read as one sum. */
class Movements {
  private readonly balance;
  private readonly credits;
  private readonly used;

  constructor(database: Database) {
    this.balance = database.query<{ amount: number }, [string]>(
      "SELECT amount FROM balances WHERE account_id = ?",
    );
    this.credits = database.query<TransferRow<number>, [string, number]>(
      `SELECT * FROM (
         SELECT * FROM transfers WHERE from_account = ?1 AND kind <> 'usage' AND place >= ?2
         UNION ALL SELECT * FROM transfers WHERE to_account = ?1 AND kind <> 'usage' AND place >= ?2
       ) ORDER BY place`,
    );
    this.used = database.query<{ amount: number }, [string, number, number]>(
      `SELECT coalesce(sum(amount), 0) AS amount FROM (
         SELECT amount FROM transfers WHERE from_account = ?1 AND kind = 'usage' AND place > ?2 AND place < ?3
         UNION ALL SELECT amount FROM dropped_charges WHERE account_id = ?1 AND after_place = ?2
       )`,
    );
  }

  /** `opening` is the balance before the first movement. */
  readFrom(accountId: string, place: number): { readonly opening: number; readonly movements: Movement[] } {
    const movements: Movement[] = [];
    let change = 0;
    const found = this.credits.all(accountId, place);
    for (const [index, row] of found.entries()) {
      movements.push(movementOf(readTransfer(row), accountId));
      change += row.to_account === accountId ? row.amount : -row.amount;
      const next = found[index + 1]?.place ?? Number.MAX_SAFE_INTEGER;
      const amount = this.used.get(accountId, row.place, next)?.amount ?? 0;
      movements.push({ kind: "out", amount });
      change -= amount;
    }
    return { opening: (this.balance.get(accountId)?.amount ?? 0) - change, movements };
  }
}
