import type { Clock, Timer } from "../../base/clock.ts";
import type { Exchange } from "../deployments/transport.ts";

/** Why a generation was cut short from this side. */
export type CancelReason =
  | "client_left"
  | "client_stalled"
  | "first_token"
  | "silence"
  | "total"
  | "shutdown";

/** The reasons that are the client's, and no failure of anybody. */
export type ClientCancelReason = "client_left" | "client_stalled";

/** How long a generation may wait for what. Milliseconds. */
export interface GenerationTimers {
  readonly connectMs: number;
  readonly firstTokenMs: number;
  readonly silenceMs: number;
  readonly totalMs: number;
  /** After so long no further candidate is asked. */
  readonly failoverMs: number;
  /** Quiet after which a client is told that the answer is still coming. */
  readonly keepAliveMs: number;
}

/**
 * Everything that can end a generation early: its timers, the client's leaving, a shutdown. The first that strikes
 * wins, gives up the exchange that is under way, and tells whoever listens. One timer serves all waits.
 */
export class Cancellation {
  /** Null while the generation may go on. */
  reason: CancelReason | null = null;
  /** Told once, when it strikes. */
  onCut: (() => void) | null = null;
  private exchange: Exchange | null = null;
  private timer: Timer | null = null;
  private readonly endsAt: number;
  private phase: { readonly reason: "first_token" | "silence"; readonly limitMs: number } | null = null;
  private since = 0;
  private isHeld = false;

  constructor(
    private readonly clock: Clock,
    totalMs: number,
  ) {
    this.endsAt = clock.now() + totalMs;
  }

  /** The exchange to give up when it strikes. */
  guard(exchange: Exchange): void {
    this.exchange = exchange;
    if (this.reason !== null) exchange.cancel();
  }

  /**
   * Starts waiting for something that may take `limitMs`; replaces what was waited for before. A first token that did
   * not come in time ended one attempt and not the generation, so that another may begin.
   */
  startPhase(reason: "first_token" | "silence", limitMs: number): void {
    if (this.reason === "first_token") this.reason = null;
    this.phase = { reason, limitMs };
    this.touch();
    this.arm();
  }

  /** Nothing but the whole time is limited from here. */
  endPhase(): void {
    if (this.reason === "first_token") this.reason = null;
    this.phase = null;
    this.arm();
  }

  /** What was waited for came; the wait for the next begins. Costs no timer: the one that runs looks again. */
  touch(): void {
    this.since = this.clock.now();
    this.isHeld = false;
  }

  /** Nothing is waited for until the next `touch`; only the whole time runs on. */
  hold(): void {
    this.isHeld = true;
  }

  /** Waits so long, or until it strikes. */
  async pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.clock.after(ms, resolve);
    this.onCut = resolve;
    await promise;
    timer.cancel();
    this.onCut = null;
  }

  /** Whether it has ended the generation, and not one attempt alone. */
  hasStruck(): boolean {
    return this.reason !== null && this.reason !== "first_token";
  }

  /** Waits for work that is done elsewhere; null where it strikes before. */
  async until<T>(work: Promise<T>): Promise<T | null> {
    const { promise, resolve } = Promise.withResolvers<null>();
    this.onCut = () => resolve(null);
    // Of what nobody waits for any more nobody hears.
    work.catch(() => {});
    try {
      return this.hasStruck() ? null : await Promise.race([work, promise]);
    } finally {
      this.onCut = null;
    }
  }

  cut(reason: CancelReason): void {
    if (this.reason !== null) return;
    this.reason = reason;
    this.stop();
    this.exchange?.cancel();
    this.onCut?.();
  }

  /** The generation is over: nothing strikes any more. */
  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  private arm(): void {
    this.timer?.cancel();
    const now = this.clock.now();
    const since = this.isHeld ? now : this.since;
    const phaseEnd = this.phase === null ? Number.POSITIVE_INFINITY : since + this.phase.limitMs;
    this.timer = this.clock.after(Math.max(0, Math.min(this.endsAt, phaseEnd) - now), () => this.look());
  }

  private look(): void {
    const now = this.clock.now();
    if (now >= this.endsAt) this.cut("total");
    else if (this.phase !== null && !this.isHeld && now - this.since >= this.phase.limitMs) {
      this.cut(this.phase.reason);
    } else this.arm();
  }
}
