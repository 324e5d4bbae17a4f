import type { Clock } from "../../../base/time/clock.ts";
import type { BudgetRecord } from "../../accounts/records/budget-records.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import type { Recorder } from "../../usage/journal/recorder.ts";
import type { UsageRecord } from "../../usage/records/records.ts";
import type {
  AccountBalance,
  HoldBook,
  HoldRequest,
  HoldVerdict,
  ListedHold,
  Spender,
} from "../holds/hold-book.ts";
import type { Range } from "../holds/worst-case.ts";
import { limitsOf } from "../limits/spend-limits.ts";
import type { LedgerStore, RefundEntry, RefundVerdict } from "../records/ledger-store.ts";
import type { Transfer } from "../records/records.ts";
import { GrantSweeper } from "./expire-grants.ts";

/** The dependencies of a ledger. */
interface LedgerParts {
  readonly store: LedgerStore;
  readonly holdBook: HoldBook;
  /** Drained when the store must have every cost. */
  readonly recorder: Pick<Recorder, "drain">;
  readonly clock: Clock;
  /** Milliseconds after which a hold lapses: longer than a usual generation may take, because a lapsed hold bounds nothing. */
  readonly holdMs: number;
  /** Called when a request does not fit into a budget, with all budgets of its account. */
  readonly onBudgetRefused?:
    | ((budgets: readonly BudgetRecord[], budgetId: string, spender: Spender) => void)
    | undefined;
}

/** How long after the maximum duration of a generation its hold lapses. Milliseconds. */
export const HOLD_MARGIN_MS = 60_000;

/**
 * The balances of accounts. Holds are taken before an upstream is called. The cost of a generation is written with its record
 * (`UsageStore.saveUsage`), and everything else as a separate transfer.
 */
export class Ledger {
  private readonly sweeper: GrantSweeper;

  constructor(private readonly parts: LedgerParts) {
    const { store, holdBook, recorder } = parts;
    this.sweeper = new GrantSweeper({ store, holdBook, recorder });
  }

  /** Prepares for the first hold, once the records of an earlier process are saved. */
  start(): Promise<void> {
    return this.parts.holdBook.start();
  }

  /**
   * Holds money for a caller's request, or returns the bound that prevents it, as `HoldBook.hold` does. `spender` is the open record: the
   * generation counts for the limits of the day of its request. Costs are in nanodollars. `longestMs` is how long the generation may run,
   * if that differs from other generations; otherwise null. Its hold lasts as long from the beginning: a generation that waits for its
   * provider does nothing that could renew it, and if its gateway dies, the hold ends with that anyway.
   */
  async hold(
    principal: Extract<InferencePrincipal, { kind: "key" }>,
    spender: Spender & Pick<HoldRequest, "id">,
    { least, expected, most }: Range,
    longestMs: number | null = null,
  ): Promise<HoldVerdict> {
    const { holdBook, clock, onBudgetRefused } = this.parts;
    const holdMs = longestMs === null ? this.parts.holdMs : longestMs + HOLD_MARGIN_MS;
    const { account } = principal;
    const { budgets } = account;
    const verdict = await holdBook.hold({
      id: spender.id,
      amount: expected,
      least,
      most,
      accountId: account.id,
      overdraft: account.overdraft,
      limits: limitsOf(principal, spender),
      spender,
      expiresAt: clock.now() + holdMs,
    });
    if (budgets !== undefined && verdict.kind === "refused" && verdict.budget !== undefined)
      onBudgetRefused?.(budgets, verdict.budget.id, spender);
    return verdict;
  }

  /** Raises a hold to `amount`, or as far as possible, and returns the amount that is held now. */
  grow(id: string, amount: number): number {
    return this.parts.holdBook.grow(id, amount);
  }

  /** Like `grow`, and waits a short time for what must be borrowed first. Never rejects. */
  growSoon(id: string, amount: number): Promise<number> {
    return this.parts.holdBook.growSoon(id, amount);
  }

  /** Ends the hold of a generation and charges its cost. */
  settle(id: string, cost: number): void {
    this.parts.holdBook.settle(id, cost);
  }

  /** Takes back the charge of a settled generation whose record was quarantined: the store does not charge it. */
  takeBack({
    accountId,
    costNanodollars,
    outcome,
    leasedFrom,
  }: Pick<UsageRecord, "accountId" | "costNanodollars" | "outcome" | "leasedFrom">) {
    if (accountId !== null && outcome !== "open" && Number.isSafeInteger(costNanodollars))
      this.parts.holdBook.credit(accountId, costNanodollars, leasedFrom);
  }

  /** Writes a transfer. Returns false if there is already one with that id. */
  async transfer(transfer: Transfer): Promise<boolean> {
    const isNew = await this.parts.store.addTransfer(transfer);
    await this.refresh();
    return isNew;
  }

  /** Refunds the cost of a generation, or a part of it. */
  async refund(refund: RefundEntry): Promise<RefundVerdict> {
    // The cost of a generation that has just ended may not be in the store yet.
    await this.parts.recorder.drain();
    const verdict = await this.parts.store.addRefund(refund);
    await this.refresh();
    return verdict;
  }

  /** Takes back the rests of expired grants. */
  expireGrants(): Promise<void> {
    return this.sweeper.sweep(this.parts.clock.now());
  }

  /** Leaves expired grants to another gateway, and releases their reserved rests here. */
  leaveGrants(): void {
    this.sweeper.release();
  }

  balanceOf(accountId: string): Promise<AccountBalance> {
    return this.parts.holdBook.balanceOf(accountId);
  }

  /** Returns a balance in nanodollars; null if it is not cached: `balanceOf` caches it. */
  cachedBalanceOf(accountId: string): number | null {
    return this.parts.holdBook.cachedBalanceOf(accountId);
  }

  /** Returns the holds in progress. */
  holds(): readonly ListedHold[] {
    return this.parts.holdBook.holds();
  }

  /** Applies credits of other processes and releases lapsed holds. */
  refresh(): Promise<void> {
    return this.parts.holdBook.refresh(this.parts.clock.now());
  }
}
