import type { AuditDraft, AuditEntry } from "../audit/records.ts";

/** Where the audit log is kept: entries are added and read, nothing else. */
export interface AuditStore {
  /** Chains a change to the last one, whichever process wrote that. */
  appendAudit(draft: AuditDraft): Promise<AuditEntry>;
  /** Newest first, before a place; those of one account, or all. */
  listAudit(accountId: string | null, beforePlace: number, limit: number): Promise<readonly AuditEntry[]>;
  /** Oldest first, behind a place. */
  readAudit(afterPlace: number, limit: number): Promise<readonly AuditEntry[]>;
}
