import { StoreError } from "../../base/store-error.ts";
import type { GatewayIdentity } from "../../core/gateways/gateway-identity.ts";
import {
  BALANCE_LEASE,
  type BorrowAnswer,
  type BorrowOrder,
  couldOthersCover,
  decideBorrow,
  type HeldLeases,
  type MoneyLeases,
  nameMeterLease,
  type ReturnOrder,
} from "../../core/ledger/money-leases.ts";
import type { Postgres, SqlRunner } from "./client.ts";
import { lockLeased, type OwnLeases, raiseLeases, readOwnLeases } from "./lease-rows.ts";
import { lowerLeases } from "./lower-leases.ts";
import { requireEpoch } from "./require-epoch.ts";
import { readInteger } from "./values.ts";

/** How long an account that was wanted counts as wanted, unless it is wanted again. Milliseconds. */
const WANTED_MS = 2_000;

/** The leases of money of one gateway in PostgreSQL. */
export class PostgresMoneyLeases implements MoneyLeases {
  /** `identity` returns the identity under which the gateway writes. */
  constructor(
    private readonly database: Postgres,
    private readonly identity: () => GatewayIdentity,
  ) {}

  borrow(order: BorrowOrder): Promise<BorrowAnswer> {
    const identity = this.identity();
    return this.database.transaction(async (sql) => {
      await requireEpoch(sql, identity);
      const locked = await lockLeased(sql, order.accountId, order.leases);
      const own = await readOwnLeases(sql, identity.id, order);
      const earlier = readEarlierAnswer(order, own);
      if (earlier !== null) return earlier;
      const states = order.leases.map(({ name, bound }) => {
        const { has, leased } = locked.get(name) ?? { has: 0, leased: 0 };
        const total = name === BALANCE_LEASE ? has + bound : bound - has;
        return { left: total - leased, others: leased - (own.amounts.get(name) ?? 0) };
      });
      const answer = decideBorrow(order, states);
      await raiseLeases(sql, identity.id, { order, answer });
      if (!answer.isLent && couldOthersCover(order.leases, states))
        await markWanted(sql, identity.id, order.accountId);
      return answer;
    });
  }

  giveBack(order: ReturnOrder): Promise<void> {
    const identity = this.identity();
    const { accountId, ticket } = order;
    return this.database.transaction(async (sql) => {
      await requireEpoch(sql, identity);
      await lockLeased(sql, accountId, order.leases);
      const own = await readOwnLeases(sql, identity.id, order);
      if (own.ticket >= ticket) return;
      const returned = order.leases.map(({ name, amount }) => ({
        accountId,
        costNanodollars: amount,
        leasedFrom: [name],
      }));
      await lowerLeases(sql, identity.id, returned);
      await sql.run(
        "UPDATE balance_leases SET ticket = $3, answer = NULL WHERE account_id = $1 AND gateway_id = $2",
        [accountId, identity.id, ticket],
      );
    });
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

/** Returns the answer to an order that was carried out before; null if it was not. */
function readEarlierAnswer({ ticket }: BorrowOrder, own: OwnLeases): BorrowAnswer | null {
  if (own.ticket < ticket) return null;
  if (own.ticket === ticket && own.answer !== null) return JSON.parse(own.answer) as BorrowAnswer;
  throw new StoreError("the order to borrow is older than another one that was carried out");
}

async function markWanted(sql: SqlRunner, gatewayId: string, accountId: string): Promise<void> {
  // A trigger announces it: gateways that listen give back at once, the others with their next reading.
  await sql.run(
    `INSERT INTO wanted_leases (account_id, gateway_id, wanted_at) VALUES ($1, $2, clock_timestamp())
     ON CONFLICT (account_id, gateway_id) DO UPDATE SET wanted_at = excluded.wanted_at`,
    [accountId, gatewayId],
  );
}
