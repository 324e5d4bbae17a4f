/** How long an answer may take before its client is watched: subscribing costs as much as reading the request. Milliseconds. */
export const WATCH_MS = 20;

/** Watches whether the client of a generation closes its connection. */
export class ClientWatch {
  /** The signal that is subscribed to; null until then. */
  private signal: AbortSignal | null = null;

  /** `onLeft` is called once, if the client leaves between `start` and `stop`, or has left before. */
  constructor(
    private readonly readSignal: () => AbortSignal,
    private readonly onLeft: () => void,
  ) {}

  /** Returns whether the client has left. Costs nothing compared with a subscription. */
  hasLeft(): boolean {
    return this.readSignal().aborted;
  }

  /** Begins to watch. */
  start(): void {
    this.signal = this.readSignal();
    if (this.signal.aborted) this.onLeft();
    else this.signal.addEventListener("abort", this.onLeft, { once: true });
  }

  /** Ends the watch. */
  stop(): void {
    this.signal?.removeEventListener("abort", this.onLeft);
  }
}
