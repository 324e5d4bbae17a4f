import type { StoredTransfer } from "../../../core/ledger/records/ledger-store.ts";
import { PLATFORM_ACCOUNT, type Transfer } from "../../../core/ledger/records/records.ts";
import { dayOfId } from "../../sql/statements/day-of-id.ts";
import { readInteger } from "../../sql/statements/values.ts";
import { readTransfer, type TransferRow } from "../../sql/transfer-row.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";
import { writeCharges } from "./charges.ts";

/** The columns of a `TransferRow` in the table `credits`. */
export const CREDIT_COLUMNS =
  "place, id, kind, from_account, to_account, amount, created_at, note, expires_at";

/** The same columns in the table `charges`. */
export const CHARGE_COLUMNS = `place, id, 'usage' AS kind, account_id AS from_account, '${PLATFORM_ACCOUNT}' AS to_account,
  amount, created_at, NULL::text AS note, NULL::bigint AS expires_at`;

/** Returns a transfer of any kind; null if none has the id. */
export async function findTransfer(sql: SqlRunner, id: string): Promise<StoredTransfer | null> {
  const rows = await sql.run<TransferRow>(
    `SELECT ${CREDIT_COLUMNS} FROM credits WHERE id = $1
     UNION ALL SELECT ${CHARGE_COLUMNS} FROM charges WHERE day = $2 AND id = $1`,
    [id, dayOfId(id)],
  );
  return rows.map(readTransfer)[0] ?? null;
}

/** The balance of an account in its row of `balances`. Nanodollars. */
interface LockedBalance {
  readonly amount: number;
  readonly leased: number;
  readonly credited: number;
}

/** Locks the rows of accounts, in the order in which every transaction locks them, and returns them. Creates missing rows. */
export async function lockBalances(
  sql: SqlRunner,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, LockedBalance>> {
  const accounts = accountIds.filter((id) => id !== PLATFORM_ACCOUNT).sort();
  const rows = await sql.run<{ account_id: string; amount: string; leased: string; credited: string }>(
    `INSERT INTO balances AS known (account_id) SELECT * FROM unnest($1::text::text[])
     ON CONFLICT (account_id) DO UPDATE SET account_id = known.account_id
     RETURNING account_id, amount, leased, credited`,
    [encodeList(accounts)],
  );
  return new Map(
    rows.map((row) => [
      row.account_id,
      {
        amount: readInteger(row.amount),
        leased: readInteger(row.leased),
        credited: readInteger(row.credited),
      },
    ]),
  );
}

/**
 * Writes a transfer and changes both balances, in the transaction of the caller. Returns false if its id exists. The partition of a
 * charge exists.
 */
export async function writeTransfer(sql: SqlRunner, transfer: Transfer): Promise<boolean> {
  if (transfer.kind === "usage") return (await writeCharges(sql, [transfer])) === 1;
  const { from, to, amount } = transfer;
  const balances = await lockBalances(sql, [from, to]);
  const chargedTo = (id: string): number => {
    const balance = balances.get(id);
    return balance === undefined ? 0 : balance.credited - balance.amount;
  };
  const place = await insertCredit(sql, transfer, { from: chargedTo(from), to: chargedTo(to) });
  if (place === null) return false;
  await changeCredits(sql, new Map([...balances.keys()].map((id) => [id, id === to ? amount : -amount])));
  if (transfer.expiresAt !== null)
    await sql.run("INSERT INTO limited_grants (id, account_id, place, expires_at) VALUES ($1, $2, $3, $4)", [
      transfer.id,
      to,
      place,
      transfer.expiresAt,
    ]);
  return true;
}

/** Returns the credit's sequence number; null if its id exists. */
async function insertCredit(
  sql: SqlRunner,
  { id, kind, from, to, amount, createdAt, note, expiresAt }: Transfer,
  charged: { readonly from: number; readonly to: number },
): Promise<string | null> {
  const [row] = await sql.run<{ place: string }>(
    `INSERT INTO credits (id, kind, from_account, to_account, amount, created_at, note, expires_at, from_charged, to_charged)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING RETURNING place`,
    [id, kind, from, to, amount, createdAt, note, expiresAt, charged.from, charged.to],
  );
  return row?.place ?? null;
}

/** Changes the credits of accounts whose rows are locked. */
async function changeCredits(sql: SqlRunner, changes: ReadonlyMap<string, number>): Promise<void> {
  const changed = await sql.run(
    `UPDATE balances b SET amount = b.amount + c.change, credited = b.credited + c.change, version = b.version + 1,
       changed_by = pg_current_xact_id()
     FROM unnest($1::text::text[], $2::text::bigint[]) AS c (account_id, change)
     WHERE b.account_id = c.account_id RETURNING b.account_id`,
    [encodeList([...changes.keys()]), encodeList([...changes.values()])],
  );
  if (changed.length !== changes.size)
    throw new Error(`${changed.length} of ${changes.size} balances were changed`);
}
