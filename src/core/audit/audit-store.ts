import type { AuditDraft, AuditEntry } from "./records.ts";

/** Where the audit log is kept: entries are added and read, nothing else. */
export interface AuditStore {
  /** Chains a change to the last one, whichever process wrote that. */
  appendAudit(draft: AuditDraft): Promise<AuditEntry>;
  /** Notes a change that is about to be made; gives the note's number. */
  beginChange(draft: AuditDraft): Promise<number>;
  /** Chains what the change was, and forgets the note, in one transaction. */
  commitChange(note: number, drafts: readonly AuditDraft[]): Promise<void>;
  /** Forgets the note of a change that was refused. */
  abortChange(note: number): Promise<void>;
  /** Chains what was announced and neither fulfilled nor withdrawn; gives how many. For a start: nothing may be under way. */
  settleChanges(): Promise<number>;
  /** Newest first, before a place; those of one account, or all. */
  listAudit(accountId: string | null, beforePlace: number, limit: number): Promise<readonly AuditEntry[]>;
  /** Oldest first, behind a place. */
  readAudit(afterPlace: number, limit: number): Promise<readonly AuditEntry[]>;
}
