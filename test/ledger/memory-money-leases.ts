import { StoreError } from "../../src/base/failures/store-error.ts";
import { GatewayReplacedError } from "../../src/core/gateways/gateway-identity.ts";
import {
  BALANCE_LEASE,
  type BorrowAnswer,
  type BorrowOrder,
  couldOthersCover,
  decideBorrow,
  type HeldLeases,
  type LeaseState,
  type MoneyLeases,
  nameMeterLease,
  type ReturnOrder,
  readMeterLease,
} from "../../src/core/ledger/leases/money-leases.ts";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";

/** What accounts have and what was spent under limits, in nanodollars. */
export interface LeasedSums {
  balanceOf(accountId: string): Promise<number> | number;
  spentOf(meter: string, since: number): Promise<number> | number;
}

interface Ticket {
  readonly ticket: number;
  readonly answer: BorrowAnswer | null;
}

/** The leases of all gateways, in memory: the model that a database must behave like. */
export class MemoryLeaseBank {
  /** By account or limit, then by gateway. Nanodollars. */
  readonly leases = new Map<string, Map<string, number>>();
  private readonly tickets = new Map<string, Ticket>();
  private readonly wanted = new Map<string, Set<string>>();
  private readonly epochs = new Map<string, number>();

  constructor(private readonly sums: LeasedSums) {}

  /** Begins a start of a gateway, which ends its earlier ones. */
  register(gatewayId: string): MoneyLeases {
    const epoch = (this.epochs.get(gatewayId) ?? 0) + 1;
    this.epochs.set(gatewayId, epoch);
    const checked = async <T>(work: () => T | Promise<T>): Promise<T> => {
      this.requireEpoch(gatewayId, epoch);
      return work();
    };
    return {
      borrow: (order) => checked(() => this.borrow(gatewayId, order)),
      giveBack: (order) => checked(() => this.giveBack(gatewayId, order)),
      listWanted: () => checked(() => this.listWanted(gatewayId)),
      listLeases: () => checked(() => this.listLeases(gatewayId)),
    };
  }

  epochOf(gatewayId: string): number {
    return this.epochs.get(gatewayId) ?? 0;
  }

  requireEpoch(gatewayId: string, epoch: number): void {
    if (this.epochOf(gatewayId) !== epoch) throw new GatewayReplacedError({ id: gatewayId, epoch });
  }

  /** Lowers the leases that the cost of a record is charged to. The caller has lowered the balance. */
  lower(
    gatewayId: string,
    {
      accountId,
      costNanodollars,
      leasedFrom = [],
    }: Pick<UsageRecord, "accountId" | "costNanodollars" | "leasedFrom">,
  ): void {
    for (const name of leasedFrom) {
      const lease = this.leaseOf(accountId ?? "", name);
      const amount = lease.get(gatewayId) ?? 0;
      lease.set(gatewayId, amount - Math.min(amount, costNanodollars));
    }
  }

  /** Marks an account as wanted by the store itself. */
  want(accountId: string): void {
    const wanted = this.wanted.get(accountId) ?? new Set();
    this.wanted.set(accountId, wanted.add(""));
  }

  /** Forgets which accounts are wanted, as a database does after some seconds. */
  forgetWanted(): void {
    this.wanted.clear();
  }

  /** Gives back everything that a gateway has, because all that it spent is saved and it does not come back. */
  release(gatewayId: string): void {
    for (const amounts of this.leases.values()) amounts.delete(gatewayId);
  }

  /** Returns what a gateway has of a balance or limit. */
  leaseOfGateway(gatewayId: string, accountId: string, name: string): number {
    return this.leaseOf(accountId, name).get(gatewayId) ?? 0;
  }

  /** Returns what all gateways have of a balance or limit. */
  sumLeases(accountId: string, name: string): number {
    let sum = 0;
    for (const amount of this.leaseOf(accountId, name).values()) sum += amount;
    return sum;
  }

