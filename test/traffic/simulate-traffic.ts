import { type ConversationsReport, findBrokenConversations, runConversations } from "./conversations.ts";
import { type DeadKind, findBrokenOutage, type OutageReport, runOutage } from "./outage.ts";
import {
  findBrokenRandomOutages,
  type RandomOutagesReport,
  runRandomOutages,
  type TrafficPlan,
} from "./random-outages.ts";
import { findOverloads } from "./retry-load.ts";
import { createTrafficSite, type TrafficSite } from "./traffic-site.ts";

/** The result of a simulation. */
export interface Simulated<Report> {
  readonly report: Report;
  /** The violated expectations. */
  readonly broken: readonly string[];
}

/** Simulates vendors that fail and recover. Like the others, it gives the same result for the same seed. */
export function simulateRandomOutages(
  seed: number,
  plan: TrafficPlan,
): Promise<Simulated<RandomOutagesReport>> {
  return simulate(seed, (site) => runRandomOutages(site, plan), findBrokenRandomOutages);
}

/** Simulates dense traffic during which the busiest vendor is down for a while. */
export function simulateOutage(
  seed: number,
  kind: DeadKind,
  perSecond: number,
): Promise<Simulated<OutageReport>> {
  return simulate(seed, (site) => runOutage(site, kind, perSecond), findBrokenOutage);
}

/** Simulates conversations of fifty turns with one vendor that fails now and then. */
export function simulateConversations(seed: number, count: number): Promise<Simulated<ConversationsReport>> {
  return simulate(seed, (site) => runConversations(site, count), findBrokenConversations);
}

/** Checks that retries stay within their budget. */
async function simulate<Report>(
  seed: number,
  play: (site: TrafficSite) => Promise<Report>,
  findBroken: (report: Report) => readonly string[],
): Promise<Simulated<Report>> {
  const site = await createTrafficSite(seed);
  try {
    const report = await play(site);
    const overloads = findOverloads(site.fleet.calls).map(
      ({ vendor, at, firsts, retries }) =>
        `${vendor} had ${retries} retries and ${firsts} first calls in the minute until ${at}`,
    );
    return { report, broken: [...findBroken(report), ...overloads.slice(0, 3)] };
  } finally {
    site.close();
  }
}
