import { describe, expect, test } from "bun:test";
import { simulateTraffic, type TrafficPlan } from "./simulate-traffic.ts";

/** `npm run test:routing` simulates days. */
const SHORT: TrafficPlan = {
  days: 1 / 48,
  perSecond: 1,
  outages: ["failing"],
  outagePerSecond: 10,
  conversations: 15,
};

describe("traffic to twenty vendors, simulated", () => {
  test("is answered wherever somebody is well, leaves the dead alone and keeps caches warm", async () => {
    const report = await simulateTraffic(1, SHORT);
    expect(report.broken).toEqual([]);
    expect(report.weather.answerable).toBeGreaterThan(1_500);
    expect(report.outages[0]?.before).toBeGreaterThan(0.05);
    expect(report.conversations.turns).toBeGreaterThan(700);
  });

  test("of a seed comes the same again", async () => {
    const tiny: TrafficPlan = { ...SHORT, days: 1 / 200, outages: [], conversations: 2 };
    expect(await simulateTraffic(7, tiny)).toEqual(await simulateTraffic(7, tiny));
  });
});
