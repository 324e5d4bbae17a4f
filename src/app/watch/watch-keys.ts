import type { Log } from "../../base/failures/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import { DAY_MS, formatTime } from "../../base/time/time.ts";
import type { KeyRecord } from "../../core/accounts/records/records.ts";
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
 * Announces keys that expire within a number of days, and former secrets of rotated keys that end although they are still used, each once.
 * A key that is created with a shorter life is not announced. Only the leading gateway does it. Rejects with a `StoreError` if the store is
 * unavailable.
 */
export async function announceExpiringKeys(watch: KeyWatch): Promise<void> {
  if (!(await watch.gateways.isLeader())) return;
  await announceKeys(watch);
  await announceFormerSecrets(watch);
}

async function announceKeys({ stores: { keys, settings }, clock, log, send, days }: KeyWatch): Promise<void> {
  const createdAt = clock.now();
  const until = createdAt + days * DAY_MS;
  const after = Math.max(createdAt, Number((await settings.findSetting(CURSOR)) ?? 0));
  if (until <= after) return;
  const found = await keys.listExpiringKeys(after, until, MAX_KEYS);
  await settings.putSetting(CURSOR, String(until));
  for (const key of found) {
    const at = formatTime(key.expiresAt);
    send({
      id: eventId("key.expiring", key.id, key.expiresAt ?? 0),
      type: "key.expiring",
      createdAt,
      text: `The API key "${key.name}" (${key.id}) expires at ${at}.`,
      data: {
        ...describeKey(key),
        expires_at: at,
        is_former_secret: false,
        last_used_at: formatTime(key.lastUsedAt),
      },
    });
  }
  if (found.length === MAX_KEYS)
    log.warn("more API keys expire than are announced to webhooks", { announced: MAX_KEYS });
}

/** Announces former secrets that are still used, at most `MAX_KEYS`. The next run announces the others. */
async function announceFormerSecrets({ stores: { keys }, clock, send, days }: KeyWatch): Promise<void> {
  const now = clock.now();
  const found = await keys.claimFormerSecrets({ now, withinMs: days * DAY_MS, limit: MAX_KEYS });
  for (const key of found) {
    const { id, name, previousHint, previousUntil, previousUsedAt } = key;
    const at = formatTime(previousUntil);
    const usedAt = formatTime(previousUsedAt);
    send({
      id: eventId("key.expiring", id, "former_secret", previousUntil ?? 0),
      type: "key.expiring",
      createdAt: now,
      text: `The former secret ${previousHint} of the rotated API key "${name}" (${id}) ends at ${at}, but was still used in the hour of ${usedAt}.`,
      data: { ...describeKey(key), expires_at: at, is_former_secret: true, last_used_at: usedAt },
    });
  }
}

function describeKey({ id, name, accountId, userId, teamId }: KeyRecord): Record<string, unknown> {
  return { key_id: id, key_name: name, account_id: accountId, user_id: userId, team_id: teamId };
}
