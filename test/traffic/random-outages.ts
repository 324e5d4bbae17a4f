import { NO_TROUBLE, type Trouble } from "./fleet.ts";
import { FIRST_TOKEN_MS, type TrafficSite } from "./traffic-site.ts";

/** The duration, and the requests per second. */
export interface TrafficPlan {
  readonly days: number;
  readonly perSecond: number;
}

/** The outcome of requests. */
export interface RandomOutagesReport {
  readonly requests: number;
  /** Requests for which a vendor was healthy all the time, and those of them that failed. */
  readonly answerable: number;
  readonly failed: number;
  readonly calls: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
/** How long a vendor is healthy and unhealthy, on average. */
const WELL_MS = 60 * MINUTE_MS;
const TROUBLE_MS = 10 * MINUTE_MS;

const DAY_MS = 86_400_000;

/** Sends requests while vendors fail and recover. */
export async function runRandomOutages(
  site: TrafficSite,
  { days, perSecond }: TrafficPlan,
): Promise<RandomOutagesReport> {
  const { clock, fleet, asked } = site;
  const endsAt = clock.now() + days * DAY_MS;
  scheduleOutages(site, endsAt);
  sendTraffic(site, perSecond, endsAt);
  await clock.run(endsAt + ENDING_MS);
  const answerable = asked.filter(({ couldBeAnswered }) => couldBeAnswered);
  return {
    requests: asked.length,
    answerable: answerable.length,
    failed: answerable.filter(({ isAnswered }) => !isAnswered).length,
    calls: fleet.calls.length,
  };
}

/** By then every request has ended. */
const ENDING_MS = 30 * FIRST_TOKEN_MS;

/** Lists the violated expectations. */
export function findBrokenRandomOutages({ answerable, failed }: RandomOutagesReport): readonly string[] {
  if (failed <= 0.001 * answerable) return [];
  return [`${failed} of ${answerable} requests failed while a vendor was healthy`];
}

/** Makes vendors fail and recover independently, until `untilMs`. */
function scheduleOutages(site: TrafficSite, untilMs: number): void {
  for (const slug of site.vendors) scheduleOutage(site, slug, untilMs);
}

function scheduleOutage(site: TrafficSite, slug: string, untilMs: number): void {
  const { clock, chance, fleet } = site;
  clock.after(spread(chance.next(), WELL_MS), () => {
    if (clock.now() >= untilMs) return;
    fleet.setTrouble(slug, pickTrouble(site));
    clock.after(spread(chance.next(), TROUBLE_MS), () => {
      fleet.setTrouble(slug, NO_TROUBLE);
      scheduleOutage(site, slug, untilMs);
    });
  });
}

function pickTrouble({ chance }: TrafficSite): Trouble {
  if (chance.oneIn(2)) {
    return { kind: "brown-out", failShare: 0.05 + 0.6 * chance.next(), slowness: 1 + 6 * chance.next() };
  }
  return { kind: chance.pick(["refusing", "failing", "overloaded", "empty", "mute"] as const) };
}

/** Sends single requests at random times, this many per second on average, until `untilMs`. */
export function sendTraffic(site: TrafficSite, perSecond: number, untilMs: number): void {
  const { clock, chance } = site;
  const next = (): void => {
    if (clock.now() >= untilMs) return;
    const model = chance.pick(site.models);
    const conversation = `passer-by ${chance.below(1e9)}`;
    site.ask({ model, stream: !chance.oneIn(4), conversation, turn: 0, session: null }).catch(() => {});
    clock.after(spread(chance.next(), SECOND_MS / perSecond), next);
  };
  clock.after(0, next);
}

/** Exponentially distributed durations around a mean, from a number between 0 and 1. */
export function spread(random01: number, meanMs: number): number {
  return Math.max(1, -Math.log(1 - random01) * meanMs);
}
