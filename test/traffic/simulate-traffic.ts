import { type ConversationsReport, holdConversations, judgeConversations } from "./conversations.ts";
import { DEAD_KINDS, judgeOutage, type OutageReport, sufferOutage } from "./outage.ts";
import { findOverloads } from "./retry-load.ts";
import { buildTown, FIRST_TOKEN_MS, type Town } from "./town.ts";
import { makeWeather, sendTraffic } from "./weather.ts";

/** How much is simulated. */
export interface TrafficPlan {
  /** Days of changing weather. */
  readonly days: number;
  /** Requests a second on those. */
  readonly perSecond: number;
  /** Ways to die that are tried; all where it is left out. */
  readonly outages?: readonly (typeof DEAD_KINDS)[number][];
  /** Requests a second meanwhile. */
  readonly outagePerSecond: number;
  readonly conversations: number;
}

/** What a simulation came to. */
export interface TrafficReport {
  /** What did not hold. */
  readonly broken: readonly string[];
  readonly weather: WeatherReport;
  readonly outages: readonly OutageReport[];
  readonly conversations: ConversationsReport;
}

interface WeatherReport {
  readonly requests: number;
  /** Those for which somebody was well all the time, and those of them that failed. */
  readonly answerable: number;
  readonly failed: number;
  readonly calls: number;
}

const DAY_MS = 86_400_000;

/** Simulates a gateway in front of twenty vendors, from a seed. The same again gives the same. */
export async function simulateTraffic(seed: number, plan: TrafficPlan): Promise<TrafficReport> {
  const broken: string[] = [];
  const within = async <Report>(play: (town: Town) => Promise<Report>): Promise<Report> => {
    const town = await buildTown(seed);
    const report = await play(town);
    for (const { vendor, at, firsts, retries } of findOverloads(town.fleet.calls).slice(0, 3)) {
      broken.push(`${vendor} had ${retries} retries beside ${firsts} first attempts until ${at}`);
    }
    town.close();
    return report;
  };

  const weather = await within((town) => liveThroughWeather(town, plan));
  broken.push(...judgeWeather(weather));
  const outages: OutageReport[] = [];
  for (const kind of plan.outages ?? DEAD_KINDS) {
    const report = await within((town) => sufferOutage(town, kind, plan.outagePerSecond));
    outages.push(report);
    broken.push(...judgeOutage(report));
  }
  const conversations = await within((town) => holdConversations(town, plan.conversations));
  broken.push(...judgeConversations(conversations));
  return { broken, weather, outages, conversations };
}

async function liveThroughWeather(town: Town, { days, perSecond }: TrafficPlan): Promise<WeatherReport> {
  const { clock, fleet, asked } = town;
  const endsAt = clock.now() + days * DAY_MS;
  makeWeather(town, endsAt);
  sendTraffic(town, perSecond, endsAt);
  await clock.run(endsAt + 6 * FIRST_TOKEN_MS);
  const answerable = asked.filter(({ couldBeAnswered }) => couldBeAnswered);
  return {
    requests: asked.length,
    answerable: answerable.length,
    failed: answerable.filter(({ isAnswered }) => !isAnswered).length,
    calls: fleet.calls.length,
  };
}

function judgeWeather({ answerable, failed }: WeatherReport): readonly string[] {
  if (failed <= 0.001 * answerable) return [];
  return [`${failed} of ${answerable} requests failed while somebody was well`];
}
