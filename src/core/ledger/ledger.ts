import type { Clock } from "../../base/clock.ts";
import type { Caller } from "../accounts/records.ts";
import type { Recorder } from "../usage/recorder.ts";
import type { UsageRecord } from "../usage/records.ts";
import { createGrantSweeper } from "./expire-grants.ts";
import type { LedgerStore, RefundEntry, RefundVerdict } from "./ledger-store.ts";
import { createPurse, type HoldVerdict, type Purse } from "./purse.ts";
import type { Transfer } from "./records.ts";
import { type CallersLimit, limitsOf } from "./spend-limits.ts";

type KeyCaller = Extract<Caller, { kind: "key" }>;

/** What is to be held. */
export interface Hold {
  /** The generation's id. */
  readonly id: string;
  /** Nanodollars. */
  readonly amount: number;
  /** As in `HoldWish`. */
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
  hold(caller: KeyCaller, hold: Hold): HoldVerdict | null;
  /** Takes what the holds of a request of that time depend on into memory; then `hold` gives a verdict. */
  prepare(caller: KeyCaller, requestedAt: number): Promise<void>;
  /** Raises a hold to an amount, or as far as what is left allows; gives what is held then. */
  grow: Purse["grow"];
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
  holds: Purse["holds"];
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
  const purse = createPurse();
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
        purse.deposit(from, -amount);
        purse.deposit(to, amount);
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
      purse.load(accountId, balance);
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
    purse,
    loadAccount: async (accountId) => {
      if (!purse.isLoaded(accountId)) await loadAccount(accountId);
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
      purse.loadMeter(limit, await store.sumSpending(limit.query)),
    );

  return {
    async prepare(caller, requestedAt) {
      const limits = limitsOf(caller, requestedAt).filter((limit) => !purse.isMetered(limit));
      await Promise.all([
        purse.isLoaded(caller.account.id) ? null : loadAccount(caller.account.id),
        ...limits.map(loadMeter),
      ]);
    },
    hold(caller, { requestedAt, ...hold }) {
      const { account } = caller;
      const limits = limitsOf(caller, requestedAt);
      if (!purse.isLoaded(account.id) || !limits.every(purse.isMetered)) return null;
      const expiresAt = clock.now() + holdMs;
      return purse.hold({
        ...hold,
        accountId: account.id,
        overdraft: account.overdraft,
        limits,
        expiresAt,
      });
    },
    grow: purse.grow,
    settle: purse.settle,
    takeBack({ accountId, costNanodollars: cost, outcome }) {
      if (accountId !== null && outcome !== "open" && Number.isSafeInteger(cost))
        purse.deposit(accountId, cost);
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
      if (!purse.isLoaded(accountId)) await loadAccount(accountId);
      return purse.balanceOf(accountId) ?? { balance: 0, held: 0 };
    },
    knownBalanceOf: (accountId) => purse.balanceOf(accountId)?.balance ?? null,
    holds: purse.holds,
    async refresh() {
      purse.sweep(clock.now());
      await refresh();
    },
  };
}
