import type { Clock } from "../../base/clock.ts";
import type { Principal } from "../accounts/records.ts";
import type { Recorder } from "../usage/recorder.ts";
import type { UsageRecord } from "../usage/records.ts";
import { createGrantSweeper } from "./expire-grants.ts";
import { createHoldBook, type HoldBook, type HoldVerdict } from "./hold-book.ts";
import type { LedgerStore, RefundEntry, RefundVerdict } from "./ledger-store.ts";
import type { Transfer } from "./records.ts";
import { type CallersLimit, limitsOf } from "./spend-limits.ts";

type KeyCaller = Extract<Principal, { kind: "key" }>;

/** What is to be held. */
export interface Hold {
  /** The generation's id. */
  readonly id: string;
  /** Nanodollars. */
  readonly amount: number;
  /** As in `HoldRequest`. */
  readonly least?: number;
  readonly most?: number;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
}

/** Deposits that are read at once. */
const PAGE = 500;

/**
 * What accounts have and may spend. Holds are taken in memory before an upstream is called; what a generation cost is
 * written with its record (`UsageStore.saveUsage`), everything else as a transfer of its own.
 */
export interface Ledger {
  /**
   * Holds for a request of that time; null where what it depends on is not in memory. A request counts for the limits of the
   * day that it came on, whenever its answer ends.
   */
  hold(principal: KeyCaller, hold: Hold): HoldVerdict | null;
  /** Takes what the holds of a request of that time depend on into memory; then `hold` gives a verdict. */
  prepare(principal: KeyCaller, requestedAt: number): Promise<void>;
  /** Raises a hold to an amount, or as far as what is left allows; gives what is held then. */
  grow: HoldBook["grow"];
  /** The generation is over and has cost this; its hold is gone. */
  settle(id: string, cost: number): void;
  /** A generation that was settled is in no book: it has cost its account nothing. */
  takeBack(record: Pick<UsageRecord, "accountId" | "costNanodollars" | "outcome">): void;
  /** Moves money that no generation does; false when that transfer was made before. */
  transfer(transfer: Transfer): Promise<boolean>;
  /** Gives back what a generation cost, or a part of it. */
  refund(refund: RefundEntry): Promise<RefundVerdict>;
  /** Takes back what is left of grants whose time is up. */
  expireGrants(): Promise<void>;
  /** An account's balance and what is held of it, nanodollars. */
  balanceOf(accountId: string): Promise<{ readonly balance: number; readonly held: number }>;
  /** An account's balance as memory has it, nanodollars; null where it does not: `prepare` first. */
  knownBalanceOf(accountId: string): number | null;
  /** Holds under way. */
  holds: HoldBook["holds"];
  /** Takes over what other processes have put in since the last look. */
  refresh(): Promise<void>;
}

/**
 * A ledger over a store. `recorder` is drained where the store must know all that was spent. `holdMs` is longer than any
 * generation may take: a hold that is older was forgotten, and one that is let go too early would leave its cost out.
 */
export function createLedger(
  store: LedgerStore,
  recorder: Pick<Recorder, "drain">,
  clock: Clock,
  holdMs: number,
): Ledger {
  const holdBook = createHoldBook();
  /** Loads under way, so that each is made once. */
  const loading = new Map<string, Promise<void>>();
  /** The place of the newest deposit that memory knows. */
  let seen = 0;

  const once = (name: string, load: () => Promise<void>): Promise<void> => {
    const running = loading.get(name) ?? load().finally(() => loading.delete(name));
    loading.set(name, running);
    return running;
  };

  const look = async (): Promise<void> => {
    for (;;) {
      const deposits = await store.listDeposits(seen, PAGE);
      for (const { from, to, amount } of deposits) {
        holdBook.deposit(from, -amount);
        holdBook.deposit(to, amount);
      }
      seen = deposits.at(-1)?.place ?? seen;
      if (deposits.length < PAGE) return;
    }
  };

  /** A balance with all deposits in it that memory has seen and no others: those that follow are added to it. */
  const load = async (accountId: string): Promise<void> => {
    for (;;) {
      await look();
      const { balance, depositPlace } = await store.findBalance(accountId);
      if (depositPlace !== seen) continue;
      holdBook.load(accountId, balance);
      return;
    }
  };

  /** One after the other: two looks at once would count a deposit twice, or lose it between two balances. */
  let last: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    last = last.catch(() => {}).then(work);
    return last;
  };
  const refresh = (): Promise<void> => inTurn(look);
  const loadAccount = (accountId: string): Promise<void> =>
    once(accountId, () => inTurn(() => load(accountId)));

  const expireGrants = createGrantSweeper({
    store,
    holdBook,
    loadAccount: async (accountId) => {
      if (!holdBook.isLoaded(accountId)) await loadAccount(accountId);
    },
    drain: () => recorder.drain(),
    refresh,
  });

  /**
   * All that was spent on it is in the store: what an earlier process did, since no request of this one is let in before
   * its meters stand.
   */
  const loadMeter = (limit: CallersLimit): Promise<void> =>
    once(`${limit.meter}@${limit.since}`, async () =>
      holdBook.loadMeter(limit, await store.sumSpending(limit.query)),
    );

  return {
    async prepare(principal, requestedAt) {
      const limits = limitsOf(principal, requestedAt).filter((limit) => !holdBook.isMetered(limit));
      await Promise.all([
        holdBook.isLoaded(principal.account.id) ? null : loadAccount(principal.account.id),
        ...limits.map(loadMeter),
      ]);
    },
    hold(principal, { requestedAt, ...hold }) {
      const { account } = principal;
      const limits = limitsOf(principal, requestedAt);
      if (!holdBook.isLoaded(account.id) || !limits.every(holdBook.isMetered)) return null;
      const expiresAt = clock.now() + holdMs;
      return holdBook.hold({
        ...hold,
        accountId: account.id,
        overdraft: account.overdraft,
        limits,
        expiresAt,
      });
    },
    grow: holdBook.grow,
    settle: holdBook.settle,
    takeBack({ accountId, costNanodollars: cost, outcome }) {
      if (accountId !== null && outcome !== "open" && Number.isSafeInteger(cost))
        holdBook.deposit(accountId, cost);
    },
    async transfer(transfer) {
      const isNew = await store.addTransfer(transfer);
      await refresh();
      return isNew;
    },
    async refund(refund) {
      // What has just ended may not be in the store yet.
      await recorder.drain();
      const verdict = await store.addRefund(refund);
      await refresh();
      return verdict;
    },
    expireGrants: () => expireGrants(clock.now()),
    async balanceOf(accountId) {
      if (!holdBook.isLoaded(accountId)) await loadAccount(accountId);
      return holdBook.balanceOf(accountId) ?? { balance: 0, held: 0 };
    },
    knownBalanceOf: (accountId) => holdBook.balanceOf(accountId)?.balance ?? null,
    holds: holdBook.holds,
    async refresh() {
      holdBook.sweep(clock.now());
      await refresh();
    },
  };
}
