import type { Clock, Timer } from "../../base/clock.ts";

/** How long an answer may take before its client is watched: subscribing costs as much as reading the request. Milliseconds. */
const WATCH_MS = 20;

/** Watches whether the client of a generation closes its connection. */
export class ClientWatch {
  private readonly timer: Timer;
  /** The signal that is subscribed to; null until then. */
  private signal: AbortSignal | null = null;

  /** `onLeft` is called once, if the client leaves before `stop`. */
  constructor(
    clock: Clock,
    private readonly readSignal: () => AbortSignal,
    private readonly onLeft: () => void,
  ) {
    this.timer = clock.after(WATCH_MS, () => this.subscribe());
  }

  /** Returns whether the client has left. Costs nothing compared with a subscription. */
  hasLeft(): boolean {
    return this.readSignal().aborted;
  }

  /** Ends the watch. */
  stop(): void {
    this.timer.cancel();
    this.signal?.removeEventListener("abort", this.onLeft);
  }

  private subscribe(): void {
    this.signal = this.readSignal();
    if (this.signal.aborted) this.onLeft();
    else this.signal.addEventListener("abort", this.onLeft, { once: true });
  }
}
