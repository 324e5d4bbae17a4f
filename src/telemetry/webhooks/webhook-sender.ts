import type { IdSource } from "../../base/secrets/ids.ts";
import { type GatewayEvent, TEST_EVENT } from "../../core/events/event.ts";
import type { Webhooks, WebhookTrial } from "../../core/events/webhooks.ts";
import { postEvent, type WebhookTarget } from "./post-event.ts";
import { type QueueParts, WebhookQueue } from "./webhook-queue.ts";

/** A configured webhook. */
export interface Webhook extends WebhookTarget {
  /** The types of events that it receives. */
  readonly events: readonly string[];
}

/** The dependencies of sending webhooks. */
interface SenderParts extends Omit<QueueParts, "target" | "origin"> {
  readonly webhooks: readonly Webhook[];
  readonly ids: IdSource;
}

interface Receiver {
  readonly webhook: Webhook;
  readonly origin: string;
  readonly queue: WebhookQueue;
}

/** Sends events to the webhooks that receive their types. A slow receiver delays no other. */
export class WebhookSender implements Webhooks {
  private readonly receivers: readonly Receiver[];

  constructor(private readonly parts: SenderParts) {
    this.receivers = parts.webhooks.map((webhook) => {
      const { origin } = new URL(webhook.url);
      return { webhook, origin, queue: new WebhookQueue({ ...parts, target: webhook, origin }) };
    });
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
