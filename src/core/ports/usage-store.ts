import type { UsageRecord } from "../usage/records.ts";

/** Where usage records are kept. */
export interface UsageStore {
  /** Saves records in one transaction. A record replaces an earlier one of the same id, unless it is `open` and the earlier is not. */
  saveUsage(records: readonly UsageRecord[]): Promise<void>;
  findUsage(id: string): Promise<UsageRecord | null>;
  /** Records that a process left `open`. */
  findOpenUsage(): Promise<readonly UsageRecord[]>;
  /** Address and time of each anonymous request since `since`, milliseconds since the epoch. */
  findAnonymousSince(
    since: number,
  ): Promise<readonly { readonly addressHash: string; readonly createdAt: number }[]>;
}
