import type { Clock, Timer } from "../../../base/time/clock.ts";
import { nextTurn } from "../../../base/time/next-turn.ts";
import { findNames, type NameStores } from "../../accounts/stores/find-names.ts";
import type { UsageRecord } from "../records/records.ts";
import { type FEED_PLACES, type FeedOwner, FeedPlaces } from "./feed-places.ts";
import { FollowedGenerations } from "./followed-generations.ts";
import {
  ANY_GENERATION,
  FOUND_GENERATIONS,
  type GenerationFilter,
  type GenerationList,
  matchesFilter,
} from "./generation-list.ts";
import { presentGenerationLine } from "./present-generation.ts";

/** How often the store is read while there are subscribers. Milliseconds. */
const POLL_MS = 500;
/** How far back each reading begins, because records are saved some time after their ids were made. Milliseconds. */
const OVERLAP_MS = 5_000;
/** The maximum number of generations of one reading. */
const MAX_READ = 5_000;
/** How long the store is still read after the last subscriber has left, so that a subscriber who comes back misses nothing. Milliseconds. */
const LINGER_MS = 30_000;
/** The number of changes that are kept for subscribers who come back. */
const RING = 1_000;
/** The maximum number of changes that a subscriber gets together. */
const MAX_BATCH = 250;
/** The number of records that are printed in one turn of the event loop. */
const PRINTED_AT_ONCE = 100;

/** A generation that is new or has changed. */
export interface FeedEntry {
  readonly record: UsageRecord;
  /** The JSON of its line in a list (`presentGenerationLine`). */
  readonly json: string;
}

/** Changes that were found at the same time. */
export interface FeedBatch {
  /** When they were found. Rises from batch to batch. Milliseconds since the epoch. */
  readonly at: number;
  /** The earliest first, at most 250. */
  readonly entries: readonly FeedEntry[];
  /** How many further changes are left out since the last batch that was taken. */
  readonly dropped: number;
}

/** Receives the changes of generations that match a filter. */
interface FeedSubscriber {
  /** Whose place it takes; null for the operator. */
  readonly owner: FeedOwner | null;
  readonly filter: GenerationFilter;
  /** Receives a batch. Returns false if the subscriber cannot receive it now; it then counts as dropped. */
  onBatch(batch: FeedBatch): boolean;
  /** Called once, when the feed ends, or another account gets the place. */
  onClose(): void;
}

/** A subscription that has begun. */
interface Subscription {
  /** The time since when the subscriber gets all changes. Milliseconds since the epoch. */
  readonly since: number;
  /** Whether the changes after the last batch that the subscriber saw are sent again; false: it must read the list again. */
  readonly isResumed: boolean;
  close(): void;
}

/** Why a subscription has not begun: the places that are all taken, or the end of the feed. */
export type FeedRejection = { readonly full: keyof typeof FEED_PLACES } | { readonly full: "closed" };

/** The dependencies of a feed. */
interface FeedParts {
  readonly clock: Clock;
  readonly usage: GenerationList;
  readonly names: NameStores;
  /** Called after each reading of the store. */
  readonly onSuccess: () => void;
  /** Called with each failure of the store. The feed continues. */
  readonly onFailure: (error: unknown) => void;
}

interface Subscribed extends FeedSubscriber {
  dropped: number;
}

/**
 * Tells subscribers which generations are new or have changed, of all gateways that share the store. Reads the store only while there are
 * subscribers, and adds no work to requests.
 */
export class GenerationFeed {
  private readonly subscribers = new Set<Subscribed>();
  private readonly places = new FeedPlaces<Subscribed>();
  private followed = new FollowedGenerations();
  private ring: { readonly at: number; readonly entry: FeedEntry }[] = [];
  /** The ring has all changes after this time. */
  private coveredFrom = Number.POSITIVE_INFINITY;
  private lastAt = 0;
  private timer: Timer | null = null;
  private starting: Promise<void> | null = null;
  private polling: Promise<void> | null = null;
  private lonelySince = 0;
  private isClosed = false;

  constructor(private readonly parts: FeedParts) {}

  /**
   * Begins a subscription, unless there are too many or the feed has ended. `seenAt`: the batch that the subscriber saw last. Rejects
   * with a `StoreError`.
   */
  async subscribe(subscriber: FeedSubscriber, seenAt: number | null): Promise<Subscription | FeedRejection> {
    if (this.isClosed) return { full: "closed" };
    const subscribed: Subscribed = { ...subscriber, dropped: 0 };
    const place = this.places.take(subscribed, subscriber.owner);
    if (place.kind === "full") return { full: place.by };
    if (place.displaced !== null) this.end(place.displaced);
    this.subscribers.add(subscribed);
    const close = () => this.leave(subscribed);
    try {
      await this.start();
    } catch (error) {
      close();
      throw error;
    }
    if (!this.subscribers.has(subscribed)) return { full: this.isClosed ? "closed" : "accounts" };
    const isResumed = seenAt !== null && this.coveredFrom <= seenAt && seenAt <= this.lastAt;
    if (isResumed) this.replay(subscribed, seenAt);
    return { since: this.lastAt, isResumed, close };
  }

