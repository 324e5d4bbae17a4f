import type { Clock, Timer } from "../../../src/base/time/clock.ts";

/** Turns of promises after each event: more than follow each other without an event in between. */
const PROMISE_TURNS = 40;

interface Event {
  readonly at: number;
  readonly sequence: number;
  readonly run: () => void;
}

/** Virtual time. Events of one time run in the order in which they were scheduled. */
export class Scheduler {
  now = Date.UTC(2026, 4, 1) - 60_000;
  private readonly events = new Set<Event>();
  private sequence = 0;

  at(delayMs: number, run: () => void): Timer {
    const event = { at: this.now + Math.max(0, delayMs), sequence: this.sequence++, run };
    this.events.add(event);
    return { cancel: () => void this.events.delete(event) };
  }

  /** Runs everything that is due within `ms`, and calls `check` after each event, when its promises have made progress. */
  async advance(ms: number, check: () => void): Promise<void> {
    const until = this.now + ms;
    for (let event = this.next(until); event !== null; event = this.next(until)) {
      this.events.delete(event);
      this.now = event.at;
      event.run();
      for (let turn = 0; turn < PROMISE_TURNS; turn++) await null;
      check();
    }
    this.now = until;
  }

  private next(until: number): Event | null {
    let first: Event | null = null;
    for (const event of this.events) {
      if (event.at > until) continue;
      if (first === null || event.at < first.at || (event.at === first.at && event.sequence < first.sequence))
        first = event;
    }
    return first;
  }
}

/** One process: its clock, and whether it runs. */
export class SimulatedProcess {
  private isPaused = false;
  private isDead = false;
  private missed: (() => void)[] = [];

  constructor(
    private readonly scheduler: Scheduler,
    private readonly skewMs: number,
  ) {}

  readonly clock: Clock = {
    now: () => this.scheduler.now + this.skewMs,
    precise: () => this.scheduler.now,
    after: (delayMs, callback) => this.scheduler.at(delayMs, () => this.deliver(callback)),
    every: (periodMs, callback) => {
      let timer = { cancel() {} };
      const again = (): void => {
        timer = this.scheduler.at(periodMs, () => this.deliver(tick));
      };
      const tick = (): void => {
        again();
        callback();
      };
      again();
      return { cancel: () => timer.cancel() };
    },
  };

  get isRunning(): boolean {
    return !this.isPaused && !this.isDead;
  }

  /** Runs what happens to the process: later while it is stopped, never once it is dead. */
  deliver(callback: () => void): void {
    if (this.isDead) return;
    if (this.isPaused) this.missed.push(callback);
    else callback();
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    const missed = this.missed;
    this.missed = [];
    for (const callback of missed) this.deliver(callback);
  }

  kill(): void {
    this.isDead = true;
    this.missed = [];
  }
}
