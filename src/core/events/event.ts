import { sha256 } from "../../base/secrets/hash.ts";

/** The types of events that webhooks receive. */
export const EVENT_TYPES = [
  "provider.down",
  "provider.up",
  "ledger.imbalance",
  "key.expiring",
  "errors.rate",
  "budget.warning",
  "budget.reached",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** The type of the event that an operator sends to test a webhook. Every webhook receives it. */
export const TEST_EVENT = "webhook.test";

/** An event that operators want to know about. */
export interface GatewayEvent {
  /** The same for every delivery of the same event, and on every gateway that reports it. */
  readonly id: string;
  readonly type: EventType | typeof TEST_EVENT;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** One sentence for people. */
  readonly text: string;
  /** The facts, by their names in JSON. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Receives events. Never throws, and waits for nothing. */
export type EventSink = (event: GatewayEvent) => void;

/** The hexadecimal digits of an event's id: 128 bits. */
const ID_DIGITS = 32;

/**
 * Returns the id of an event. It is derived from what identifies the event, such as a key and its expiry time, so that another gateway that
 * reports the same event uses the same id.
 */
export function eventId(type: GatewayEvent["type"], ...identity: readonly (string | number)[]): string {
  return `evt_${sha256(JSON.stringify([type, ...identity]), "hex").slice(0, ID_DIGITS)}`;
}
