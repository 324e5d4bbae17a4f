import { Linked, LinkedSet } from "../../../base/collections/linked-set.ts";
import { RejectedRecordError, StoreError } from "../../../base/failures/store-error.ts";
import type { Clock, Timer } from "../../../base/time/clock.ts";
import {
  type CallFailure,
  packArguments,
  type ThreadAnswer,
  type ThreadMessage,
  type ThreadTask,
} from "./messages.ts";

/** A running thread of a database. */
interface ThreadPort {
  post(message: ThreadMessage): void;
  /** Sets whether the thread keeps the process alive. */
  hold(isNeeded: boolean): void;
  stop(): void;
}

/** Callbacks of a thread. */
export interface StoreThreadEvents {
  readonly onAnswer: (answer: ThreadAnswer) => void;
  /** Called when the thread has ended unexpectedly. */
  readonly onBroken: (reason: string) => void;
}

/** Starts a thread, or throws. */
export type StartStoreThread = (events: StoreThreadEvents) => ThreadPort;

/** The bounds of a thread. */
export interface StoreThreadLimits {
  /** The number of calls that are sent before the first of them is answered. Calls that are not sent can still be given up. */
  readonly sent: number;
  /** The maximum number of calls that wait to be sent. Further ones fail immediately. */
  readonly waiting: number;
  /** How long a caller waits. Milliseconds. */
  readonly waitMs: number;
  /** The pages of the database that it keeps in memory. Bytes. */
  readonly cacheBytes: number;
  /** How long a thread without calls is kept. Milliseconds; null: until it is closed. */
  readonly idleMs: number | null;
}

/** The dependencies of a thread of stores. */
interface StoreThreadParts {
  readonly dataDir: string;
  readonly task: ThreadTask;
  readonly limits: StoreThreadLimits;
  readonly clock: Clock;
  readonly start: StartStoreThread;
}

/** The pause before a new thread is started after one has ended unexpectedly. Milliseconds. */
const PAUSE_MS = 1_000;
/** How long a thread may take to close its database. Milliseconds. */
const CLOSE_MS = 5_000;

/** A method of a store with its arguments. */
interface StoreCall {
  readonly store: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** A failure in a thread, with the code of SQLite. */
class ThreadCallError extends Error {
  constructor(
    message: string,
    readonly code: string | undefined,
  ) {
    super(message);
    this.name = "ThreadCallError";
  }
}

/** The stored record has changed since it was read. */
export class ChangedMeanwhileError extends Error {}

class PendingCall extends Linked {
  readonly outcome = Promise.withResolvers<unknown>();
  patience: Timer | null = null;

  constructor(readonly call: StoreCall) {
    super();
  }

  end(): void {
    this.patience?.cancel();
  }
}

/**
 * Calls the stores of a database in a thread, which starts with the first call. If the thread ends unexpectedly, the waiting calls fail
 * with a `StoreError`, and a later call starts another thread.
 */
export class StoreThread {
  private readonly waiting = new LinkedSet<PendingCall>();
  /** The calls that were sent to the thread, by id. Calls that were given up stay until they are answered. */
  private readonly sent = new Map<number, PendingCall>();
  private thread: ThreadPort | null = null;
  private lastId = 0;
  private pausedUntil = 0;
  private idle: Timer | null = null;
  private isClosed = false;
  private readonly closed = Promise.withResolvers<void>();

  constructor(private readonly parts: StoreThreadParts) {}

  /** Whether it has a thread. */
  get isStarted(): boolean {
    return this.thread !== null;
  }

  /** Whether calls wait or are in progress. */
  get isBusy(): boolean {
    return this.sent.size > 0 || this.waiting.size > 0;
  }

  /** Calls a method of a store. Rejects with an error of the store. */
  call(call: StoreCall): Promise<unknown> {
    const { limits, clock } = this.parts;
    if (this.isClosed) return Promise.reject(new StoreError("it is closed"));
    if (this.waiting.size >= limits.waiting)
      return Promise.reject(new StoreError(`${limits.waiting} calls wait for it already`));
    const pending = new PendingCall(call);
    pending.patience = clock.after(limits.waitMs, () => this.giveUp(pending));
    this.waiting.add(pending);
    this.sendWaiting();
    return pending.outcome.promise;
  }

