import type { DayRange } from "../../../base/time/time.ts";
import type { RecordEntry, UsageRecord } from "../records/records.ts";
import type { UsageQuery, UsageSum } from "./report.ts";
import type { HourTimes, TimesLine } from "./usage-times.ts";

/** A quarantined record. */
export interface QuarantinedRecord {
  /** The generation's id. */
  readonly id: string;
  /** The store's message. */
  readonly reason: string;
  /** The charge that was not made, in nanodollars; 0 if it is not a valid amount. */
  readonly costNanodollars: number;
}

/** Stores generation records. */
export interface UsageStore {
  /**
   * Saves entries in one transaction. An entry replaces an earlier one with the same id only if that is `open`. Rejects with a
   * `RejectedRecordError` if the content of an entry is the reason.
   */
  saveUsage(entries: readonly RecordEntry[]): Promise<void>;
  /** Quarantines an entry that `saveUsage` rejects, and removes the open record with the same id. */
  quarantineUsage(entry: RecordEntry, reason: string, at: number): Promise<void>;
  /** Returns at most `limit` quarantined records, the oldest first. */
  listQuarantined(limit: number): Promise<readonly QuarantinedRecord[]>;
  findUsage(id: string): Promise<UsageRecord | null>;
  /** Returns every record that is open. */
  findOpenUsage(): Promise<readonly UsageRecord[]>;
  /**
   * Returns the open records of generations that no gateway runs: those without a lease, those whose lease has ended by `now`, and those
   * that `gatewayId` left when it died. That gateway must not have admitted a request since its start.
   */
  findAbandonedUsage(gatewayId: string, now: number): Promise<readonly UsageRecord[]>;
  /** Returns address hash and time of each anonymous request since `since`, in milliseconds since the epoch. */
  findAnonymousSince(
    since: number,
  ): Promise<readonly { readonly addressHash: string; readonly createdAt: number }[]>;
  /** Returns account and time of each request since `since` that counts for an account's limit on free models. */
  findFreeSince(
    since: number,
  ): Promise<readonly { readonly accountId: string; readonly createdAt: number }[]>;
}

/** Computes usage reports. */
export interface UsageReports {
  /** Sums ended generations by the hour in which their requests arrived. */
  sumUsage(query: UsageQuery): Promise<readonly UsageSum[]>;
  /** Returns whether some of these days (UTC) have sums of the whole day, whose hours are no longer stored. */
  hasWholeDays(days: DayRange): Promise<boolean>;
}

/** Stores how long generations took. */
export interface UsageTimeStore {
  /** Adds times to the stored sums of their hours. */
  addTimes(sums: readonly HourTimes[]): Promise<void>;
  /**
   * Returns the times of the lines of a report that have times, in any order. `only`: those with these values of its only dimension; null
   * for all.
   */
  readTimes(query: UsageQuery, only: readonly (string | null)[] | null): Promise<readonly TimesLine[]>;
}
