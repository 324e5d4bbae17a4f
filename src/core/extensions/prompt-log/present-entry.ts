import type { OpenedEntry } from "./prompt-log.ts";

/** An entry as the management API and the command show it. */
export function presentPromptLogEntry(entry: OpenedEntry): Record<string, unknown> {
  const { bodies } = entry;
  return {
    id: entry.id,
    account_id: entry.accountId,
    key_id: entry.keyId,
    created_at: new Date(entry.createdAt).toISOString(),
    expires_at: new Date(entry.expiresAt).toISOString(),
    request: bodies.request,
    request_truncated: bodies.requestTruncated,
    response: bodies.response,
    response_truncated: bodies.responseTruncated,
  };
}
