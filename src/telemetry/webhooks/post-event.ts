import packageJson from "../../../package.json" with { type: "json" };
import type { Clock } from "../../base/clock.ts";
import type { GatewayEvent } from "../../core/events/event.ts";
import { renderEvent, signBody, type WebhookFormat } from "./render-event.ts";

/** Where events are sent. */
export interface WebhookTarget {
  readonly url: string;
  readonly format: WebhookFormat;
  /** Signs the bodies; null for a receiver that does not verify them. */
  readonly secret: string | null;
}

/** The outcome of one try. `mayRetry`: the receiver may take the event later. */
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

/** Sends an event once. Follows no redirect and reads nothing of the response's body. Never rejects. */
export async function postEvent(
  target: WebhookTarget,
  event: GatewayEvent,
  clock: Pick<Clock, "now" | "after">,
): Promise<PostOutcome> {
  const late = new AbortController();
  const timer = clock.after(TIMEOUT_MS, () => late.abort());
  try {
    const body = renderEvent(event, target.format);
    const response = await fetch(target.url, {
      method: "POST",
      headers: headersOf(target, event, target.secret && signBody(target.secret, body, clock.now())),
      body,
      redirect: "manual",
      signal: late.signal,
    });
    await response.body?.cancel();
    return readResponse(response);
  } catch (error) {
    const problem = late.signal.aborted ? `no response within ${TIMEOUT_MS / 1_000} s` : describe(error);
    return { kind: "failed", status: null, error: problem, mayRetry: true, afterMs: null };
  } finally {
    timer.cancel();
  }
}

function headersOf(
  { format }: WebhookTarget,
  { id, type }: GatewayEvent,
  signature: string | null,
): Record<string, string> {
  return {
    "content-type": "application/json",
    "user-agent": `gateway/${packageJson.version}`,
    ...(format === "json" ? { "x-gateway-event": type, "x-gateway-event-id": id } : {}),
    ...(signature === null ? {} : { "x-gateway-signature": signature }),
  };
}

function readResponse({ ok, status, headers }: Response): PostOutcome {
  if (ok) return { kind: "taken", status };
  const isRedirect = status >= 300 && status < 400;
  const error = isRedirect
    ? `status ${status}: redirects are not followed; configure the final address`
    : `status ${status}`;
  const mayRetry = status >= 500 || TRANSIENT.has(status);
  return { kind: "failed", status, error, mayRetry, afterMs: readRetryAfter(headers.get("retry-after")) };
}

/** Returns the pause that a `Retry-After` in seconds states. Milliseconds; null for anything else. */
function readRetryAfter(header: string | null): number | null {
  return header !== null && /^\s*\d{1,9}\s*$/.test(header) ? Number(header) * 1_000 : null;
}

/** The text of a connection failure may contain the URL, whose path may be a secret. */
function describe(error: unknown): string {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === "string" ? `no connection: ${code}` : "no connection";
}
