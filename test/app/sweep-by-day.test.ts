import { describe, expect, test } from "bun:test";
import { scheduleSweep } from "../../src/app/watch/sweep-by-day.ts";
import type { Log } from "../../src/base/failures/log.ts";
import type { Lease, Leases } from "../../src/base/time/lease.ts";
import { dayOf } from "../../src/base/time/time.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { createTestClock } from "../support/test-clock.ts";

const HOUR_MS = 3_600_000;
const NOW = Date.parse("2026-07-03T12:00:00Z");

/** A lease that one owner can have. */
function createLeases(): Leases & { owner: string | null } {
  const leases = {
    owner: null as string | null,
    async acquire({ name, owner, durationMs }: Parameters<Leases["acquire"]>[0]): Promise<Lease | null> {
      if (leases.owner !== null) return null;
      leases.owner = owner;
      const release = async () => {
        leases.owner = null;
      };
      return { name, owner, endsAt: NOW + durationMs, renew: async () => true, release };
    },
  };
  return leases;
}

describe("a sweep by day", () => {
  function start({ days, steps = 1 }: { days: number | null; steps?: number }) {
    const clock = createTestClock(NOW);
    const leases = createLeases();
    const warnings: string[] = [];
    const done: number[] = [];
    let failure: Error | null = null;
    const step = async (firstKept: number) => {
      if (failure !== null) throw failure;
      done.push(firstKept);
      return { hasMore: done.length % steps > 0 };
    };
    const ignore = () => {};
    const log: Log = {
      debug: ignore,
      info: ignore,
      error: ignore,
      warn: (text: string) => warnings.push(text),
    };
    const timer = scheduleSweep(
      { name: "retention", days, step, failureEvent: "it failed" },
      { leases, clock, log, owner: "gateway_a" },
    );
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= HOUR_MS / 60) {
        clock.advance(Math.min(left, HOUR_MS / 60));
        for (let turn = 0; turn < 5; turn++) await turnEventLoop();
      }
    };
    const fail = (error: Error | null) => {
      failure = error;
    };
    return { clock, leases, warnings, done, timer, pass, fail };
  }

  test("works on the days before the kept ones, step by step, and again after an hour", async () => {
    const { done, pass, timer, leases } = start({ days: 30, steps: 3 });
    await pass(HOUR_MS);
    const firstKept = dayOf(NOW) - 30;
    expect(done).toEqual([firstKept, firstKept, firstKept]);
    await pass(HOUR_MS);
    expect(done).toHaveLength(6);
    expect(leases.owner).toBeNull();
    timer.cancel();
    await pass(2 * HOUR_MS);
    expect(done).toHaveLength(6);
  });

  test("is left to the gateway that has the lease", async () => {
    const { done, pass, leases, warnings } = start({ days: 30 });
    leases.owner = "gateway_b";
    await pass(HOUR_MS);
    expect([done, warnings]).toEqual([[], []]);
    leases.owner = null;
    await pass(HOUR_MS);
    expect(done).toHaveLength(1);
  });

  test("is logged and tried again when the store fails", async () => {
    const { done, pass, warnings, fail } = start({ days: 30 });
    fail(new Error("away"));
    await pass(HOUR_MS);
    expect(warnings).toHaveLength(1);
    fail(null);
    await pass(HOUR_MS);
    expect(done).toHaveLength(1);
  });

  test("never happens without a policy", async () => {
    const { pass, done, clock } = start({ days: null });
    await pass(HOUR_MS);
    expect(done).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});
