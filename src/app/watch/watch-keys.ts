import type { Log } from "../../base/failures/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import { DAY_MS, formatTime } from "../../base/time/time.ts";
import { type EventSink, eventId } from "../../core/events/event.ts";
import type { JoinedGateways } from "../several/join-gateways.ts";
import type { Stores } from "../stores/stores.ts";

/** The dependencies of the watch of expiring keys. */
interface KeyWatch {
  readonly stores: Pick<Stores, "keys" | "settings">;
  readonly gateways: Pick<JoinedGateways, "isLeader">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Pick<Log, "warn">;
  readonly send: EventSink;
  /** How long before its expiry a key is announced. Days. */
  readonly days: number;
}

/** The maximum number of keys that one run announces. */
const MAX_KEYS = 500;
/** The expiry time up to which keys were announced. The next leading gateway continues from it. */
const CURSOR = "events_keys_announced_until";

/**
 * Announces keys that expire within a number of days, each once. A key that is created with a shorter life is not announced. Only the
 * leading gateway does it. Rejects with a `StoreError` if the store is unavailable.
 */
export async function announceExpiringKeys({
  stores: { keys, settings },
  gateways,
  clock,
  log,
  send,
  days,
}: KeyWatch): Promise<void> {
  if (!(await gateways.isLeader())) return;
  const createdAt = clock.now();
  const until = createdAt + days * DAY_MS;
  const after = Math.max(createdAt, Number((await settings.findSetting(CURSOR)) ?? 0));
  if (until <= after) return;
  const found = await keys.listExpiringKeys(after, until, MAX_KEYS);
  await settings.putSetting(CURSOR, String(until));
  for (const { id, name, accountId, expiresAt } of found) {
    const at = formatTime(expiresAt);
    send({
      id: eventId("key.expiring", id, expiresAt ?? 0),
      type: "key.expiring",
      createdAt,
      text: `The API key "${name}" (${id}) expires at ${at}.`,
      data: { key_id: id, key_name: name, account_id: accountId, expires_at: at },
    });
  }
  if (found.length === MAX_KEYS)
    log.warn("more API keys expire than are announced to webhooks", { announced: MAX_KEYS });
}