  /** Closes the database after the calls that were sent, within a time, and ends the thread. */
  async close(): Promise<void> {
    if (this.isClosed) return this.closed.promise;
    this.isClosed = true;
    this.idle?.cancel();
    this.failWaiting("it is closed");
    if (this.thread === null) return;
    const limit = this.parts.clock.after(CLOSE_MS, this.closed.resolve);
    this.thread.hold(true);
    this.thread.post({ kind: "close" });
    await this.closed.promise;
    limit.cancel();
    this.end("it is closed");
  }

  private sendWaiting(): void {
    for (let next = this.waiting.first; next !== null; next = this.waiting.first) {
      if (this.sent.size >= this.parts.limits.sent) return;
      this.waiting.delete(next);
      try {
        this.send(next);
      } catch (error) {
        next.end();
        next.outcome.reject(error);
      }
    }
  }

  private send(pending: PendingCall): void {
    const { store, method, args } = pending.call;
    const thread = this.thread ?? this.startThread();
    const id = ++this.lastId;
    thread.post({ kind: "call", id, store, method, args: packArguments(store, method, args) });
    this.idle?.cancel();
    if (this.sent.size === 0) thread.hold(true);
    this.sent.set(id, pending);
  }

  /** @throws StoreError during the pause after a thread has ended, or if it cannot be started. */
  private startThread(): ThreadPort {
    const { clock, start, dataDir, task, limits } = this.parts;
    if (clock.now() < this.pausedUntil) throw new StoreError("its thread has ended, and is started again");
    const isCurrent = () => this.thread === thread;
    const thread = start({
      onAnswer: (answer) => isCurrent() && this.take(answer),
      onBroken: (reason) => {
        if (isCurrent()) this.end(reason);
      },
    });
    this.thread = thread;
    thread.post({ kind: "open", dataDir, task, cacheBytes: limits.cacheBytes });
    return thread;
  }

  private take(answer: ThreadAnswer): void {
    if (answer.kind === "closed") {
      this.closed.resolve();
      return;
    }
    const pending = this.sent.get(answer.id);
    this.sent.delete(answer.id);
    if (pending !== undefined) {
      pending.end();
      if (answer.kind === "result") pending.outcome.resolve(answer.result);
      else pending.outcome.reject(readFailure(answer.failure));
    }
    this.sendWaiting();
    if (this.sent.size === 0) this.rest();
  }

  /** Called when no call is in progress. */
  private rest(): void {
    const { clock, limits } = this.parts;
    this.thread?.hold(this.isClosed);
    if (limits.idleMs === null || this.isClosed) return;
    this.idle?.cancel();
    this.idle = clock.after(limits.idleMs, () => this.leave());
  }

  /** Lets an idle thread close its database and end. The next call starts another one. */
  private leave(): void {
    const { thread } = this;
    this.thread = null;
    thread?.post({ kind: "close" });
  }

  private giveUp(pending: PendingCall): void {
    this.waiting.delete(pending);
    pending.outcome.reject(new StoreError(`it has not answered for ${this.parts.limits.waitMs} ms`));
  }

  private failWaiting(reason: string): void {
    for (const pending of this.waiting) {
      this.waiting.delete(pending);
      pending.end();
      pending.outcome.reject(new StoreError(reason));
    }
  }

  /** Ends with the thread, and fails what waits for it. Whether the calls that it had were made is unknown. */
  private end(reason: string): void {
    const { thread } = this;
    this.thread = null;
    this.pausedUntil = this.parts.clock.now() + PAUSE_MS;
    this.idle?.cancel();
    thread?.hold(false);
    thread?.stop();
    const sent = [...this.sent.values()];
    this.sent.clear();
    for (const pending of sent) {
      pending.end();
      pending.outcome.reject(new StoreError(reason));
    }
    this.failWaiting(reason);
    this.closed.resolve();
  }
}

function readFailure({ kind, message, code }: CallFailure): Error {
  if (kind === "changed") return new ChangedMeanwhileError();
  const cause = new ThreadCallError(message, code);
  return kind === "rejected" ? new RejectedRecordError(cause) : cause;
}