  private async borrow(gatewayId: string, order: BorrowOrder): Promise<BorrowAnswer> {
    const sums: number[] = [];
    for (const { name } of order.leases) {
      const sum = this.readSum(order.accountId, name);
      sums.push(typeof sum === "number" ? sum : await sum);
    }
    // From here on in one turn, as in a transaction.
    const states = order.leases.map(({ name, bound }, at): LeaseState => {
      const leased = this.sumLeases(order.accountId, name);
      const own = this.leaseOf(order.accountId, name).get(gatewayId) ?? 0;
      const sum = sums[at] ?? 0;
      const has = readMeterLease(name) === null ? bound + sum : bound - sum;
      return { left: has - leased, others: leased - own };
    });
    const key = `${gatewayId} ${order.accountId}`;
    const last = this.tickets.get(key);
    if (last !== undefined && last.ticket >= order.ticket) {
      if (last.ticket > order.ticket || last.answer === null)
        throw new StoreError("a later order was carried out");
      return last.answer;
    }
    const answer = decideBorrow(order, states);
    for (const [at, { name }] of order.leases.entries()) {
      const lease = this.leaseOf(order.accountId, name);
      lease.set(gatewayId, (lease.get(gatewayId) ?? 0) + (answer.leases[at]?.lent ?? 0));
    }
    this.tickets.set(key, { ticket: order.ticket, answer });
    const wanted = this.wanted.get(order.accountId) ?? new Set();
    if (!answer.isLent && couldOthersCover(order.leases, answer.leases)) wanted.add(gatewayId);
    else wanted.delete(gatewayId);
    this.wanted.set(order.accountId, wanted);
    return answer;
  }

  /** Returns the balance, or what was spent under the limit. */
  private readSum(accountId: string, name: string): Promise<number> | number {
    const meter = readMeterLease(name);
    return meter === null ? this.sums.balanceOf(accountId) : this.sums.spentOf(meter.meter, meter.since);
  }

  private giveBack(gatewayId: string, order: ReturnOrder): void {
    const key = `${gatewayId} ${order.accountId}`;
    if ((this.tickets.get(key)?.ticket ?? 0) >= order.ticket) return;
    for (const { name, amount } of order.leases) {
      const lease = this.leaseOf(order.accountId, name);
      const left = (lease.get(gatewayId) ?? 0) - amount;
      if (left < 0) throw new Error(`gateway ${gatewayId} gives back more of ${name} than it has`);
      lease.set(gatewayId, left);
    }
    this.tickets.set(key, { ticket: order.ticket, answer: null });
  }

  private listWanted(gatewayId: string): string[] {
    const known = new Set(this.listKnown(gatewayId));
    return [...this.wanted].flatMap(([accountId, by]) =>
      known.has(accountId) && [...by].some((other) => other !== gatewayId) ? [accountId] : [],
    );
  }

  /** Returns the accounts of which a gateway has borrowed. */
  private listKnown(gatewayId: string): string[] {
    return [...this.tickets.keys()].flatMap((key) => {
      const [by, accountId = ""] = key.split(" ");
      return by === gatewayId ? [accountId] : [];
    });
  }

  private listLeases(gatewayId: string): HeldLeases {
    const leases = [...this.leases].flatMap(([key, amounts]) => {
      const [accountId = "", name = ""] = key.split(" ");
      const amount = amounts.get(gatewayId) ?? 0;
      return amount > 0 ? [{ accountId, name, amount }] : [];
    });
    const tickets = [...this.tickets].filter(([key]) => key.startsWith(`${gatewayId} `));
    return { leases, ticket: Math.max(0, ...tickets.map(([, { ticket }]) => ticket)) };
  }

  private leaseOf(accountId: string, name: string): Map<string, number> {
    const meter = readMeterLease(name);
    const key = `${accountId} ${meter === null ? BALANCE_LEASE : nameMeterLease(meter)}`;
    const found = this.leases.get(key) ?? new Map();
    this.leases.set(key, found);
    return found;
  }
}
