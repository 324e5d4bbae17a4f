/** The state of a webhook, from the view of the answering process. */
interface WebhookStatus {
  /** Its position in the configuration, from 0. */
  readonly index: number;
  /** The origin of its URL. The path may be a secret. */
  readonly origin: string;
  readonly format: "json" | "slack";
  /** The types of events that it receives. */
  readonly events: readonly string[];
  /** Number of waiting events, including the one in delivery. */
  readonly waiting: number;
  readonly delivered: number;
  /** Number of dropped events: the queue was full, or the receiver did not accept them. */
  readonly dropped: number;
  /** Why the last try failed; null if the last one succeeded, and before the first. */
  readonly lastError: string | null;
}

/** The result of a test. */
export interface WebhookTrial extends Pick<WebhookStatus, "index" | "origin"> {
  readonly eventId: string;
  /** The status of the response; null if there was none. */
  readonly status: number | null;
  /** Why the event was not taken; null if it was. */
  readonly error: string | null;
}

/** The configured webhooks. */
export interface Webhooks {
  list(): readonly WebhookStatus[];
  /** Returns how many events were delivered and dropped since the start, also of removed webhooks, and how many wait. */
  totals(): Pick<WebhookStatus, "delivered" | "dropped" | "waiting">;
  /** Sends a test event once, to all webhooks or to the one at `index`. Returns an empty list if there is none. */
  test(index: number | null): Promise<readonly WebhookTrial[]>;
}
