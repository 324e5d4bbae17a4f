import { BALANCE_LEASE, nameMeterLease } from "../../../src/core/ledger/leases/money-leases.ts";
import type { SharedLedger, SimulatedRecord } from "./shared-ledger.ts";
import type { GatewayPlace, SimulatedGateway } from "./simulated-gateway.ts";

export const ACCOUNTS = 3;
export const KEYS = 2;
/** The first day of the period of all limits. */
export const DAY = 20_574;

/** A violated invariant. */
export class InvariantError extends Error {}

/** @throws InvariantError unless an invariant holds. */
export function ensure(holds: boolean, invariant: string, details: () => unknown): void {
  if (!holds) throw new InvariantError(`${invariant}: ${JSON.stringify(details())}`);
}

/** A gateway from start to start. */
export interface Place extends GatewayPlace {
  current: SimulatedGateway;
  isDead: boolean;
}

/** The bound of an account. */
export interface Policy {
  overdraft: number;
  /** The most that gateways may have borrowed by: overdrafts that were lowered, and what was corrected downwards. */
  slack: number;
}

/** The spending limit of a key. */
export interface Limit {
  limit: number | null;
  /** The highest limit so far: gateways may have borrowed by it. */
  highest: number;
}

/** What is checked. */
export interface Simulated {
  readonly ledger: SharedLedger;
  readonly places: readonly Place[];
  readonly policies: readonly Policy[];
  /** Of the keys of all accounts, in their order. */
  readonly limits: readonly Limit[];
}

/** The invariants of a simulation. */
export class LeaseChecks {
  /** The cost of each generation that has ended in a journal. */
  private readonly ended = new Map<string, number>();

  constructor(private readonly simulated: Simulated) {}

  /** Remembers what generations cost that have ended in a journal. */
  noteEnded(journal: ReadonlyMap<string, SimulatedRecord>): void {
    for (const { id, cost } of journal.values()) {
      if (cost === null) continue;
      const earlier = this.ended.get(id);
      ensure(earlier === undefined || earlier === cost, "a generation ended with two costs", () => ({
        id,
        cost,
        earlier,
      }));
      this.ended.set(id, cost);
    }
  }

  /** Checks everything that must hold at any moment. */
  check(): void {
    for (const place of this.simulated.places) this.checkGateway(place);
    for (const [account, { overdraft, slack }] of this.simulated.policies.entries()) {
      const id = `acct_${account}`;
      const { amount } = this.simulated.ledger.account(id);
      const leased = this.simulated.ledger.bank.sumLeases(id, BALANCE_LEASE);
      ensure(leased <= Math.max(0, amount + overdraft + slack), "more is leased than an account has", () => ({
        id,
        amount,
        overdraft,
        slack,
        leased,
      }));
      ensure(amount + overdraft + slack >= 0, "more was charged than an account had", () => ({
        id,
        amount,
        overdraft,
      }));
    }
    for (const [at, { limit, highest }] of this.simulated.limits.entries()) {
      if (limit === null) continue;
      const account = Math.floor(at / KEYS);
      const name = nameMeterLease({ meter: `key:${account}_${at % KEYS}`, since: DAY });
      const spent = this.simulated.ledger.spent.get(name) ?? 0;
      const leased = this.simulated.ledger.bank.sumLeases(`acct_${account}`, name);
      ensure(spent + leased <= highest, "more is leased than a limit leaves", () => ({
        name,
        spent,
        leased,
        highest,
      }));
    }
  }

  /** What a gateway holds and has not saved never exceeds its leases, also when it is dead. */
  private checkGateway({ id, current, journal, isDead }: Place): void {
    this.noteEnded(journal);
    const needed = new Map<string, number>();
    const need = (record: SimulatedRecord, amount: number): void => {
      for (const name of record.leasedFrom ?? []) {
        const key = `${record.accountId} ${name}`;
        needed.set(key, (needed.get(key) ?? 0) + amount);
      }
    };
    const held = new Map(isDead ? [] : current.book.holds().map((hold) => [hold.id, hold.amount]));
    for (const record of journal.values()) {
      if (record.cost === null) need(record, held.get(record.id) ?? record.held);
      else if (!this.simulated.ledger.charges.has(record.id)) need(record, record.cost);
    }
    for (const [key, amount] of needed) {
      const [accountId = "", name = ""] = key.split(" ");
      const lease = this.simulated.ledger.bank.leaseOfGateway(id, accountId, name);
      ensure(amount <= lease, "a gateway holds and has spent more than its lease", () => ({
        id,
        key,
        amount,
        lease,
      }));
    }
  }

  /** Checks that every generation was charged its cost, when all journals should be saved. */
  checkCharges(): void {
    const { places, ledger } = this.simulated;
    for (const { journal } of places)
      ensure(journal.size === 0, "a record is not saved at the end", () => [...journal.values()]);
    for (const [id, cost] of this.ended) {
      const charged = ledger.charges.get(id);
      ensure(charged === cost, "a generation was charged another cost than its own", () => ({
        id,
        cost,
        charged,
      }));
    }
  }
}
