import { type ConversationsReport, holdConversations, judgeConversations } from "./conversations.ts";
import { type DeadKind, judgeOutage, type OutageReport, sufferOutage } from "./outage.ts";
import { findOverloads } from "./retry-load.ts";
import { buildTown, type Town } from "./town.ts";
import { judgeWeather, liveThroughWeather, type Season, type WeatherReport } from "./weather.ts";

/** What a simulation came to. */
export interface Simulated<Report> {
  readonly report: Report;
  /** What did not hold. */
  readonly broken: readonly string[];
}

/** Simulates vendors that fall ill and get well again. As all of these, the same from the same seed. */
export function simulateWeather(seed: number, season: Season): Promise<Simulated<WeatherReport>> {
  return simulate(seed, (town) => liveThroughWeather(town, season), judgeWeather);
}

/** Simulates dense traffic, in the middle of which the busiest vendor dies for a while. */
export function simulateOutage(
  seed: number,
  kind: DeadKind,
  perSecond: number,
): Promise<Simulated<OutageReport>> {
  return simulate(seed, (town) => sufferOutage(town, kind, perSecond), judgeOutage);
}

/** Simulates so many conversations of fifty turns with one vendor that is not quite well. */
export function simulateConversations(seed: number, count: number): Promise<Simulated<ConversationsReport>> {
  return simulate(seed, (town) => holdConversations(town, count), judgeConversations);
}

/** Every town holds its retries in their budget. */
async function simulate<Report>(
  seed: number,
  play: (town: Town) => Promise<Report>,
  judge: (report: Report) => readonly string[],
): Promise<Simulated<Report>> {
  const town = await buildTown(seed);
  try {
    const report = await play(town);
    const overloads = findOverloads(town.fleet.calls).map(
      ({ vendor, at, firsts, retries }) =>
        `${vendor} had ${retries} retries beside ${firsts} first calls in the minute until ${at}`,
    );
    return { report, broken: [...judge(report), ...overloads.slice(0, 3)] };
  } finally {
    town.close();
  }
}
