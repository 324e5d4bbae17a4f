import type { AuditDraft, AuditEntry } from "./records.ts";

/** Stores the audit log. Entries are appended and read, never changed. */
export interface AuditStore {
  /** Appends an entry to the hash chain. Several processes may append to one chain. */
  appendAudit(draft: AuditDraft): Promise<AuditEntry>;
  /** Begins a change that a gateway makes: stores its draft before. Returns an id for `commitChange` and `abortChange`. */
  beginChange(draft: AuditDraft, gatewayId: string): Promise<number>;
  /** Replaces a begun change with entries, in one transaction. */
  commitChange(changeId: number, drafts: readonly AuditDraft[]): Promise<void>;
  /** Deletes a begun change, because the request was rejected. */
  abortChange(changeId: number): Promise<void>;
  /**
   * Turns changes of a gateway that were neither committed nor aborted into entries, and returns their number. No change of that
   * gateway may be in progress: call it at its start, and when it is gone. Changes of all gateways are settled after an hour.
   */
  settleChanges(gatewayId: string): Promise<number>;
  /** Returns entries before a position, newest first: of one account, or all for null. */
  listAudit(accountId: string | null, beforePlace: number, limit: number): Promise<readonly AuditEntry[]>;
  /** Returns entries after a position, oldest first. */
  readAudit(afterPlace: number, limit: number): Promise<readonly AuditEntry[]>;
}
