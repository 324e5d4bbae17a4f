import { describe, expect, test } from "bun:test";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { simulateConversations, simulateOutage, simulateRandomOutages } from "./simulate-traffic.ts";

/** `npm run suite -- routing` simulates days, all kinds of outage, and more conversations. */
describe.skipIf(!IS_LONG_RUN)("twenty simulated vendors", () => {
  test("every request is answered while one of its vendors is healthy, and retries stay within their budget", async () => {
    const { report, broken } = await simulateRandomOutages(1, { days: 1 / 48, perSecond: 1 });
    expect(broken).toEqual([]);
    expect(report.answerable).toBeGreaterThan(1_500);
    // Some requests needed two attempts.
    expect(report.calls).toBeGreaterThan(report.requests);
  });

  test("a vendor that goes down is avoided within ten seconds, and has its share of requests back a minute after its recovery", async () => {
    const { report, broken } = await simulateOutage(1, "failing", 10);
    expect(broken).toEqual([]);
    expect(report.before).toBeGreaterThan(0.05);
  });

  test("conversations keep their prompt cache although their vendor fails occasionally", async () => {
    const { report, broken } = await simulateConversations(1, 15);
    expect(broken).toEqual([]);
    expect(report.turns).toBeGreaterThan(700);
  });

  test("a simulation with the same seed has the same result", async () => {
    const plan = { days: 1 / 200, perSecond: 1 };
    expect(await simulateRandomOutages(7, plan)).toEqual(await simulateRandomOutages(7, plan));
  });
});
