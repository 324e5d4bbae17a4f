import { StoreError } from "../../base/failures/store-error.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { onNextTurn } from "../../base/time/next-turn.ts";
import type { Redis } from "./client.ts";
import {
  decodeAnswer,
  encodeQuestion,
  keyOf,
  type LimitAnswer,
  type LimitChange,
  type LimitQuestion,
} from "./limit-calls.ts";
import { COUNT } from "./limit-script.ts";
import type { OwnScope, ScopeCounts, TakenCounts } from "./scope-counts.ts";

/** Settings of a queue. */
interface CountQueueOptions {
  readonly redis: Redis;
  readonly clock: Clock;
  readonly counts: ScopeCounts;
  readonly prefix: string;
  /** The name of this gateway among those that count. */
  readonly gateway: string;
  /** How long a gateway's running requests count without being renewed. Milliseconds. */
  readonly leaseMs: number;
  /** Returns the time that is counted by. Milliseconds since the epoch. */
  readonly time: () => number;
}

/** How long a change that no request waits for may wait to be sent with others: one that frees a place, and one that does not. Milliseconds. */
const FREEING_MS = 5;
const CORRECTING_MS = 40;
/** Keys of one call: the script keeps the server from other work, longest when counts are carried. */
export const MAX_KEYS = 40;
const MAX_OPS = 400;
/** The maximum number of waiting changes. Further ones are dropped: places expire by themselves, and reserved amounts leave their window. */
const MAX_WAITING = 20_000;

/** A value was lost, and nothing was counted. */
const LOST = Symbol("lost");

interface Waiting {
  readonly question: LimitQuestion;
  readonly keys: readonly string[];
  readonly resolve: (answer: LimitAnswer | typeof LOST) => void;
  readonly reject: (error: unknown) => void;
}

/** The questions and changes that are sent in one call. All keys are in one partition. */
class Batch {
  readonly keys: string[] = [];
  readonly ops: (readonly unknown[])[] = [];
  readonly waiting: Waiting[] = [];
  readonly taken = new Map<OwnScope, TakenCounts>();
  private readonly indexes = new Map<string, number>();

  constructor(
    readonly partition: number,
    readonly fresh: string,
  ) {}

  /** Returns the index of a key, from 1 on. */
  indexOf(key: string): number {
    let index = this.indexes.get(key);
    if (index === undefined) {
      index = this.keys.push(key);
      this.indexes.set(key, index);
    }
    return index;
  }

  get isFull(): boolean {
    return this.keys.length >= MAX_KEYS || this.ops.length >= MAX_OPS;
  }
}

/**
 * Sends questions and changes to Redis in groups. The first question of a turn of the event loop waits for the end of the turn, and all
 * questions of the turn go together. Changes wait a moment for questions. Counts that were made without Redis, or that Redis has lost, are
 * carried with the first call that concerns their scope.
 */
export class CountQueue {
  /** By partition. */
  private readonly batches = new Map<number, Batch>();
  private timer: Timer | null = null;
  private timerAt = Number.POSITIVE_INFINITY;
  /** Whether a question was sent in this turn of the event loop, and whether others wait for its end. */
  private hasSent = false;
  private mustSend = false;
  private waitingChanges = 0;
  private sent = 0;
  private readonly inFlight = new Set<Promise<void>>();

  constructor(private readonly options: CountQueueOptions) {}

  /** Sends a question about scopes of one partition. Rejects with a `StoreError` if Redis fails; it may have counted the request. */
  async ask(question: LimitQuestion): Promise<LimitAnswer> {
    const answer = await this.askOnce(question);
    if (answer !== LOST) return answer;
    // Lost counts are carried with the next call.
    const again = await this.askOnce(question);
    if (again !== LOST) return again;
    throw new StoreError("Redis loses its data");
  }

  /** Changes a scope soon, in a group with others. */
  change(key: string, change: LimitChange): void {
    if (this.waitingChanges >= MAX_WAITING) return;
    this.waitingChanges += 1;
    const batch = this.batchOf(key);
    const [name, ...values] = change;
    batch.ops.push([name, batch.indexOf(key), ...values]);
    this.flushWithin(CORRECTING_MS);
  }

  /** Sends Redis soon what must be carried, or has ended, for a scope. */
  touch(key: string): void {
    this.batchOf(key).indexOf(key);
    this.flushWithin(FREEING_MS);
  }

  /** Sends everything that waits. Resolves when all of it has an outcome. */
  async flush(): Promise<void> {
    this.sendAll();
    await Promise.all([...this.inFlight]);
  }

