import type { Clock } from "../../base/time/clock.ts";
import type { GatewayEvent } from "../../core/events/event.ts";
import { describeStatus, postJson } from "./post-json.ts";
import { renderEvent, type WebhookFormat } from "./render-event.ts";

/** Where events are sent. */
export interface WebhookTarget {
  readonly url: string;
  readonly format: WebhookFormat;
  /** Signs the bodies; null for a receiver that does not verify them. */
  readonly secret: string | null;
}

/** The outcome of one try. `mayRetry`: the receiver may accept the event later. */
export type PostOutcome =
  | { readonly kind: "taken"; readonly status: number }
  | {
      readonly kind: "failed";
      readonly status: number | null;
      readonly error: string;
      readonly mayRetry: boolean;
      readonly afterMs: number | null;
    };

/** The longest wait for a response. Milliseconds. */
const TIMEOUT_MS = 10_000;
/** The statuses below 500 after which the same request may succeed. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429]);

/** Sends an event once. Follows no redirect, and does not read the response's body. Never rejects. */
export function postEvent(
  { url, format, secret }: WebhookTarget,
  event: GatewayEvent,
  clock: Pick<Clock, "now" | "after">,
): Promise<PostOutcome> {
  const body = renderEvent(event, format);
  const headers: Record<string, string> =
    format === "json" ? { "x-gateway-event": event.type, "x-gateway-event-id": event.id } : {};
  const read = async (response: Response) => {
    await response.body?.cancel();
    return readResponse(response);
  };
  const fail = (problem: string | null): PostOutcome => {
    const error = problem ?? `no response within ${TIMEOUT_MS / 1_000} s`;
    return { kind: "failed", status: null, error, mayRetry: true, afterMs: null };
  };
  return postJson({ url, body, headers, secret, timeoutMs: TIMEOUT_MS }, { read, fail }, clock);
}

function readResponse({ ok, status, headers }: Response): PostOutcome {
  if (ok) return { kind: "taken", status };
  const error = describeStatus(status);
  const mayRetry = status >= 500 || TRANSIENT.has(status);
  return { kind: "failed", status, error, mayRetry, afterMs: readRetryAfter(headers.get("retry-after")) };
}

/** Returns the pause that a `Retry-After` in seconds states. Milliseconds; null for anything else. */
function readRetryAfter(header: string | null): number | null {
  return header !== null && /^\s*\d{1,9}\s*$/.test(header) ? Number(header) * 1_000 : null;
}
