import { Linked } from "../../../base/collections/linked-set.ts";
import type { Clock, Timer } from "../../../base/time/clock.ts";
import type { Exchange } from "../../deployments/transport.ts";

/** Why the gateway ended a generation early. */
export type CancelReason =
  | "client_left"
  | "client_stalled"
  | "first_token"
  | "silence"
  | "total"
  | "shutdown";

/** The reasons caused by the client. They do not count as failures of a provider. */
export type ClientCancelReason = "client_left" | "client_stalled";

/** How long the phases of a generation may take. Milliseconds. */
export interface GenerationTimers {
  readonly connectMs: number;
  readonly firstTokenMs: number;
  readonly silenceMs: number;
  readonly totalMs: number;
  /** Time after which no further candidate is tried. */
  readonly failoverMs: number;
  /** Silence after which a keep-alive is sent to the client. */
  readonly keepAliveMs: number;
}

/**
 * Maximum time between two checks. It bounds how late a system clock that was set forward is noticed. The generation's hold expires by the
 * same clock, and its money must not be spent by others meanwhile. Milliseconds.
 */
const CHECK_MS = 30_000;

/**
 * Ends a generation early: by a timer, because the client left, or at a shutdown. The first reason cancels the current exchange and
 * notifies the listener; later ones are ignored. One timer serves all waits.
 */
export class Cancellation extends Linked {
  /** Null while the generation may continue. */
  reason: CancelReason | null = null;
  private listener: (() => void) | null = null;
  private exchange: Exchange | null = null;
  private timer: Timer | null = null;
  private readonly endsAt: number;
  private phase: { readonly reason: "first_token" | "silence"; readonly limitMs: number } | null = null;
  private since = 0;
  private isHeld = false;
  /** Whether `setTimer` must still set a timer. */
  private isDeferred = false;

  /**
   * With `quickMs`, timers that would fire after `quickMs` are not set, so that a quick generation needs none. The caller must call
   * `setTimer` after `quickMs` if the generation still runs.
   */
  constructor(
    private readonly clock: Clock,
    totalMs: number,
    private quickMs = 0,
  ) {
    super();
    this.endsAt = clock.now() + totalMs;
  }

  /** Sets the timer that was deferred. */
  setTimer(): void {
    this.quickMs = 0;
    if (this.isDeferred && this.reason === null) this.startTimer();
  }

  /** Sets the exchange to cancel when the generation is cancelled. */
  guard(exchange: Exchange): void {
    this.exchange = exchange;
    if (this.reason !== null) exchange.cancel();
  }

  /**
   * Starts a wait of at most `limitMs`, which replaces the current one. If the first token does not arrive in time, only the attempt ends,
   * so that another one may begin.
   */
  startPhase(reason: "first_token" | "silence", limitMs: number): void {
    if (this.reason === "first_token") this.reason = null;
    this.phase = { reason, limitMs };
    this.touch();
    this.startTimer();
  }

  /** Ends the current wait. From now on only the total time is limited. */
  endPhase(): void {
    if (this.reason === "first_token") this.reason = null;
    this.phase = null;
    this.startTimer();
  }

  /** Restarts the current wait. Sets no timer: the running one checks again when it fires. */
  touch(): void {
    this.since = this.clock.now();
    this.isHeld = false;
  }

  /** Suspends the current wait until the next `touch`. The total time continues. */
  hold(): void {
    this.isHeld = true;
  }

  /** Resolves after `ms`, or when the generation is cancelled. */
  async pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.clock.after(ms, resolve);
    this.listener = resolve;
    await promise;
    timer.cancel();
    this.listener = null;
  }

  /** Sets the listener, which is called once when the generation is cancelled. Replaces the current one. */
  whenCancelled(listener: () => void): void {
    this.listener = listener;
  }

  /** Returns whether the whole generation was cancelled, not only one attempt. */
  isCancelled(): boolean {
    return this.reason !== null && this.reason !== "first_token";
  }

  /** Resolves to the result of `work`, or to null if the generation is cancelled before. */
  async until<T>(work: Promise<T>): Promise<T | null> {
    const { promise, resolve } = Promise.withResolvers<null>();
    this.listener = () => resolve(null);
    // A rejection after the cancellation must not be reported as unhandled.
    work.catch(() => {});
    try {
      return this.isCancelled() ? null : await Promise.race([work, promise]);
    } finally {
      this.listener = null;
    }
  }

  cancel(reason: CancelReason): void {
    if (this.reason !== null) return;
    this.reason = reason;
    this.stop();
    this.exchange?.cancel();
    this.listener?.();
  }

  /** Cancels the timer, once the generation is over. */
  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  private startTimer(): void {
    this.timer?.cancel();
    const now = this.clock.now();
    const since = this.isHeld ? now : this.since;
    const phaseEnd = this.phase === null ? Number.POSITIVE_INFINITY : since + this.phase.limitMs;
    const waitMs = Math.min(this.endsAt - now, phaseEnd - now, CHECK_MS);
    this.isDeferred = this.quickMs > 0 && waitMs >= this.quickMs;
    if (this.isDeferred) this.timer = null;
    else this.timer = this.clock.after(Math.max(0, waitMs), () => this.check());
  }

  private check(): void {
    const now = this.clock.now();
    if (now >= this.endsAt) this.cancel("total");
    else if (this.phase !== null && !this.isHeld && now - this.since >= this.phase.limitMs) {
      this.cancel(this.phase.reason);
    } else this.startTimer();
  }
}