  private askOnce(question: LimitQuestion): Promise<LimitAnswer | typeof LOST> {
    const { promise, resolve, reject } = Promise.withResolvers<LimitAnswer | typeof LOST>();
    const keys = question.scopes.map((scope) => keyOf(this.options.prefix, scope));
    const batch = this.batchOf(keys[0] as string);
    batch.ops.push(encodeQuestion(question, (scope) => batch.indexOf(keyOf(this.options.prefix, scope))));
    batch.waiting.push({ question, keys, resolve, reject });
    if (this.hasSent) {
      this.mustSend = true;
    } else {
      this.hasSent = true;
      this.send(batch);
      onNextTurn(() => this.endTurn());
    }
    return promise;
  }

  private batchOf(key: string): Batch {
    const partition = this.options.redis.partitionOf(key);
    let batch = this.batches.get(partition);
    if (batch?.isFull === true) {
      this.send(batch);
      batch = undefined;
    }
    if (batch === undefined) {
      this.sent += 1;
      batch = new Batch(partition, `${this.options.gateway}.${this.sent}.`);
      this.batches.set(partition, batch);
    }
    return batch;
  }

  private flushWithin(waitMs: number): void {
    const { clock } = this.options;
    const at = clock.now() + waitMs;
    if (at >= this.timerAt) return;
    this.timer?.cancel();
    this.timerAt = at;
    this.timer = clock.after(waitMs, () => this.sendAll());
  }

  private endTurn(): void {
    this.hasSent = false;
    if (this.mustSend) this.sendAll();
  }

  private sendAll(): void {
    this.mustSend = false;
    this.timer?.cancel();
    this.timer = null;
    this.timerAt = Number.POSITIVE_INFINITY;
    this.waitingChanges = 0;
    for (const batch of [...this.batches.values()]) this.send(batch);
  }

  private send(batch: Batch): void {
    if (this.batches.get(batch.partition) === batch) this.batches.delete(batch.partition);
    const call = this.run(batch);
    this.inFlight.add(call);
    void call.finally(() => this.inFlight.delete(call));
  }

  /** Sends a group and hands out the answers. Never rejects. */
  private async run(batch: Batch): Promise<void> {
    const { redis, clock, counts } = this.options;
    const now = clock.now();
    const scopes = batch.keys.map((key) => counts.use(key));
    for (const scope of scopes) scope.asking += 1;
    try {
      const answer = await redis.run(COUNT, { keys: batch.keys, values: [this.encode(batch, scopes, now)] });
      const { g, a } = readAnswer(answer);
      scopes.forEach((scope, at) => {
        this.accept(scope, g[at] ?? "", batch.taken.has(scope));
      });
      for (const [at, waiting] of batch.waiting.entries()) this.resolve(waiting, a[at]);
    } catch (error) {
      for (const scope of scopes) scope.mustCarry ||= scope.isConcurrent;
      for (const [scope, taken] of batch.taken) scope.putBack(taken, now);
      for (const { reject } of batch.waiting) reject(error);
    } finally {
      for (const scope of scopes) scope.asking -= 1;
    }
  }

  /**
   * Records the number of a value. If this gateway has not counted in that value, it has lost the gateway's counts, unless they were
   * carried over.
   */
  private accept(scope: OwnScope, number: string, isCarried: boolean): void {
    if (number === "" || number === scope.known) return;
    if (isCarried || scope.known === "") {
      scope.known = number;
      return;
    }
    scope.mustCarry = true;
    this.touch(scope.key);
  }

  private encode(batch: Batch, scopes: readonly OwnScope[], now: number): string {
    const { gateway, leaseMs, time } = this.options;
    const carried: (readonly unknown[])[] = [];
    const known = scopes.map((scope, at) => {
      const index = at + 1;
      if (scope.mustCarry) {
        const taken = scope.take(now);
        batch.taken.set(scope, taken);
        carried.push(["carry", index, taken.owed, taken.all]);
        if (scope.isConcurrent) carried.push(["running", index, scope.running, false]);
        return scope.known;
      }
      if (scope.ended > 0) carried.push(["running", index, -scope.ended, true]);
      scope.ended = 0;
      if (scope.isEmpty(now)) scope.known = "";
      return scope.known;
    });
    const ops = [...carried, ...batch.ops];
    return JSON.stringify({ now: time(), gateway, lease: leaseMs, fresh: batch.fresh, known, ops });
  }

  private resolve({ question, keys, resolve, reject }: Waiting, answer: unknown): void {
    if (answer === 0) {
      for (const key of keys) this.options.counts.use(key).mustCarry = true;
      resolve(LOST);
      return;
    }
    try {
      resolve(decodeAnswer(answer, question, keys));
    } catch (error) {
      reject(new StoreError(error));
    }
  }
}

/** @throws StoreError if the answer is not one of the script. */
function readAnswer(answer: unknown): { readonly g: readonly string[]; readonly a: readonly unknown[] } {
  try {
    const { g, a } = JSON.parse(String(answer)) as { g: unknown; a: unknown };
    if (Array.isArray(g)) return { g: g.map(String), a: Array.isArray(a) ? a : [] };
  } catch {
    // It is not JSON.
  }
  throw new StoreError("Redis answered a script with something else");
}
