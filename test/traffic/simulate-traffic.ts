import { type ConversationsReport, findBrokenConversations, holdConversations } from "./conversations.ts";
import { type DeadKind, findBrokenOutage, type OutageReport, sufferOutage } from "./outage.ts";
import { findOverloads } from "./retry-load.ts";
import { buildTown, type Town } from "./town.ts";
import { findBrokenWeather, liveThroughWeather, type Season, type WeatherReport } from "./weather.ts";

/** The result of a simulation. */
export interface Simulated<Report> {
  readonly report: Report;
  /** The violated expectations. */
  readonly broken: readonly string[];
}

/** Simulates vendors that fail and recover. Like the others, it gives the same result for the same seed. */
export function simulateWeather(seed: number, season: Season): Promise<Simulated<WeatherReport>> {
  return simulate(seed, (town) => liveThroughWeather(town, season), findBrokenWeather);
}

/** Simulates dense traffic during which the busiest vendor is down for a while. */
export function simulateOutage(
  seed: number,
  kind: DeadKind,
  perSecond: number,
): Promise<Simulated<OutageReport>> {
  return simulate(seed, (town) => sufferOutage(town, kind, perSecond), findBrokenOutage);
}

/** Simulates conversations of fifty turns with one vendor that fails now and then. */
export function simulateConversations(seed: number, count: number): Promise<Simulated<ConversationsReport>> {
  return simulate(seed, (town) => holdConversations(town, count), findBrokenConversations);
}

/** Checks that retries stay within their budget. */
async function simulate<Report>(
  seed: number,
  play: (town: Town) => Promise<Report>,
  findBroken: (report: Report) => readonly string[],
): Promise<Simulated<Report>> {
  const town = await buildTown(seed);
  try {
    const report = await play(town);
    const overloads = findOverloads(town.fleet.calls).map(
      ({ vendor, at, firsts, retries }) =>
        `${vendor} had ${retries} retries beside ${firsts} first calls in the minute until ${at}`,
    );
    return { report, broken: [...findBroken(report), ...overloads.slice(0, 3)] };
  } finally {
    town.close();
  }
}
