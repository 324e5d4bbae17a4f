import { nextTurn } from "../../../base/time/next-turn.ts";
import type { Recorder } from "../../usage/journal/recorder.ts";
import type { HoldBook } from "../holds/hold-book.ts";
import type { EndedGrant, LedgerStore } from "../records/ledger-store.ts";

/** The maximum number of grants that one sweep takes back. */
const PAGE = 100;

/** The prefix of the id of a hold that reserves the rest of an expired grant. */
const RESERVE = "expiry of ";

/** The dependencies of a grant sweeper. */
interface GrantSweeperParts {
  readonly store: Pick<LedgerStore, "listEndedGrants" | "findGrantsLeft" | "expireGrant">;
  readonly holdBook: HoldBook;
  readonly recorder: Pick<Recorder, "drain">;
}

/**
 * Takes back the rests of expired grants. Generations that run when a grant expires may still spend it: its rest is reserved for them with
 * a hold, and taken back when the last of them has ended. An expiry never makes a balance negative.
 */
export class GrantSweeper {
  /** The generations that ran when a grant expired, by grant. */
  private readonly earlier = new Map<string, readonly string[]>();
  /**
   * The last grant of the previous sweep, unless that reached the end. The next sweep continues after it, so that grants that must wait do
   * not delay others.
   */
  private last: EndedGrant | null = null;
  private isSweeping = false;

  constructor(private readonly parts: GrantSweeperParts) {}

  /**
   * Tries the next grants, and begins again after the last of all; no-op while a sweep runs. Rejects with the first failure, after every
   * grant of this sweep was tried.
   */
  async sweep(now: number): Promise<void> {
    if (this.isSweeping) return;
    this.isSweeping = true;
    try {
      const ended = await this.parts.store.listEndedGrants(now, PAGE, this.last);
      this.last = ended.length < PAGE ? null : (ended.at(-1) ?? null);
      if (ended.length > 0) await this.parts.recorder.drain();
      const failures: unknown[] = [];
      for (const { id, accountId } of ended) {
        await this.expire(id, accountId, now).catch((error) => failures.push(error));
        // Each step reads the credits of an account, and a hundred grants may end at the same time.
        await nextTurn();
      }
      if (failures.length > 0) throw failures[0];
    } finally {
      this.isSweeping = false;
    }
  }

  /** Releases the reserved rests of expired grants, because another gateway takes them back from now on. */
  release(): void {
    for (const grantId of this.earlier.keys()) this.parts.holdBook.settle(RESERVE + grantId, 0);
    this.earlier.clear();
    this.last = null;
  }

  private async expire(grantId: string, accountId: string, now: number): Promise<void> {
    const { store, holdBook, recorder } = this.parts;
    const reserve = RESERVE + grantId;
    const amount = (await store.findGrantsLeft(accountId)).find(({ id }) => id === grantId)?.left ?? 0;
    holdBook.settle(reserve, 0);
    const held = { id: reserve, accountId, overdraft: null, amount, limits: [] };
    await holdBook.hold({ ...held, expiresAt: Number.POSITIVE_INFINITY });
    const running = this.listRunning(accountId);
    const waitFor = (this.earlier.get(grantId) ?? running).filter((id) => running.includes(id));
    this.earlier.set(grantId, waitFor);
    if (waitFor.length > 0) return;
    // A generation that has ended since the sweep began is not in the store yet, and its cost would be left of the grant.
    await recorder.drain();
    await store.expireGrant(grantId, now);
    await holdBook.refresh(now);
    holdBook.settle(reserve, 0);
    this.earlier.delete(grantId);
  }

  private listRunning(accountId: string): readonly string[] {
    const holds = this.parts.holdBook.holds();
    return holds.flatMap((hold) =>
      hold.accountId === accountId && !hold.id.startsWith(RESERVE) ? [hold.id] : [],
    );
  }
}
