import { describe, expect, test } from "bun:test";
import { simulateConversations, simulateOutage, simulateWeather } from "./simulate-traffic.ts";

/** `npm run test:routing` simulates days, all ways to die, and more conversations. */
describe("of twenty vendors, simulated,", () => {
  test("somebody answers wherever one is well, and retries stay in their budget", async () => {
    const { report, broken } = await simulateWeather(1, { days: 1 / 48, perSecond: 1 });
    expect(broken).toEqual([]);
    expect(report.answerable).toBeGreaterThan(1_500);
    // Some had to be asked twice.
    expect(report.calls).toBeGreaterThan(report.requests);
  });

  test("one that dies is left alone within ten seconds, and has its share back within a minute", async () => {
    const { report, broken } = await simulateOutage(1, "failing", 10);
    expect(broken).toEqual([]);
    expect(report.before).toBeGreaterThan(0.05);
  });

  test("one that is not quite well does not cost conversations their caches", async () => {
    const { report, broken } = await simulateConversations(1, 15);
    expect(broken).toEqual([]);
    expect(report.turns).toBeGreaterThan(700);
  });

  test("the same comes again from a seed", async () => {
    const season = { days: 1 / 200, perSecond: 1 };
    expect(await simulateWeather(7, season)).toEqual(await simulateWeather(7, season));
  });
});
