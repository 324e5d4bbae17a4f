import type { AuditDraft, AuditEntry } from "./records.ts";

/** Stores the audit log. Entries are appended and read, never changed. */
export interface AuditStore {
  /** Appends an entry to the hash chain, whichever process wrote the last one. */
  appendAudit(draft: AuditDraft): Promise<AuditEntry>;
  /** Announces a change that is about to be made. Returns the id of the announcement. */
  beginChange(draft: AuditDraft): Promise<number>;
  /** Replaces an announcement with entries, in one transaction. */
  commitChange(announcement: number, drafts: readonly AuditDraft[]): Promise<void>;
  /** Deletes the announcement of a change that was rejected. */
  abortChange(announcement: number): Promise<void>;
  /** Turns announcements that were neither committed nor aborted into entries, and returns their number. Call it at the start, while no change is in progress. */
  settleChanges(): Promise<number>;
  /** Returns entries before a position, newest first: of one account, or all for null. */
  listAudit(accountId: string | null, beforePlace: number, limit: number): Promise<readonly AuditEntry[]>;
  /** Returns entries after a position, oldest first. */
  readAudit(afterPlace: number, limit: number): Promise<readonly AuditEntry[]>;
}
