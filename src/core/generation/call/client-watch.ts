import type { GenerationCall } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";

/** How long an answer may take before its client is watched: subscribing costs as much as reading the request. Milliseconds. */
export const WATCH_MS = 20;

/** Cancels a generation when its client closes the connection. */
export class ClientWatch {
  /** The subscribed signal; null before `start`. */
  private signal: AbortSignal | null = null;
  private onLeft: (() => void) | null = null;

  /** The generation is cancelled if the client leaves between `start` and `stop`, or left before `start`. */
  constructor(
    private readonly call: Pick<GenerationCall, "readClientSignal">,
    private readonly cancellation: Pick<Cancellation, "cancel">,
  ) {}

  /** Returns whether the client has left. Much cheaper than a subscription. */
  hasLeft(): boolean {
    return this.call.readClientSignal().aborted;
  }

  /** Subscribes to the client's signal. */
  start(): void {
    this.signal = this.call.readClientSignal();
    this.onLeft = () => this.cancellation.cancel("client_left");
    if (this.signal.aborted) this.onLeft();
    else this.signal.addEventListener("abort", this.onLeft);
  }

  /** Ends the watch. */
  stop(): void {
    if (this.onLeft !== null) this.signal?.removeEventListener("abort", this.onLeft);
  }
}
