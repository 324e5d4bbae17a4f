import type { RecordEntry, UsageRecord } from "../usage/records.ts";
import type { UsageQuery, UsageSum } from "../usage/report.ts";

/** Where usage records are kept. */
export interface UsageStore {
  /** Saves entries in one transaction. An entry replaces an earlier one of the same id that is `open`, and no other. */
  saveUsage(entries: readonly RecordEntry[]): Promise<void>;
  findUsage(id: string): Promise<UsageRecord | null>;
  /** Records that a process left `open`. */
  findOpenUsage(): Promise<readonly UsageRecord[]>;
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
