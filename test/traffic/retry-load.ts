import type { FleetCall } from "./fleet.ts";

/** A vendor's calls in one minute. */
export interface RetryLoad {
  readonly vendor: string;
  readonly at: number;
  readonly firsts: number;
  readonly retries: number;
}

/** The budget counts in slices of five seconds: its minute is 55 to 60 seconds. */
const [SURE_MS, MINUTE_MS] = [55_000, 60_000];
const RESERVE = 10;
const SHARE = 0.1;

/** Lists the minutes in which a vendor had more retries than ten plus a tenth of its first attempts. */
export function findOverloads(calls: readonly FleetCall[]): readonly RetryLoad[] {
  const byVendor = new Map<string, FleetCall[]>();
  for (const call of calls) {
    const known = byVendor.get(call.vendor);
    if (known === undefined) byVendor.set(call.vendor, [call]);
    else known.push(call);
  }
  return [...byVendor].flatMap(([vendor, list]) => findVendorsOverloads(vendor, list));
}

function findVendorsOverloads(vendor: string, calls: readonly FleetCall[]): readonly RetryLoad[] {
  const found: RetryLoad[] = [];
  let [firsts, retries, minute, sure] = [0, 0, 0, 0];
  for (const { at, isFirst } of calls) {
    if (isFirst) firsts += 1;
    else retries += 1;
    for (; (calls[minute] as FleetCall).at <= at - MINUTE_MS; minute++)
      if (calls[minute]?.isFirst) firsts -= 1;
    for (; (calls[sure] as FleetCall).at <= at - SURE_MS; sure++) if (!calls[sure]?.isFirst) retries -= 1;
    if (!isFirst && retries > RESERVE + SHARE * firsts) found.push({ vendor, at, firsts, retries });
  }
  return found;
}
