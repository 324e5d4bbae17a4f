import { createHmac } from "node:crypto";
import { formatTime, SECOND_MS } from "../../base/time/time.ts";
import type { GatewayEvent } from "../../core/events/event.ts";

/** The shape of a webhook's body: the event, or what chat tools with incoming webhooks of Slack's format expect. */
export const WEBHOOK_FORMATS = ["json", "slack"] as const;

export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** Renders an event as the body of a request. */
export function renderEvent(
  { id, type, createdAt, text, data }: GatewayEvent,
  format: WebhookFormat,
): string {
  if (format === "slack") return JSON.stringify({ text: escapeSlack(`${text} (${type})`) });
  return JSON.stringify({ id, type, created_at: formatTime(createdAt), text, data });
}

/** Slack reads these characters as markup: `<!channel>` would notify all members. */
function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Returns the signature header of a body that is sent at `now`, in the form that `POST /api/payments/webhook` accepts. */
export function signBody(secret: string, body: string, now: number): string {
  const time = Math.floor(now / SECOND_MS);
  return `t=${time},v1=${createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")}`;
}
