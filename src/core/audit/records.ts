/** An entry of the audit log before it is part of the hash chain. */
export interface AuditDraft {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The id of the key that made the change; null for a command, which works on the data directory directly. */
  readonly keyId: string | null;
  /** The id of the key's user; null for the operator and for service keys. */
  readonly userId: string | null;
  /** The request or command: `PATCH /api/admin/users/:id`, `gateway users close`. */
  readonly action: string;
  /** The account that the change is about; null for the gateway as a whole. */
  readonly accountId: string | null;
  /** The id of the changed resource. */
  readonly target: string | null;
  readonly requestId: string | null;
  /** The fields that were set, with their new values. No secrets. */
  readonly changes: Readonly<Record<string, unknown>>;
}

/** An entry of the audit log, chained to the previous one. */
export interface AuditEntry extends AuditDraft {
  /** The position in the log, from 1. */
  readonly place: number;
  /** The hash of the previous entry. */
  readonly previousHash: string;
  /** SHA-256 of all other fields, in hex. */
  readonly hash: string;
}

/** Returns the entry of a change whose outcome is unknown, because it failed or its process ended in the middle. */
export function markUnknown(draft: AuditDraft): AuditDraft {
  return { ...draft, changes: { ...draft.changes, "(outcome)": "unknown" } };
}
