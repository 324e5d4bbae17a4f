import type { Clock, Timer } from "../../../base/time/clock.ts";
import { nextTurn } from "../../../base/time/next-turn.ts";
import { findNames, type NameStores, type Names } from "../../accounts/stores/find-names.ts";
import type { UsageRecord } from "../records/records.ts";
import { NewRejections } from "../rejections/new-rejections.ts";
import { presentRejection } from "../rejections/present-rejection.ts";
import type { Rejection } from "../rejections/rejection.ts";
import {
  matchesRejection,
  type RejectionFilter,
  type RejectionQuery,
} from "../rejections/rejection-store.ts";
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

/** A generation that is new or has changed, or a rejected request. */
export type FeedEntry = FeedItem & {
  /** The JSON of its line in a list (`presentGenerationLine`, `presentRejection`). */
  readonly json: string;
};

type FeedItem =
  | { readonly kind: "generation"; readonly record: UsageRecord }
  | { readonly kind: "rejection"; readonly rejection: Rejection };

/** Changes that were found at the same time. */
export interface FeedBatch {
  /** When they were found. Rises from batch to batch. Milliseconds since the epoch. */
  readonly at: number;
  /** The earliest first, at most 250. */
  readonly entries: readonly FeedEntry[];
  /** How many further changes are left out since the last batch that was taken. */
  readonly dropped: number;
}

/** Receives the changes of generations and the rejected requests that match a filter. */
interface FeedSubscriber {
  /** Whose place it takes; null for the operator. */
  readonly owner: FeedOwner | null;
  /** Null: no generations. */
  readonly filter: GenerationFilter | null;
  /** Null: no rejected requests. */
  readonly rejectionFilter: RejectionFilter | null;
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
  readonly rejections: RejectionList;
  readonly names: NameStores;
  /** Called after each reading of the store. */
  readonly onSuccess: () => void;
  /** Called with each failure of the store. The feed continues. */
  readonly onFailure: (error: unknown) => void;
}

/** Lists rejected requests. */
interface RejectionList {
  list(query: RejectionQuery): Promise<readonly Rejection[]>;
}

interface Subscribed extends FeedSubscriber {
  dropped: number;
}

/**
 * Tells subscribers which generations are new or have changed, and which requests were rejected, of all gateways that share the store. Reads the store only while there are
 * subscribers, and adds no work to requests.
 */
export class GenerationFeed {
  private readonly subscribers = new Set<Subscribed>();
  private readonly places = new FeedPlaces<Subscribed>();
  private followed = new FollowedGenerations();
  private rejections = new NewRejections();
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
    await this.rejections.read(this.parts.rejections, now);
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
    this.rejections = new NewRejections();
  }

  private async poll(): Promise<void> {
    const now = this.parts.clock.now();
    const changes = await this.readChanges(now);
    const rejected = await this.rejections.read(this.parts.rejections, now);
    const entries = await this.printEntries(changes.records, rejected);
    if (this.timer !== null && entries.length > 0)
      await this.tell(Math.max(this.lastAt + 1, now), entries, changes.dropped);
  }

  private async readChanges(now: number): Promise<Changes> {
    const { usage } = this.parts;
    const newest = await usage.listStates(now - OVERLAP_MS, MAX_READ);
    const { ids, dropped } = this.followed.select(newest, FOUND_GENERATIONS);
    const found = ids.length === 0 ? [] : await usage.findGenerations(ids);
    const records = this.followed.learn(found);
    if (dropped > 0) this.followed.know(newest);
    this.followed.forgetBefore(now - OVERLAP_MS);
    return { records, dropped };
  }

  private async printEntries(
    records: readonly UsageRecord[],
    rejected: readonly Rejection[],
  ): Promise<readonly FeedEntry[]> {
    if (records.length + rejected.length === 0) return [];
    const names = await findNames(this.parts.names, [...records, ...rejected]);
    const items: FeedItem[] = [
      ...records.map((record) => ({ kind: "generation", record }) as const),
      ...rejected.map((rejection) => ({ kind: "rejection", rejection }) as const),
    ];
    const entries: FeedEntry[] = [];
    for (const [at, item] of items.entries()) {
      if (at > 0 && at % PRINTED_AT_ONCE === 0) await nextTurn();
      entries.push({ ...item, json: JSON.stringify(presentItem(item, names)) });
    }
    return entries;
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

/** What a reading has found of generations. */
interface Changes {
  readonly records: readonly UsageRecord[];
  readonly dropped: number;
}

function presentItem(item: FeedItem, names: Names): Record<string, unknown> {
  return item.kind === "generation"
    ? presentGenerationLine(item.record, names)
    : presentRejection(item.rejection, names);
}

function matches(entry: FeedEntry, { filter, rejectionFilter }: FeedSubscriber): boolean {
  if (entry.kind === "generation") return filter !== null && matchesFilter(entry.record, filter);
  return rejectionFilter !== null && matchesRejection(entry.rejection, rejectionFilter);
}

/** Returns whether there was something to send. */
function send(subscriber: Subscribed, at: number, entries: readonly FeedEntry[]): boolean {
  const matching = entries.filter((entry) => matches(entry, subscriber));
  if (matching.length === 0) return false;
  const shown = matching.slice(-MAX_BATCH);
  const dropped = subscriber.dropped + matching.length - shown.length;
  const isTaken = subscriber.onBatch({ at, entries: shown, dropped });
  subscriber.dropped = isTaken ? 0 : dropped + shown.length;
  return true;
}
