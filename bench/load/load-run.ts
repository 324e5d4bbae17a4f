import { Connection, type ConnectionOwner } from "./connection.ts";
import type { LoadOrder, LoadResult, Spread } from "./messages.ts";

/** After this many wrong answers no more requests are sent to a target. */
const MAX_WRONG = 20;
/** Timers count whole milliseconds; the rest of a wait is spent polling, so that requests leave on time. */
const POLL_MS = 1.5;
const NOTHING: Spread = { p50: 0, p99: 0, max: 0 };

/** One run of requests, as a closed loop or as an open loop on a schedule. Use once. */
export class LoadRun implements ConnectionOwner {
  readonly #idle: Connection[] = [];
  readonly #all: Connection[] = [];
  /** Due times of requests for which no connection was free. */
  readonly #waiting: number[] = [];
  readonly #latencies: number[] = [];
  readonly #firstTokens: number[] = [];
  readonly #wrong: Record<string, number> = {};
  #wrongCount = 0;
  #sent = 0;
  #inFlight = 0;
  #peakInFlight = 0;
  #opening = 0;
  #startedAt = 0;
  #endedAt = 0;
  #stopsAt = 0;
  #isScheduled = false;
  readonly #finished = Promise.withResolvers<void>();

  constructor(
    readonly order: LoadOrder,
    readonly request: Buffer,
  ) {}

  /** Runs to the end and returns the outcome. */
  async finish(): Promise<LoadResult> {
    const isOpen = this.order.ratePerSecond > 0;
    await this.#connect(isOpen ? Math.min(32, this.order.connections) : this.order.connections);
    this.#startedAt = performance.now();
    this.#stopsAt = this.#startedAt + this.order.durationMs;
    const deadline = setTimeout(() => this.#giveUp(), this.order.durationMs + this.order.graceMs);
    if (isOpen) this.#tick(0);
    else for (const connection of this.#idle.splice(0)) this.#sendNext(connection);
    await this.#finished.promise;
    clearTimeout(deadline);
    for (const connection of this.#all) connection.close();
    return this.#result();
  }

  answered(connection: Connection, dueAt: number, firstTokenAt: number, fault: string | null): void {
    const now = performance.now();
    this.#inFlight--;
    this.#endedAt = now;
    if (fault === null) {
      this.#latencies.push(now - dueAt);
      if (firstTokenAt > 0) this.#firstTokens.push(firstTokenAt - dueAt);
    } else {
      this.#note(fault);
    }
    if (this.order.ratePerSecond === 0) this.#sendNext(connection);
    else this.#release(connection);
  }

  async #connect(count: number): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, async () => {
        const connection = await Connection.open(this).catch((error) =>
          this.#count(`no connection: ${error}`),
        );
        if (connection === undefined) return;
        this.#all.push(connection);
        this.#idle.push(connection);
      }),
    );
    if (this.#all.length === 0) throw new Error("the target accepts no connection");
  }

  #mayStart(now: number): boolean {
    return this.#sent < this.order.maxRequests && now < this.#stopsAt && this.#wrongCount < MAX_WRONG;
  }

  #sendNext(connection: Connection): void {
    const now = performance.now();
    if (this.#mayStart(now)) this.#send(connection, now);
    else if (this.#inFlight === 0) this.#finished.resolve();
  }

  #send(connection: Connection, dueAt: number): void {
    this.#sent++;
    this.#inFlight++;
    this.#peakInFlight = Math.max(this.#peakInFlight, this.#inFlight);
    connection.send(dueAt);
  }

  /** Sends the requests that are due and schedules the next call. */
  #tick(next: number): void {
    const period = 1000 / this.order.ratePerSecond;
    let index = next;
    for (let dueAt = this.#startedAt + index * period; dueAt <= performance.now(); dueAt += period) {
      if (!this.#mayStart(dueAt)) {
        this.#isScheduled = true;
        this.#finishIfDone();
        return;
      }
      index++;
      this.#dispatch(dueAt);
    }
    const wait = this.#startedAt + index * period - performance.now();
    if (wait > POLL_MS + 1) setTimeout(() => this.#tick(index), Math.floor(wait - POLL_MS));
    else setImmediate(() => this.#tick(index));
  }

  #dispatch(dueAt: number): void {
    const connection = this.#idle.pop();
    if (connection !== undefined) {
      this.#send(connection, dueAt);
      return;
    }
    this.#waiting.push(dueAt);
    if (this.#all.length + this.#opening < this.order.connections) this.#openOneMore();
  }

  #openOneMore(): void {
    this.#opening++;
    Connection.open(this)
      .then((connection) => {
        this.#all.push(connection);
        this.#opening--;
        this.#release(connection);
      })
      .catch((error) => {
        this.#opening--;
        this.#note(`no connection: ${error}`);
      });
  }

  #release(connection: Connection): void {
    const dueAt = this.#waiting.shift();
    if (dueAt !== undefined) {
      this.#send(connection, dueAt);
      return;
    }
    this.#idle.push(connection);
    this.#finishIfDone();
  }

  #finishIfDone(): void {
    if (this.#isScheduled && this.#inFlight === 0 && this.#waiting.length === 0) this.#finished.resolve();
  }

  #giveUp(): void {
    const missing = this.#inFlight + this.#waiting.length;
    if (missing > 0) this.#wrong["not answered in time"] = missing;
    this.#wrongCount += missing;
    this.#endedAt = performance.now();
    this.#finished.resolve();
  }

  #note(fault: string): void {
    this.#wrongCount++;
    this.#count(fault);
  }

  #count(fault: string): void {
    this.#wrong[fault] = (this.#wrong[fault] ?? 0) + 1;
  }

  #result(): LoadResult {
    return {
      requests: this.#latencies.length,
      wrong: this.#wrong,
      elapsedMs: this.#endedAt - this.#startedAt,
      requestBytes: 0,
      peakInFlight: this.#peakInFlight,
      latency: spreadOf(this.#latencies),
      firstToken: spreadOf(this.#firstTokens),
    };
  }
}

function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return NOTHING;
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
