/** A change, as it is told to the audit log. */
export interface AuditDraft {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The key that asked for it; null for the command, which works on the data directory itself. */
  readonly keyId: string | null;
  /** Whose key it is; null for the operator's and for service keys. */
  readonly userId: string | null;
  /** What was asked: `PATCH /api/admin/users/:id`, `gateway users close`. */
  readonly action: string;
  /** The account that it concerns; null for the gateway as a whole. */
  readonly accountId: string | null;
  /** The id of what was changed. */
  readonly target: string | null;
  readonly requestId: string | null;
  /** The fields that were set, with their new values. No secrets. */
  readonly changes: Readonly<Record<string, unknown>>;
}

/** A change as the log keeps it, chained to the one before. */
export interface AuditEntry extends AuditDraft {
  /** 1 for the first, then one more each. */
  readonly place: number;
  /** The hash of the entry before. */
  readonly previousHash: string;
  /** SHA-256 over everything else in the entry, hex. */
  readonly hash: string;
}

/** A change that its process died under, or that failed in the middle: nobody can say whether it was made. */
export function markUnknown(draft: AuditDraft): AuditDraft {
  return { ...draft, changes: { ...draft.changes, "(outcome)": "unknown" } };
}
