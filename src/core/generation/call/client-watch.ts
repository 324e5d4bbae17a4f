import type { GenerationCall } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";

/** How long an answer may take before its client is watched: subscribing costs as much as reading the request. Milliseconds. */
export const WATCH_MS = 20;

/** Cancels a generation when its client closes the connection. */
export class ClientWatch {
  /** The signal that is subscribed to, and what is called when it is aborted; null until then. */
  private signal: AbortSignal | null = null;
  private onLeft: (() => void) | null = null;

  /** The generation is cancelled if the client leaves between `start` and `stop`, or has left before. */
  constructor(
    private readonly call: Pick<GenerationCall, "readClientSignal">,
    private readonly cancellation: Pick<Cancellation, "cancel">,
  ) {}

  /** Returns whether the client has left. Costs nothing compared with a subscription. */
  hasLeft(): boolean {
    return this.call.readClientSignal().aborted;
  }

  /** Begins to watch. */
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
