import type { AuditEntry } from "./records.ts";

/** Returns an entry as the management API and the command show it. */
export function presentEntry(entry: AuditEntry): Record<string, unknown> {
  return {
    place: entry.place,
    at: new Date(entry.at).toISOString(),
    key_id: entry.keyId,
    user_id: entry.userId,
    action: entry.action,
    account_id: entry.accountId,
    target: entry.target,
    request_id: entry.requestId,
    changes: entry.changes,
    previous_hash: entry.previousHash,
    hash: entry.hash,
  };
}
