import type { Asked } from "../books/asked.ts";
import type { BillEntry } from "../books/billing-vendor.ts";
import { type Check, check } from "../books/check.ts";
import type { ClusterPayer } from "./payers.ts";

/** Compares limits with the vendor's own list of what reached it, and when. */
export interface Served {
  readonly asked: readonly Asked[];
  readonly bill: readonly BillEntry[];
  readonly payers: readonly ClusterPayer[];
  /** By how much a limit may be exceeded: a factor of it. */
  readonly slack: number;
}

const WINDOW_MS = 60_000;

/** Checks limits of requests per minute, and of concurrent requests. */
export function checkLimits({ asked, bill, payers, slack }: Served): Check[] {
  const callsOf = (payer: ClusterPayer) =>
    bill.filter(({ serial }) => (asked[serial] as Asked).payer.keyId === payer.keyId);
  const perMinute = payers.filter(({ requestsPerMinute }) => requestsPerMinute !== null);
  const concurrent = payers.filter((payer) => payer.concurrent !== null);
  return [
    check(
      `no more requests reach the vendor in any minute than ${slack} times the limit`,
      perMinute,
      (payer) => {
        const most = countMostInWindow(firstArrivals(callsOf(payer)));
        const limit = payer.requestsPerMinute as number;
        console.log(`     ${payer.name}: at most ${most} in a minute, of ${limit}`);
        return most <= limit * slack ? null : `${payer.name}: ${most} of ${limit}`;
      },
    ),
    check(`no more requests are at the vendor at once than ${slack} times the limit`, concurrent, (payer) => {
      const most = countMostAtOnce(callsOf(payer));
      const limit = payer.concurrent as number;
      console.log(`     ${payer.name}: at most ${most} at once, of ${limit}`);
      return most <= limit * slack ? null : `${payer.name}: ${most} of ${limit}`;
    }),
  ];
}

/** A request that is repeated at another vendor counts once. */
function firstArrivals(calls: readonly BillEntry[]): number[] {
  const arrived = new Map<number, number>();
  for (const { serial, arrivedAt } of calls) if (!arrived.has(serial)) arrived.set(serial, arrivedAt);
  return [...arrived.values()].sort((a, b) => a - b);
}

function countMostInWindow(times: readonly number[]): number {
  let most = 0;
  let first = 0;
  for (let last = 0; last < times.length; last++) {
    while ((times[last] as number) - (times[first] as number) >= WINDOW_MS) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

function countMostAtOnce(calls: readonly BillEntry[]): number {
  const changes = calls.flatMap(({ arrivedAt, endedAt }) => [
    { at: arrivedAt, by: 1 },
    { at: endedAt ?? Number.POSITIVE_INFINITY, by: -1 },
  ]);
  // A call that ends in the same millisecond in which another arrives was there before.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let open = 0;
  let most = 0;
  for (const { by } of changes) {
    open += by;
    most = Math.max(most, open);
  }
  return most;
}
