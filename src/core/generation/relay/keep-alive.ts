import type { Clock, Timer } from "../../../base/time/clock.ts";

/**
 * Sends keep-alives while a stream is silent. A periodic timer checks the silence, because resetting a timer with every event costs more.
 */
export class KeepAlive {
  private timer: Timer | null = null;
  private sentAt: number;

  /** `send` is called when nothing was sent for `intervalMs`, in milliseconds. */
  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
    private readonly send: () => void,
  ) {
    this.sentAt = clock.now();
  }

  /** Starts the timer. The first keep-alive is sent `intervalMs` from now at the earliest. */
  start(): void {
    this.startTimer(this.intervalMs);
  }

  /** Records that something was sent at `now`. */
  touch(now: number): void {
    this.sentAt = now;
  }

  stop(): void {
    this.timer?.cancel();
  }

  private startTimer(delayMs: number): void {
    this.timer = this.clock.after(delayMs, () => this.check());
  }

  private check(): void {
    let silentMs = this.clock.now() - this.sentAt;
    if (silentMs >= this.intervalMs) {
      this.send();
      this.sentAt = this.clock.now();
      silentMs = 0;
    }
    this.startTimer(this.intervalMs - silentMs);
  }
}
