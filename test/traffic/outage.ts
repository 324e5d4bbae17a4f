import { type FleetCall, NO_TROUBLE, type Trouble } from "./fleet.ts";
import { sendTraffic } from "./random-outages.ts";
import { FIRST_TOKEN_MS, type TrafficSite } from "./traffic-site.ts";

/** How a vendor that failed was avoided, and how it recovered its traffic. Shares of all calls. */
export interface OutageReport {
  readonly kind: DeadKind;
  readonly vendor: string;
  readonly before: number;
  /** From ten seconds after the failure could be detected. */
  readonly dead: number;
  /** In the second minute after its recovery. */
  readonly after: number;
}

/** The ways in which a vendor can be down. */
export const DEAD_KINDS = ["refusing", "failing", "overloaded", "empty", "mute"] as const;
export type DeadKind = Extract<Trouble["kind"], (typeof DEAD_KINDS)[number]>;

const SECOND_MS = 1_000;
const WARM_UP_MS = 40 * SECOND_MS;
const OUTAGE_MS = 120 * SECOND_MS;
const MINUTE_MS = 60 * SECOND_MS;
const NOTICE_MS = 10 * SECOND_MS;

/** Under dense traffic, takes the busiest vendor down for two minutes. */
export async function runOutage(site: TrafficSite, kind: DeadKind, perSecond: number): Promise<OutageReport> {
  const { clock, fleet } = site;
  const diesAt = clock.now() + WARM_UP_MS;
  const backAt = diesAt + OUTAGE_MS;
  const endsAt = backAt + 2 * MINUTE_MS;
  sendTraffic(site, perSecond, endsAt);
  await clock.run(diesAt);
  const vendor = findBusiest(fleet.calls);
  fleet.setTrouble(vendor, { kind });
  await clock.run(backAt);
  fleet.setTrouble(vendor, NO_TROUBLE);
  await clock.run(endsAt + 3 * FIRST_TOKEN_MS);
  // A silent vendor can be detected only after the first deadline.
  const knownAt = kind === "mute" ? diesAt + FIRST_TOKEN_MS : diesAt;
  return {
    kind,
    vendor,
    before: shareOf(fleet.calls, vendor, diesAt - WARM_UP_MS, diesAt),
    dead: shareOf(fleet.calls, vendor, knownAt + NOTICE_MS, backAt),
    after: shareOf(fleet.calls, vendor, backAt + MINUTE_MS, endsAt),
  };
}

/** Lists the violated expectations. */
export function findBrokenOutage({ kind, vendor, before, dead, after }: OutageReport): readonly string[] {
  const broken: string[] = [];
  const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
  if (dead >= 0.01) broken.push(`${vendor}, dead (${kind}), still had ${percent(dead)} of all calls`);
  if (after < 0.75 * before) {
    broken.push(`${vendor}, well again, had ${percent(after)} of all calls where it had ${percent(before)}`);
  }
  return broken;
}

/** Returns the vendor that was called most often. */
export function findBusiest(calls: readonly FleetCall[]): string {
  const counts = new Map<string, number>();
  for (const { vendor } of calls) counts.set(vendor, (counts.get(vendor) ?? 0) + 1);
  const [busiest] = [...counts].toSorted(([, a], [, b]) => b - a);
  return busiest?.[0] ?? "";
}

function shareOf(calls: readonly FleetCall[], vendor: string, from: number, to: number): number {
  const within = calls.filter(({ at }) => at >= from && at < to);
  return within.filter((call) => call.vendor === vendor).length / Math.max(1, within.length);
}
