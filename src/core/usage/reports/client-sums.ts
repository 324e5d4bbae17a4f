import type { ClientFamily } from "../clients/client-family.ts";
import type { UsageRecord } from "../records/records.ts";
import type { UsageSumKey } from "./usage-sum-key.ts";
import { sumByHour, type UsageCounters } from "./usage-sums.ts";

/** The dimensions by which requests of known clients are summed. */
export interface ClientSumKey extends UsageSumKey {
  readonly client: ClientFamily;
}

/** The sum of generations that have the same dimensions and client. */
interface ClientSum {
  readonly key: ClientSumKey;
  readonly counters: UsageCounters;
}

/** Sums generations that have ended by hour and client. Those without a client are left out: reports find them by subtraction. */
export function sumByClient(ended: readonly UsageRecord[]): readonly ClientSum[] {
  const recordsByClient = new Map<ClientFamily, UsageRecord[]>();
  for (const record of ended) {
    const { client } = record;
    if (client === undefined) continue;
    const records = recordsByClient.get(client);
    if (records === undefined) recordsByClient.set(client, [record]);
    else records.push(record);
  }
  return [...recordsByClient].flatMap(([client, records]) =>
    sumByHour(records).map(({ key, counters }) => ({ key: { ...key, client }, counters })),
  );
}
