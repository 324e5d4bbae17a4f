import type { Log } from "../../base/failures/log.ts";
import { type Random, randomShare } from "../../base/secrets/random.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time/time.ts";
import type { GatewayEvent } from "../../core/events/event.ts";
import { type PostOutcome, postEvent, type WebhookTarget } from "./post-event.ts";

/** The maximum number of events that wait for a receiver. */
export const MAX_WAITING = 1_000;
/** The maximum number of tries of an event, and the longest time for which it is still sent. */
export const MAX_TRIES = 20;
export const MAX_AGE_MS = 24 * HOUR_MS;
/** The pause after the first failure, which doubles each time, and the longest pause. Milliseconds. */
const FIRST_PAUSE_MS = SECOND_MS;
const MAX_PAUSE_MS = 15 * MINUTE_MS;

/** Counts events of all receivers, including removed ones. */
export interface EventTotals {
  delivered: number;
  dropped: number;
}

/** The dependencies of a queue. */
export interface QueueParts {
  /** Names the receiver in the log. */
  readonly origin: string;
  /** Counts what this queue delivers and drops, together with other queues. */
  readonly totals: EventTotals;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Log, "warn">;
}

/**
 * The events that wait for one receiver, in memory. They are sent one after another in their order, so that a receiver sees `provider.up`
 * after `provider.down`. If the receiver does not accept an event, it is sent again after growing pauses, and given up after a number of
 * tries or a day.
 */
export class WebhookQueue {
  private readonly events: GatewayEvent[] = [];
  private tries = 0;
  private isSending = false;
  private isStopped = false;
  private pause: Timer | null = null;
  private idle: PromiseWithResolvers<void> | null = null;
  delivered = 0;
  dropped = 0;
  lastError: string | null = null;

  /** `target` may be replaced: the next try is sent to the new one. */
  constructor(
    public target: WebhookTarget,
    private readonly parts: QueueParts,
  ) {}

  get waiting(): number {
    return this.events.length;
  }

  /** Adds an event. Drops it if the queue is full. */
  add(event: GatewayEvent): void {
    if (this.isStopped || this.events.length >= MAX_WAITING) {
      this.drop(event, this.isStopped ? "the gateway is stopping" : `${MAX_WAITING} events are waiting`);
      return;
    }
    this.events.push(event);
    this.sendNext();
  }

  /** Sends waiting events once more, without pauses between repetitions, and resolves when that is done. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.pause?.cancel();
    this.pause = null;
    this.sendNext();
    if (this.events.length === 0) return;
    this.idle ??= Promise.withResolvers();
    await this.idle.promise;
  }

  /** Drops the waiting events, for a receiver that was removed. An event in delivery ends with its present try. */
  discard(): void {
    this.isStopped = true;
    this.pause?.cancel();
    this.pause = null;
    const dropped = this.events.splice(this.isSending ? 1 : 0).length;
    if (dropped === 0) return;
    this.countDropped(dropped);
    const { log, origin } = this.parts;
    log.warn("the events that waited for a removed webhook were dropped", {
      events: dropped,
      webhook: origin,
    });
  }

  private sendNext(): void {
    const event = this.events[0];
    if (event === undefined) {
      this.idle?.resolve();
      return;
    }
    if (this.isSending || this.pause !== null) return;
    this.isSending = true;
    void this.send(event).finally(() => {
      this.isSending = false;
      this.sendNext();
    });
  }

  private async send(event: GatewayEvent): Promise<void> {
    const outcome = await postEvent(this.target, event, this.parts.clock);
    this.tries += 1;
    this.lastError = outcome.kind === "taken" ? null : outcome.error;
    if (outcome.kind === "taken") {
      this.delivered += 1;
      this.parts.totals.delivered += 1;
      this.remove();
    } else if (this.mayRetry(event, outcome)) this.wait(outcome.afterMs);
    else {
      this.remove();
      this.drop(event, outcome.error);
    }
  }

  private mayRetry(event: GatewayEvent, outcome: PostOutcome & { readonly kind: "failed" }): boolean {
    if (!outcome.mayRetry || this.isStopped || this.tries >= MAX_TRIES) return false;
    return this.parts.clock.now() - event.createdAt < MAX_AGE_MS;
  }

  private wait(afterMs: number | null): void {
    const { clock, random } = this.parts;
    // Up to a quarter longer, so that many gateways do not return at the same moment.
    const backoffMs = FIRST_PAUSE_MS * 2 ** (this.tries - 1) * (1 + randomShare(random) / 4);
    this.pause = clock.after(Math.min(afterMs ?? backoffMs, MAX_PAUSE_MS), () => {
      this.pause = null;
      this.sendNext();
    });
  }

  private remove(): void {
    this.events.shift();
    this.tries = 0;
  }

  private drop({ id, type }: GatewayEvent, reason: string): void {
    this.countDropped(1);
    const { log, origin } = this.parts;
    log.warn("a webhook event was dropped", { event_id: id, event: type, webhook: origin, detail: reason });
  }

  private countDropped(events: number): void {
    this.dropped += events;
    this.parts.totals.dropped += events;
  }
}