  /** Ends all subscriptions. No further ones begin. */
  close(): void {
    this.isClosed = true;
    this.stop();
    for (const subscriber of [...this.subscribers]) this.end(subscriber);
  }

  /** Returns the number of subscribers. */
  get size(): number {
    return this.subscribers.size;
  }

  private end(subscriber: Subscribed): void {
    this.leave(subscriber);
    subscriber.onClose();
  }

  private leave(subscriber: Subscribed): void {
    this.places.leave(subscriber);
    if (this.subscribers.delete(subscriber) && this.subscribers.size === 0)
      this.lonelySince = this.parts.clock.now();
  }

  /** Begins to read the store. Its present state is recorded as known, and subscribers get only later changes. */
  private async start(): Promise<void> {
    if (this.timer !== null) return;
    this.starting ??= this.learnPresent().finally(() => {
      this.starting = null;
    });
    await this.starting;
  }

  private async learnPresent(): Promise<void> {
    const { clock, usage } = this.parts;
    const now = clock.now();
    const open = await usage.listGenerations({
      ...ANY_GENERATION,
      outcome: "open",
      before: null,
      limit: FOUND_GENERATIONS,
    });
    this.followed.know(open.records);
    this.followed.know(await usage.listStates(now - OVERLAP_MS, MAX_READ));
    if (this.isClosed) return;
    this.lastAt = Math.max(this.lastAt + 1, now);
    this.coveredFrom = this.lastAt;
    this.timer = clock.every(POLL_MS, () => this.tick());
  }

  private tick(): void {
    const isLonely = this.subscribers.size === 0;
    if (isLonely && this.parts.clock.now() - this.lonelySince >= LINGER_MS) this.stop();
    else
      this.polling ??= this.poll()
        .then(this.parts.onSuccess, this.parts.onFailure)
        .finally(() => {
          this.polling = null;
        });
  }

  private stop(): void {
    this.timer?.cancel();
    this.timer = null;
    this.ring = [];
    this.coveredFrom = Number.POSITIVE_INFINITY;
    this.followed = new FollowedGenerations();
  }

  private async poll(): Promise<void> {
    const { clock, usage, names: stores } = this.parts;
    const now = clock.now();
    const newest = await usage.listStates(now - OVERLAP_MS, MAX_READ);
    const { ids, dropped } = this.followed.select(newest, FOUND_GENERATIONS);
    if (ids.length === 0) return;
    const found = await usage.findGenerations(ids);
    const names = await findNames(stores, found);
    if (this.timer === null) return;
    const records = this.followed.learn(found);
    if (dropped > 0) this.followed.know(newest);
    this.followed.forgetBefore(now - OVERLAP_MS);
    const entries: FeedEntry[] = [];
    for (const [at, record] of records.entries()) {
      if (at > 0 && at % PRINTED_AT_ONCE === 0) await nextTurn();
      entries.push({ record, json: JSON.stringify(presentGenerationLine(record, names)) });
    }
    if (this.timer !== null && entries.length > 0)
      await this.tell(Math.max(this.lastAt + 1, now), entries, dropped);
  }

  /** Notifies each subscriber in a separate turn of the event loop, because a batch may have a megabyte. */
  private async tell(at: number, entries: readonly FeedEntry[], dropped: number): Promise<void> {
    this.lastAt = at;
    this.ring.push(...entries.map((entry) => ({ at, entry })));
    const outdated = this.ring.splice(0, Math.max(0, this.ring.length - RING)).at(-1);
    // Changes that were left out of the batch cannot be sent again either.
    if (outdated !== undefined) this.coveredFrom = Math.max(this.coveredFrom, outdated.at);
    if (dropped > 0) this.coveredFrom = at;
    // A subscriber that joins meanwhile gets what the ring contains.
    for (const subscriber of [...this.subscribers]) {
      if (!this.subscribers.has(subscriber)) continue;
      subscriber.dropped += dropped;
      if (send(subscriber, at, entries)) await nextTurn();
    }
  }

  private replay(subscriber: Subscribed, seenAt: number): void {
    const missed = this.ring.filter(({ at }) => at > seenAt).map(({ entry }) => entry);
    send(subscriber, this.lastAt, missed);
  }
}

/** Returns whether there was something to send. */
function send(subscriber: Subscribed, at: number, entries: readonly FeedEntry[]): boolean {
  const matching = entries.filter(({ record }) => matchesFilter(record, subscriber.filter));
  if (matching.length === 0) return false;
  const shown = matching.slice(-MAX_BATCH);
  const dropped = subscriber.dropped + matching.length - shown.length;
  const isTaken = subscriber.onBatch({ at, entries: shown, dropped });
  subscriber.dropped = isTaken ? 0 : dropped + shown.length;
  return true;
}
