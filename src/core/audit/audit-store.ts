import type { AuditDraft, AuditEntry } from "./records.ts";

/** Which entries of the audit log are listed. Absent fields do not restrict them. */
export interface AuditQuery {
  readonly accountId?: string | null | undefined;
  /** The id of a user or key; null for commands, which have neither. */
  readonly actor?: string | null | undefined;
  /** At most `MAX_ACTIONS`. */
  readonly actions?: readonly string[] | undefined;
  readonly target?: string | undefined;
  /** Milliseconds since the epoch: from the first, before the second. */
  readonly from?: number | null | undefined;
  readonly to?: number | null | undefined;
  /** The position of the last entry of the previous page. */
  readonly after?: number | undefined;
  readonly limit: number;
}

/** How many actions a list may ask for: each is a query of its own. */
export const MAX_ACTIONS = 16;

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
  /**
   * Returns the newest entries that match, by their time. An entry that a crash delayed has the time of its change, so that its position
   * may be later.
   */
  listAudit(query: AuditQuery): Promise<readonly AuditEntry[]>;
  /** Returns entries after a position, oldest first. */
  readAudit(afterPlace: number, limit: number): Promise<readonly AuditEntry[]>;
}
