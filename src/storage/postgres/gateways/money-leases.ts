import { StoreError } from "../../../base/failures/store-error.ts";
import { type GatewayIdentity, GatewayReplacedError } from "../../../core/gateways/gateway-identity.ts";
import {
  BALANCE_LEASE,
  type BorrowAnswer,
  type BorrowOrder,
  type HeldLeases,
  type MoneyLeases,
  nameMeterLease,
  type ReturnOrder,
  readMeterLease,
} from "../../../core/ledger/leases/money-leases.ts";
import { readInteger } from "../../sql/statements/values.ts";
import type { Postgres, PostgresValue } from "../connection/client.ts";
import { beginLimits } from "./lease-rows.ts";
import { requireEpoch } from "./require-epoch.ts";

/** How long an account that was wanted counts as wanted, unless it is wanted again. Milliseconds. */
const WANTED_MS = 2_000;

/** The leases of money of one gateway in PostgreSQL. */
export class PostgresMoneyLeases implements MoneyLeases {
  /** `identity` returns the identity under which the gateway writes. */
  constructor(
    private readonly database: Postgres,
    private readonly identity: () => GatewayIdentity,
  ) {}

  async borrow(order: BorrowOrder): Promise<BorrowAnswer> {
    const { accountId, leases } = order;
    let { outcome, answer } = await this.callBorrow(order);
    if (outcome === "unbegun") {
      await this.database.transaction((sql) => beginLimits(sql, accountId, leases));
      ({ outcome, answer } = await this.callBorrow(order));
    }
    if (outcome === "done" && answer !== null) return JSON.parse(answer) as BorrowAnswer;
    throw new StoreError(
      outcome === "late"
        ? "the order to borrow is older than another one that was carried out"
        : "the limits of the order to borrow were removed meanwhile",
    );
  }

  async giveBack({ accountId, ticket, leases }: ReturnOrder): Promise<void> {
    const returned = leases.map(({ name, amount }) => ({ ...readMeterLease(name), amount }));
    await this.call("SELECT outcome FROM return_leases($1, $2, $3, $4, $5::text::jsonb)", [
      accountId,
      ticket,
      JSON.stringify(returned),
    ]);
  }

  private callBorrow({ accountId, ticket, leases }: BorrowOrder): Promise<Outcome> {
    const requests = leases.map(({ name, bound, least, amount, most, ahead }) => ({
      ...readMeterLease(name),
      ...{ bound, least, amount, most, ahead },
    }));
    return this.call("SELECT outcome, answer FROM borrow_leases($1, $2, $3, $4, $5::text::jsonb)", [
      accountId,
      ticket,
      JSON.stringify(requests),
    ]);
  }

  /** Calls a function of the database as this gateway. */
  private async call(text: string, values: readonly PostgresValue[]): Promise<Outcome> {
    const identity = this.identity();
    const [row] = await this.database.run<Outcome>(text, [identity.id, identity.epoch, ...values]);
    if (row === undefined || row.outcome === "replaced") throw new GatewayReplacedError(identity);
    return row;
  }

  async listWanted(): Promise<readonly string[]> {
    const rows = await this.database.run<{ account_id: string }>(
      `SELECT DISTINCT account_id FROM wanted_leases w JOIN balance_leases l USING (account_id)
       WHERE l.gateway_id = $1 AND w.gateway_id <> $1
         AND w.wanted_at > clock_timestamp() - ${WANTED_MS} * interval '1 millisecond'`,
      [this.identity().id],
    );
    return rows.map(({ account_id }) => account_id);
  }

  listLeases(): Promise<HeldLeases> {
    const identity = this.identity();
    return this.database.transaction(async (sql) => {
      await requireEpoch(sql, identity);
      // Orders of earlier starts are rejected by their epoch, so that their numbers need not be kept.
      for (const statement of FORGET_UNUSED) await sql.run(statement, [identity.id]);
      const balances = await sql.run<BalanceLeaseRow>(
        "SELECT account_id, amount, ticket FROM balance_leases WHERE gateway_id = $1",
        [identity.id],
      );
      const meters = await sql.run<SpendingLeaseRow>(
        "SELECT account_id, meter, since, amount FROM spending_leases WHERE gateway_id = $1 AND amount > 0",
        [identity.id],
      );
      return {
        leases: [
          ...balances.map((row) => ({ ...toLease(row), name: BALANCE_LEASE })),
          ...meters.map((row) => ({ ...toLease(row), name: nameMeterLease(row) })),
        ].filter(({ amount }) => amount > 0),
        ticket: balances.reduce((highest, row) => Math.max(highest, readInteger(row.ticket)), 0),
      };
    });
  }
}

const FORGET_UNUSED = [
  "DELETE FROM balance_leases WHERE gateway_id = $1 AND amount = 0",
  "DELETE FROM spending_leases WHERE gateway_id = $1 AND amount = 0",
  "DELETE FROM wanted_leases WHERE gateway_id IN ($1, '') AND wanted_at < clock_timestamp() - interval '1 hour'",
];

interface BalanceLeaseRow {
  readonly account_id: string;
  readonly amount: string;
  readonly ticket: string;
}

interface SpendingLeaseRow {
  readonly account_id: string;
  readonly meter: string;
  readonly since: number;
  readonly amount: string;
}

function toLease(row: { readonly account_id: string; readonly amount: string }) {
  return { accountId: row.account_id, amount: readInteger(row.amount) };
}

/** The result of a database function. */
interface Outcome {
  readonly outcome: "done" | "replaced" | "late" | "unbegun";
  /** The answer to an order, as JSON. */
  readonly answer: string | null;
}
