import { NO_TROUBLE, type Trouble } from "./fleet.ts";
import { FIRST_TOKEN_MS, type Town } from "./town.ts";

/** The duration, and the requests per second. */
export interface Season {
  readonly days: number;
  readonly perSecond: number;
}

/** The outcome of requests. */
export interface WeatherReport {
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
export async function liveThroughWeather(town: Town, { days, perSecond }: Season): Promise<WeatherReport> {
  const { clock, fleet, asked } = town;
  const endsAt = clock.now() + days * DAY_MS;
  makeWeather(town, endsAt);
  sendTraffic(town, perSecond, endsAt);
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
export function findBrokenWeather({ answerable, failed }: WeatherReport): readonly string[] {
  if (failed <= 0.001 * answerable) return [];
  return [`${failed} of ${answerable} requests failed while a vendor was healthy`];
}

/** Makes vendors fail and recover independently, until `untilMs`. */
function makeWeather(town: Town, untilMs: number): void {
  for (const slug of town.vendors) waitForTrouble(town, slug, untilMs);
}

function waitForTrouble(town: Town, slug: string, untilMs: number): void {
  const { clock, chance, fleet } = town;
  clock.after(spread(chance.next(), WELL_MS), () => {
    if (clock.now() >= untilMs) return;
    fleet.setTrouble(slug, pickTrouble(town));
    clock.after(spread(chance.next(), TROUBLE_MS), () => {
      fleet.setTrouble(slug, NO_TROUBLE);
      waitForTrouble(town, slug, untilMs);
    });
  });
}

function pickTrouble({ chance }: Town): Trouble {
  if (chance.oneIn(2)) {
    return { kind: "brown-out", failShare: 0.05 + 0.6 * chance.next(), slowness: 1 + 6 * chance.next() };
  }
  return { kind: chance.pick(["refusing", "failing", "overloaded", "empty", "mute"] as const) };
}

/** Sends single questions at random times, this many per second on average, until `untilMs`. */
export function sendTraffic(town: Town, perSecond: number, untilMs: number): void {
  const { clock, chance } = town;
  const next = (): void => {
    if (clock.now() >= untilMs) return;
    const model = chance.pick(town.models);
    const conversation = `passer-by ${chance.below(1e9)}`;
    town.ask({ model, stream: !chance.oneIn(4), conversation, turn: 0, session: null }).catch(() => {});
    clock.after(spread(chance.next(), SECOND_MS / perSecond), next);
  };
  clock.after(0, next);
}

/** Exponentially distributed durations around a mean, from a number between 0 and 1. */
export function spread(random01: number, meanMs: number): number {
  return Math.max(1, -Math.log(1 - random01) * meanMs);
}
