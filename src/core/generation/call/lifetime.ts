import type { Wait } from "../../../base/collections/wait-list.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import { Cancellation } from "./cancellation.ts";
import { ClientWatch, WATCH_MS } from "./client-watch.ts";

/**
 * The lifetime of a generation from its admission to its end: its timers, the watch over its client, and its entry in the list of running
 * generations.
 */
export class Lifetime {
  readonly cancellation: Cancellation;
  private readonly client: ClientWatch;
  private readonly beginning: Wait;

  constructor(
    private readonly deps: Pick<GenerationDeps, "clock" | "settings" | "running">,
    private readonly call: Pick<GenerationCall, "readClientSignal" | "onLasting" | "longestMs">,
  ) {
    const totalMs = call.longestMs ?? deps.settings.timers.totalMs;
    this.cancellation = new Cancellation(deps.clock, totalMs, WATCH_MS);
    this.client = new ClientWatch(call, this.cancellation);
    this.beginning = deps.running.beginnings.begin(Lifetime.watch, this);
    deps.running.active.add(this.cancellation);
  }

  /** Returns whether the client has left. */
  hasClientLeft(): boolean {
    return this.client.hasLeft();
  }

  end(): void {
    this.beginning.end();
    this.cancellation.stop();
    this.deps.running.active.delete(this.cancellation);
    this.client.stop();
  }

  /** Sets the timers and watches the client of a generation that is not quick. */
  private static watch(lifetime: Lifetime): void {
    lifetime.cancellation.setTimer();
    lifetime.call.onLasting();
    lifetime.client.start();
  }
}
