import type { IdSource } from "../../base/secrets/ids.ts";
import { type GatewayEvent, TEST_EVENT } from "../../core/events/event.ts";
import type { Webhooks, WebhookTrial } from "../../core/events/webhooks.ts";
import { postEvent, type WebhookTarget } from "./post-event.ts";
import { type EventTotals, type QueueParts, WebhookQueue } from "./webhook-queue.ts";

/** A configured webhook. */
export interface Webhook extends WebhookTarget {
  /** The types of events that it receives. */
  readonly events: readonly string[];
}

/** The dependencies of sending webhooks. */
interface SenderParts extends Omit<QueueParts, "origin" | "totals"> {
  readonly ids: IdSource;
}

interface Receiver {
  readonly webhook: Webhook;
  readonly origin: string;
  readonly queue: WebhookQueue;
}

/** Sends events to the webhooks that receive their types. A slow receiver delays no other. */
export class WebhookSender implements Webhooks {
  private receivers: readonly Receiver[] = [];
  private readonly sums: EventTotals = { delivered: 0, dropped: 0 };

  constructor(private readonly parts: SenderParts) {}

  /**
   * Replaces the webhooks. One with the same URL as before keeps its waiting events and its counts, and sends further tries with its new
   * format and secret. The events of the others are dropped.
   */
  replace(webhooks: readonly Webhook[]): void {
    const former = [...this.receivers];
    this.receivers = webhooks.map((webhook) => {
      const at = former.findIndex(({ webhook: { url } }) => url === webhook.url);
      const [kept] = at === -1 ? [] : former.splice(at, 1);
      return kept === undefined ? this.createReceiver(webhook) : retarget(kept, webhook);
    });
    for (const { queue } of former) queue.discard();
  }

  send(event: GatewayEvent): void {
    for (const { webhook, queue } of this.receivers)
      if (webhook.events.includes(event.type)) queue.add(event);
  }

  list() {
    return this.receivers.map(({ webhook: { format, events }, origin, queue }, index) => {
      const { waiting, delivered, dropped, lastError } = queue;
      return { index, origin, format, events, waiting, delivered, dropped, lastError };
    });
  }

  totals() {
    const waiting = this.receivers.reduce((sum, { queue }) => sum + queue.waiting, 0);
    return { ...this.sums, waiting };
  }

  test(index: number | null): Promise<readonly WebhookTrial[]> {
    const event = this.createTest();
    const chosen = [...this.receivers.entries()].filter(([at]) => index === null || index === at);
    return Promise.all(
      chosen.map(async ([at, { webhook, origin }]) => {
        const outcome = await postEvent(webhook, event, this.parts.clock);
        const error = outcome.kind === "taken" ? null : outcome.error;
        return { index: at, origin, eventId: event.id, status: outcome.status, error };
      }),
    );
  }

  /** Sends what waits once more. Resolves when that is done. */
  async stop(): Promise<void> {
    await Promise.all(this.receivers.map(({ queue }) => queue.stop()));
  }

  private createReceiver(webhook: Webhook): Receiver {
    const { origin } = new URL(webhook.url);
    const queue = new WebhookQueue(webhook, { ...this.parts, origin, totals: this.sums });
    return { webhook, origin, queue };
  }

  private createTest(): GatewayEvent {
    const { clock, ids } = this.parts;
    return {
      id: ids.next("evt"),
      type: TEST_EVENT,
      createdAt: clock.now(),
      text: "This is a test of a webhook of the gateway.",
      data: {},
    };
  }
}

function retarget({ origin, queue }: Receiver, webhook: Webhook): Receiver {
  queue.target = webhook;
  return { webhook, origin, queue };
}
