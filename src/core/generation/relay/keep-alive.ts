import type { Clock, Timer } from "../../../base/time/clock.ts";

/** Sends keep-alives while a stream is silent. One timer checks the silence, instead of one that is reset with every event. */
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

  /** Begins to check; the first keep-alive is due `intervalMs` from now at the earliest. */
  start(): void {
    this.arm(this.intervalMs);
  }

  /** Records that something was sent at `now`. */
  touch(now: number): void {
    this.sentAt = now;
  }

  stop(): void {
    this.timer?.cancel();
  }

  private arm(delayMs: number): void {
    this.timer = this.clock.after(delayMs, () => this.check());
  }

  private check(): void {
    let silentMs = this.clock.now() - this.sentAt;
    if (silentMs >= this.intervalMs) {
      this.send();
      this.sentAt = this.clock.now();
      silentMs = 0;
    }
    this.arm(this.intervalMs - silentMs);
  }
}
