import type { RecordEntry, UsageRecord } from "./records.ts";
import type { UsageQuery, UsageSum } from "./report.ts";

/** A record that was set apart, because the store rejects it. */
export interface QuarantinedRecord {
  /** The generation's id. */
  readonly id: string;
  /** In the store's words. */
  readonly reason: string;
  /** What it would have charged, in nanodollars; 0 where that is no amount. */
  readonly costNanodollars: number;
}

/** Where usage records are kept. */
export interface UsageStore {
  /**
   * Saves entries in one transaction. An entry replaces an earlier one of the same id that is `open`, and no other. Rejects with
   * a `RejectedRecordError` where the content of an entry is the reason.
   */
  saveUsage(entries: readonly RecordEntry[]): Promise<void>;
  /** Keeps an entry that `saveUsage` rejects, apart from the records, in place of an open one of the same id. */
  quarantineUsage(entry: RecordEntry, reason: string, at: number): Promise<void>;
  /** Records in quarantine, the oldest first, at most `limit`. */
  listQuarantined(limit: number): Promise<readonly QuarantinedRecord[]>;
  findUsage(id: string): Promise<UsageRecord | null>;
  /** Returns every record that is open. */
  findOpenUsage(): Promise<readonly UsageRecord[]>;
  /**
   * Returns the open records of generations that no gateway runs: those without a lease, those whose lease has ended by `now`, and
   * those that `gatewayId` left when it died. That gateway must not have admitted a request since its start.
   */
  findAbandonedUsage(gatewayId: string, now: number): Promise<readonly UsageRecord[]>;
  /** Address and time of each anonymous request since `since`, milliseconds since the epoch. */
  findAnonymousSince(
    since: number,
  ): Promise<readonly { readonly addressHash: string; readonly createdAt: number }[]>;
  /** Account and time of each request since `since` that counts for the account's limit on free models. */
  findFreeSince(
    since: number,
  ): Promise<readonly { readonly accountId: string; readonly createdAt: number }[]>;
}

/** What reports are made of. */
export interface UsageReports {
  /** What generations that have ended came to, by the day their request came on. */
  sumUsage(query: UsageQuery): Promise<readonly UsageSum[]>;
}
