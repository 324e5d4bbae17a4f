import type { Log } from "../../../base/failures/log.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { nextTurn } from "../../../base/time/next-turn.ts";
import { DAY_MS, HOUR_MS } from "../../../base/time/time.ts";
import type { AccountStore } from "../../accounts/stores/account-store.ts";
import type { ResponseStore } from "../records/response-store.ts";

/** The number of objects that one step deletes: few, because each may be megabytes, and other work waits. */
const DELETED_AT_ONCE = 50;
/** The number of chains that one step changes, and of accounts that it compares. */
const PAGE = 1_000;
/** The longest time until the store is asked again. Milliseconds. */
const MAX_WAIT_MS = HOUR_MS;

/** The dependencies of a sweep. */
interface ObjectSweepDeps {
  readonly store: ResponseStore;
  readonly accounts: Pick<AccountStore, "accountRevision" | "findClosed">;
  readonly clock: Clock;
  readonly log: Pick<Log, "info">;
  /** Returns for how many days a chain is kept after its last use. */
  readonly retentionDays: () => number;
}

/** Deletes chains that have expired, and everything of closed accounts. */
export class ObjectSweep {
  /** When the store is asked again. A gateway whose store has nothing to delete does not wake its thread each minute. */
  private nextAt = 0;
  /** The values of the last run. */
  private days: number | null = null;
  private revision: number | null = null;

  constructor(private readonly deps: ObjectSweepDeps) {}

  /** Does what is due. Rejects with a `StoreError`; the next run repeats what was not done. */
  async run(): Promise<void> {
    const { accounts, clock, retentionDays } = this.deps;
    const [now, days] = [clock.now(), retentionDays()];
    const revision = await accounts.accountRevision();
    const hasOtherDays = days !== this.days;
    const isDue = now >= this.nextAt || hasOtherDays;
    if (hasOtherDays) await this.limitExpiry(now + (days + 1) * DAY_MS);
    if (isDue) await this.deleteExpired(now);
    if (isDue || revision !== this.revision) await this.eraseClosed();
    this.days = days;
    this.revision = revision;
  }

  /** Applies a shorter retention to what is stored already. A day more, because a chain that is used does not note each use. */
  private async limitExpiry(latest: number): Promise<void> {
    while ((await this.deps.store.limitExpiry(latest, PAGE)) >= PAGE) await nextTurn();
  }

  private async deleteExpired(now: number): Promise<void> {
    const { store } = this.deps;
    while ((await store.deleteExpired(now, DELETED_AT_ONCE)) >= DELETED_AT_ONCE) await nextTurn();
    const next = (await store.findNextExpiry()) ?? Number.POSITIVE_INFINITY;
    this.nextAt = Math.min(next, now + MAX_WAIT_MS);
  }

  /** Deletes the objects of closed accounts, of which the ledger and the records stay. */
  private async eraseClosed(): Promise<void> {
    const { store, accounts } = this.deps;
    let afterId: string | null = null;
    for (;;) {
      const ids: readonly string[] = await store.listAccounts(afterId, PAGE);
      for (const id of await accounts.findClosed(ids)) await this.erase(id);
      if (ids.length < PAGE) return;
      afterId = ids.at(-1) ?? null;
    }
  }

  private async erase(accountId: string): Promise<void> {
    let deleted = 0;
    for (let step = DELETED_AT_ONCE; step >= DELETED_AT_ONCE; await nextTurn()) {
      step = await this.deps.store.deleteOfAccount(accountId, DELETED_AT_ONCE);
      deleted += step;
    }
    if (deleted > 0)
      this.deps.log.info("the response objects of a closed account were deleted", {
        account_id: accountId,
        deleted,
      });
  }
}
