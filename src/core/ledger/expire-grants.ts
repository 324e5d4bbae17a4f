import type { HoldBook } from "./hold-book.ts";
import type { LedgerStore } from "./ledger-store.ts";

/** Grants that are looked at in one go. */
const PAGE = 100;

/** What ending grants takes. */
export interface GrantSweep {
  readonly store: Pick<LedgerStore, "listEndedGrants" | "findGrantsLeft" | "expireGrant">;
  readonly holdBook: HoldBook;
  /** Takes an account into memory. */
  readonly loadAccount: (accountId: string) => Promise<void>;
  /** Brings what was used to the store. */
  readonly drain: () => Promise<void>;
  /** Takes transfers of the store over into memory. */
  readonly refresh: () => Promise<void>;
}

/** Holds that are no request's begin so. */
const RESERVE = "expiry of ";

/** Takes back what is left of grants whose time is up. */
export type GrantSweeper = (now: number) => Promise<void>;

/**
 * Makes a sweeper. What runs when a grant ends may still use it: what is left is kept from everybody else and taken back
 * when the last of those requests is over. So no balance falls below zero by it.
 */
export function createGrantSweeper(sweep: GrantSweep): GrantSweeper {
  const { store, holdBook } = sweep;
  /** The requests that were under way when a grant ended, by grant. */
  const earlier = new Map<string, readonly string[]>();
  let isSweeping = false;

  const expire = async (grantId: string, accountId: string, now: number): Promise<void> => {
    await sweep.loadAccount(accountId);
    const left = (await store.findGrantsLeft(accountId)).find(({ id }) => id === grantId)?.left ?? 0;
    const reserve = RESERVE + grantId;
    const running = holdBook
      .holds()
      .filter((hold) => hold.accountId === accountId && !hold.id.startsWith(RESERVE));
    const ids = new Set(running.map(({ id }) => id));
    const waitFor = (earlier.get(grantId) ?? [...ids]).filter((id) => ids.has(id));
    holdBook.settle(reserve, 0);
    holdBook.hold({ id: reserve, accountId, overdraft: null, amount: left, limits: [], expiresAt: Infinity });
    earlier.set(grantId, waitFor);
    if (waitFor.length > 0) return;
    await store.expireGrant(grantId, now);
    await sweep.refresh();
    holdBook.settle(reserve, 0);
    earlier.delete(grantId);
  };

  return async (now) => {
    if (isSweeping) return;
    isSweeping = true;
    try {
      const ended = await store.listEndedGrants(now, PAGE);
      if (ended.length > 0) await sweep.drain();
      const failures: unknown[] = [];
      // One that the store rejects keeps no other from its end.
      for (const { id, accountId } of ended)
        await expire(id, accountId, now).catch((error) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    } finally {
      isSweeping = false;
    }
  };
}
