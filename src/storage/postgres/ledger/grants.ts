import {
  expiryOf,
  findGrantsLeft,
  type GrantLeft,
  type Movement,
  movementOf,
} from "../../../core/ledger/records/grants.ts";
import type { EndedGrant } from "../../../core/ledger/records/ledger-store.ts";
import { readInteger } from "../../sql/statements/values.ts";
import { readTransfer, type TransferRow } from "../../sql/transfer-row.ts";
import type { SqlRunner } from "../connection/client.ts";
import { CREDIT_COLUMNS, lockBalances, writeTransfer } from "./transfers.ts";

interface GrantRow {
  readonly id: string;
  readonly place: string;
  readonly ended: boolean;
}

/** Which expired grants to list. */
interface EndedPage {
  readonly now: number;
  readonly limit: number;
  /** Where the page before ended; null for the first one. */
  readonly last: EndedGrant | null;
}

/** Returns grants that have expired and not ended, the earliest first. */
export async function listEndedGrants(
  sql: SqlRunner,
  { now, limit, last }: EndedPage,
): Promise<readonly EndedGrant[]> {
  const rows = await sql.run<{ id: string; account_id: string; expires_at: string }>(
    `SELECT id, account_id, expires_at FROM limited_grants
     WHERE ended_at IS NULL AND expires_at <= $1 AND (expires_at, id) > ($2, $3)
     ORDER BY expires_at, id LIMIT $4`,
    [now, last?.expiresAt ?? -1, last?.id ?? "", limit],
  );
  return rows.map(({ id, account_id, expires_at }) => ({
    id,
    accountId: account_id,
    expiresAt: readInteger(expires_at),
  }));
}

/** Returns the rests of an account's grants that have not ended. All statements of the transaction must see the same moment. */
export async function readGrantsLeft(sql: SqlRunner, accountId: string): Promise<readonly GrantLeft[]> {
  return (await readGrants(sql, accountId)).left;
}

/** Also returns the movements of the account since the first of its grants. */
async function readGrants(sql: SqlRunner, accountId: string) {
  const grants = await sql.run<GrantRow>(
    "SELECT id, place, ended_at IS NOT NULL AS ended FROM limited_grants WHERE account_id = $1 ORDER BY place",
    [accountId],
  );
  const [first] = grants;
  if (first === undefined) return { left: [], movements: [] };
  const { opening, movements } = await readMovements(sql, accountId, first.place);
  const open = new Set(grants.filter(({ ended }) => !ended).map(({ id }) => id));
  return { left: findGrantsLeft(opening, movements).filter(({ id }) => open.has(id)), movements };
}

/**
 * Takes back the rest of a grant as far as no gateway has leased it, in the caller's transaction, and returns that amount. This ends the
 * grant, unless a part is leased. Then the account is marked as wanted, so that gateways give back what they do not need, and the next call
 * takes the rest.
 */
export async function endGrant(sql: SqlRunner, grantId: string, now: number): Promise<number> {
  const [grant] = await sql.run<{ account_id: string }>(
    "SELECT account_id FROM limited_grants WHERE id = $1 AND ended_at IS NULL",
    [grantId],
  );
  if (grant === undefined) return 0;
  const accountId = grant.account_id;
  const balance = (await lockBalances(sql, [accountId])).get(accountId);
  if (balance === undefined) return 0;
  // Read under the lock: another gateway may have taken it back in the meantime.
  const { left: grants, movements } = await readGrants(sql, accountId);
  const left = grants.find(({ id }) => id === grantId)?.left ?? 0;
  const taken = Math.max(0, Math.min(left, balance.amount - balance.leased));
  const parts = movements.filter(
    (movement) => movement.kind === "expiry" && movement.grantId === grantId,
  ).length;
  const expiry = expiryOf({ id: grantId, accountId, parts }, taken, now);
  if (expiry !== null) await writeTransfer(sql, expiry);
  if (taken < left) await markWanted(sql, accountId);
  else await closeGrant(sql, { grantId, accountId, now });
  return taken;
}

/** The name under which the store itself wants leases back: every gateway gives back what it does not need. */
const STORE = "";

async function markWanted(sql: SqlRunner, accountId: string): Promise<void> {
  await sql.run(
    `INSERT INTO wanted_leases (account_id, gateway_id, wanted_at) VALUES ($1, $2, clock_timestamp())
     ON CONFLICT (account_id, gateway_id) DO UPDATE SET wanted_at = excluded.wanted_at`,
    [accountId, STORE],
  );
}

/** Ends a grant, and removes the account's grants once all have ended. */
async function closeGrant(
  sql: SqlRunner,
  { grantId, accountId, now }: { readonly grantId: string; readonly accountId: string; readonly now: number },
): Promise<void> {
  await sql.run("UPDATE limited_grants SET ended_at = $1 WHERE id = $2", [now, grantId]);
  await sql.run(
    `DELETE FROM limited_grants WHERE account_id = $1
     AND NOT EXISTS (SELECT FROM limited_grants WHERE account_id = $1 AND ended_at IS NULL)`,
    [accountId],
  );
}

type CreditRow = TransferRow & { readonly charged: string };

/**
 * Reads how an account's balance changed from a transfer on. The charge between two credits is the difference of the charges that they
 * recorded. `opening` is the balance before the first movement.
 */
async function readMovements(
  sql: SqlRunner,
  accountId: string,
  place: string,
): Promise<{ readonly opening: number; readonly movements: Movement[] }> {
  const rows = await sql.run<CreditRow>(
    `SELECT ${CREDIT_COLUMNS}, from_charged AS charged FROM credits WHERE from_account = $1 AND place >= $2
     UNION ALL SELECT ${CREDIT_COLUMNS}, to_charged FROM credits WHERE to_account = $1 AND place >= $2
     ORDER BY place`,
    [accountId, place],
  );
  const [balance] = await sql.run<{ amount: string; credited: string }>(
    "SELECT amount, credited FROM balances WHERE account_id = $1",
    [accountId],
  );
  const amount = readInteger(balance?.amount ?? "0");
  const charged = readInteger(balance?.credited ?? "0") - amount;
  const movements: Movement[] = [];
  let change = 0;
  for (const [index, row] of rows.entries()) {
    const transfer = readTransfer(row);
    movements.push(movementOf(transfer, accountId));
    change += transfer.to === accountId ? transfer.amount : -transfer.amount;
    const next = rows[index + 1];
    const used = (next === undefined ? charged : readInteger(next.charged)) - readInteger(row.charged);
    movements.push({ kind: "out", amount: used });
    change -= used;
  }
  return { opening: amount - change, movements };
}
