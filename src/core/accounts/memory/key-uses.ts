import { nextTurn } from "../../../base/time/next-turn.ts";
import { HOUR_MS } from "../../../base/time/time.ts";
import type { KeyStore, KeyUse } from "../stores/key-store.ts";

/** The maximum number of keys of one hour in memory. If there are more, some are saved more than once. */
const MAX_SEEN = 100_000;
/**
 * The number of uses that one transaction stores, and the number of transactions in one call of `save`, each in a turn of the event loop of
 * its own.
 */
const GROUP = 250;
const MAX_GROUPS = 8;

/**
 * Collects in which hour each key was last used, until that is saved. A key is collected once an hour, so most uses cost only a lookup of
 * its id.
 */
export class KeyUses {
  /** The beginning of the present hour, in milliseconds since the epoch. */
  private hour = 0;
  /** The keys that were collected in this hour. */
  private readonly seen = new Set<string>();
  /** The uses to be saved, by key and secret. */
  private readonly waiting = new Map<string, KeyUse>();

  constructor(private readonly store: Pick<KeyStore, "recordKeyUses">) {}

  /** `now` is in milliseconds since the epoch. `isPrevious`: it was the secret before the last rotation. */
  record(id: string, now: number, isPrevious = false): void {
    if (now - this.hour >= HOUR_MS || this.seen.size >= MAX_SEEN) {
      this.hour = now - (now % HOUR_MS);
      this.seen.clear();
    }
    const name = isPrevious ? `${id} previous` : id;
    if (this.seen.has(name)) return;
    this.seen.add(name);
    this.waiting.set(name, { id, usedAt: this.hour, ...(isPrevious ? { isPrevious } : {}) });
  }

  /** Saves some of the collected uses. Uses that the store does not accept are kept. */
  async save(): Promise<void> {
    for (let group = 0; group < MAX_GROUPS && this.waiting.size > 0; group++) {
      if (group > 0) await nextTurn();
      await this.saveGroup();
    }
  }

  private async saveGroup(): Promise<void> {
    const saving = [...this.waiting].slice(0, GROUP);
    await this.store.recordKeyUses(saving.map(([, use]) => use));
    // A use of a later hour may have been collected meanwhile.
    for (const [name, use] of saving) if (this.waiting.get(name) === use) this.waiting.delete(name);
  }
}
