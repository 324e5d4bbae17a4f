import type {
  EndedGrant,
  LedgerStore,
  RefundEntry,
  RefundVerdict,
  SpendQuery,
  StoredTransfer,
  SumsByKind,
} from "../../../core/ledger/records/ledger-store.ts";
import { PLATFORM_ACCOUNT, type Transfer, type TransferKind } from "../../../core/ledger/records/records.ts";
import { dayOfId } from "../../sql/statements/day-of-id.ts";
import { readInteger } from "../../sql/statements/values.ts";
import { readTransfer, type TransferRow } from "../../sql/transfer-row.ts";
import type { Postgres } from "../connection/client.ts";
import { LEDGER_TABLES, Partitions } from "../tables/partitions.ts";
import { findDifferences, findUnmatchedUsage } from "./check-ledger.ts";
import { readCreditChanges } from "./credit-changes.ts";
import { endGrant, listEndedGrants, readGrantsLeft } from "./grants.ts";
import { listRefunds, makeRefund } from "./refunds.ts";
import { sumSpending } from "./sum-spending.ts";
import { CHARGE_COLUMNS, CREDIT_COLUMNS, findTransfer, writeTransfer } from "./transfers.ts";

/** The connections of a ledger. */
interface LedgerConnections {
  readonly database: Postgres;
  /** Connections whose statements may take minutes: a check reads every transfer. */
  readonly maintenance: Postgres;
}

/** The ledger in PostgreSQL. */
export class PostgresLedgerStore implements LedgerStore {
  private readonly database: Postgres;
  private readonly maintenance: Postgres;
  private readonly partitions: Partitions;

  constructor({ database, maintenance }: LedgerConnections) {
    this.database = database;
    this.maintenance = maintenance;
    this.partitions = new Partitions(database, LEDGER_TABLES);
  }

  async addTransfer(transfer: Transfer): Promise<boolean> {
    if (transfer.kind === "usage") await this.partitions.ensure([dayOfId(transfer.id)]);
    return this.database.transaction((sql) => writeTransfer(sql, transfer));
  }

  findTransfer(id: string): Promise<StoredTransfer | null> {
    return findTransfer(this.database, id);
  }

  async findBalance(accountId: string) {
    const [row] = await this.database.run<BalanceRow>(
      accountId === PLATFORM_ACCOUNT ? PLATFORM_BALANCE : BALANCE,
      accountId === PLATFORM_ACCOUNT ? [] : [accountId],
    );
    return {
      accountId,
      balance: readInteger(row?.amount ?? "0"),
      credited: readInteger(row?.credited ?? "0"),
      version: readInteger(row?.version ?? "0"),
    };
  }

  listCreditChanges(cursor: string | null, limit: number) {
    return readCreditChanges(this.database, cursor, limit);
  }

  async listTransfers(accountId: string, beforePlace: number, limit: number, kind?: TransferKind) {
    const values = [accountId, beforePlace, limit, ...(kind === undefined || kind === "usage" ? [] : [kind])];
    const rows = await this.database.run<TransferRow>(describeListing(kind), values);
    return rows.map(readTransfer);
  }

  async sumTransfers(accountId: string): Promise<SumsByKind> {
    const sums = { usage: 0, grant: 0, purchase: 0, refund: 0, expiry: 0, correction: 0 };
    const rows = await this.database.run<{ kind: TransferKind; amount: string }>(SUMS, [accountId]);
    for (const { kind, amount } of rows) sums[kind] = readInteger(amount);
    return sums;
  }

  listRefunds(generationId: string, limit: number) {
    return listRefunds(this.database, generationId, limit);
  }

  addRefund(refund: RefundEntry): Promise<RefundVerdict> {
    return this.database.transaction((sql) => makeRefund(sql, refund));
  }

  findGrantsLeft(accountId: string) {
    return this.database.transaction(async (sql) => {
      await sql.run(SAME_MOMENT);
      return readGrantsLeft(sql, accountId);
    });
  }

  listEndedGrants(now: number, limit: number, last: EndedGrant | null = null) {
    return listEndedGrants(this.database, { now, limit, last });
  }

  expireGrant(grantId: string, now: number) {
    return this.database.transaction((sql) => endGrant(sql, grantId, now));
  }

  sumSpending(query: SpendQuery) {
    return sumSpending(this.database, query);
  }

  findDifferences() {
    return findDifferences(this.maintenance);
  }

  findUnmatchedUsage(limit: number) {
    return findUnmatchedUsage(this.maintenance, limit);
  }
}

interface BalanceRow {
  readonly amount: string;
  readonly credited: string;
  readonly version: string;
}

/** The statements of the transaction see what was committed before the first of them. */
const SAME_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";

const BALANCE = "SELECT amount, credited, version FROM balances WHERE account_id = $1";
const PLATFORM_BALANCE = `SELECT 0 - coalesce(sum(amount), 0) AS amount, '0' AS credited, '0' AS version FROM balances`;

/** Returns the statement that lists an account's transfers; its parameters are the account, the page and the kind of a credit. */
function describeListing(kind: TransferKind | undefined): string {
  const page = "place < $2 ORDER BY place DESC LIMIT $3";
  const charges = `SELECT ${CHARGE_COLUMNS} FROM charges WHERE account_id = $1 AND ${page}`;
  if (kind === "usage") return charges;
  const ofKind = kind === undefined ? "" : "AND kind = $4";
  const credits = `(SELECT ${CREDIT_COLUMNS} FROM credits WHERE from_account = $1 ${ofKind} AND ${page})
    UNION ALL (SELECT ${CREDIT_COLUMNS} FROM credits WHERE to_account = $1 ${ofKind} AND ${page})`;
  const all = kind === undefined ? `${credits} UNION ALL (${charges})` : credits;
  return `SELECT * FROM (${all}) AS listed ORDER BY place DESC LIMIT $3`;
}

/** An account may have millions of charges. Their sum is the rest of the balance. */
const SUMS = `SELECT kind, sum(amount) AS amount FROM (
    SELECT kind, amount FROM credits WHERE to_account = $1
    UNION ALL SELECT kind, -amount FROM credits WHERE from_account = $1
    UNION ALL SELECT 'usage', amount - credited FROM balances WHERE account_id = $1
  ) AS transfers GROUP BY kind`;
