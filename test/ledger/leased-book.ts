import { StoreError } from "../../src/base/failures/store-error.ts";
import type { HoldRequest, HoldVerdict } from "../../src/core/ledger/holds/hold-book.ts";
import { LeasedHoldBook, type LeasedHoldBookParts } from "../../src/core/ledger/leases/leased-hold-book.ts";
import type { BorrowOrder, MoneyLeases } from "../../src/core/ledger/leases/money-leases.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { MemoryLeaseBank } from "./memory-money-leases.ts";

/** A database whose answers a test can keep, and that it can make unavailable. */
export class Bank {
  balance: number;
  isAway = false;
  /** Set: the database answers once it resolves. */
  answers: PromiseWithResolvers<void> | null = null;
  /** Orders are carried out, and their answers are lost. */
  losesAnswers = false;
  readonly orders: BorrowOrder[] = [];
  private readonly bank: MemoryLeaseBank;

  constructor(balance: number) {
    this.balance = balance;
    this.bank = new MemoryLeaseBank({ balanceOf: () => this.balance, spentOf: () => 0 });
  }

  createBook(id: string, clock: TestClock, parts: Partial<LeasedHoldBookParts> = {}): LeasedHoldBook {
    const own = this.bank.register(id);
    const store = {
      findBalance: async (accountId: string) => ({
        accountId,
        balance: this.balance,
        credited: 0,
        version: 0,
      }),
      listCreditChanges: async () => ({ sums: [], cursor: "0", hasMore: false }),
    };
    return new LeasedHoldBook({ leases: this.wrap(own), store, clock, ...parts });
  }

  leaseOf(gatewayId: string, name = "balance"): number {
    return this.bank.leaseOfGateway(gatewayId, "user_a", name);
  }

  /** Saves a cost of a gateway. */
  save(gatewayId: string, cost: number): void {
    this.balance -= cost;
    this.bank.lower(gatewayId, { accountId: "user_a", costNanodollars: cost, leasedFrom: ["balance"] });
  }

  private wrap(own: MoneyLeases): MoneyLeases {
    return {
      borrow: (order) => {
        this.orders.push(order);
        return this.answer(() => own.borrow(order));
      },
      giveBack: (order) => this.answer(() => own.giveBack(order)),
      listWanted: () => this.answer(() => own.listWanted()),
      listLeases: () => this.answer(() => own.listLeases()),
    };
  }

  private async answer<T>(work: () => Promise<T>): Promise<T> {
    if (this.isAway) throw new StoreError("it is away");
    await this.answers?.promise;
    const result = await work();
    if (this.losesAnswers) throw new StoreError("the connection was lost");
    return result;
  }
}

/** Returns a request to hold an amount for the account `user_a`. */
export const requestOf = (id: string, amount: number, fields: Partial<HoldRequest> = {}): HoldRequest => ({
  id,
  accountId: "user_a",
  overdraft: 0,
  amount,
  limits: [],
  expiresAt: Number.POSITIVE_INFINITY,
  ...fields,
});

/** Creates a hold book of `gateway_a` over an account with this balance. */
export function createLeasedBook(balance: number, parts: Partial<LeasedHoldBookParts> = {}) {
  const clock = createTestClock();
  const bank = new Bank(balance);
  return { clock, bank, book: bank.createBook("gateway_a", clock, parts) };
}

/** Advances the clock in small steps, so that waits that follow each other all pass. */
export async function passTime(clock: TestClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    clock.advance(10);
    await turnEventLoop(1);
  }
}

/** Returns what a verdict holds; 0 if it is refused. Nanodollars. */
export const heldBy = (verdict: HoldVerdict): number => (verdict.kind === "held" ? verdict.amount : 0);
