import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { LeaseLostError, LeaseTakenError, withLease } from "../../src/base/time/lease.ts";
import { lockDataDir, lockLeftDataDir } from "../../src/storage/sqlite/connection/data-lock.ts";
import { FileLeases } from "../../src/storage/sqlite/file-leases.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";
import { testLeases } from "./contracts/money/leases.ts";

let dir: string;
beforeEach(() => {
  dir = makeTempFolder("gateway-leases-");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("locked files", () => {
  testLeases((clock) => new FileLeases(dir, clock));
});

describe("work under a lease", () => {
  const request = { name: "refresh", owner: "gateway_a", durationMs: 3_000 };

  test("keeps the lease for as long as it takes, and gives it back at its end", async () => {
    const clock = createTestClock();
    const leases = new FileLeases(dir, clock);
    const taken: boolean[] = [];
    const result = await withLease({
      leases,
      clock,
      request,
      async work() {
        for (let seconds = 0; seconds < 10; seconds++) {
          clock.advance(1_000);
          taken.push((await leases.acquire({ ...request, owner: "gateway_b" })) === null);
        }
        return "done";
      },
    });
    expect(result).toBe("done");
    expect(taken).toEqual(Array(10).fill(true));
    const lease = await leases.acquire(request);
    expect(lease).not.toBeNull();
    await lease?.release();
    expect(clock.pendingTimers).toBe(0);
  });

  test("is not done while another process has the lease", async () => {
    const clock = createTestClock();
    const leases = new FileLeases(dir, clock);
    const lease = await leases.acquire(request);
    let isDone = false;
    const work = async () => {
      isDone = true;
    };
    await expect(withLease({ leases, clock, request, work })).rejects.toThrow(LeaseTakenError);
    expect(isDone).toBe(false);
    await lease?.release();
  });

  test("stops when it finds that its lease has ended, as in a process that was paused", async () => {
    const clock = createTestClock();
    const leases = new FileLeases(dir, clock);
    const done: string[] = [];
    const work = async (confirm: () => Promise<void>) => {
      await confirm();
      done.push("before");
      // Renewals of a paused process do not run, and its lease ends.
      clock.leap(request.durationMs);
      const next = await leases.acquire({ ...request, owner: "gateway_b" });
      expect(next).not.toBeNull();
      await confirm().finally(() => next?.release());
      done.push("after");
    };
    const paused = { every: () => ({ cancel() {} }) };
    await expect(withLease({ leases, clock: paused, request, work })).rejects.toThrow(LeaseLostError);
    expect(done).toEqual(["before"]);
  });

  test("gives the lease back when it fails", async () => {
    const clock = createTestClock();
    const leases = new FileLeases(dir, clock);
    const work = () => Promise.reject(new Error("broken"));
    await expect(withLease({ leases, clock, request, work })).rejects.toThrow("broken");
    const lease = await leases.acquire(request);
    expect(lease).not.toBeNull();
    await lease?.release();
  });
});

describe("the id of a gateway", () => {
  const open = (folder: string, initialId: string): string => {
    const lock = lockDataDir(folder);
    const id = lock.gatewayId(initialId);
    lock.release();
    return id;
  };

  test("stays the same for a data directory, and differs from that of another", () => {
    const other = makeTempFolder("gateway-leases-");
    expect(open(dir, "gateway_a")).toBe("gateway_a");
    expect(open(dir, "gateway_b")).toBe("gateway_a");
    expect(open(other, "gateway_b")).toBe("gateway_b");
    rmSync(other, { recursive: true });
  });

  test("decides whether another process may work on a data directory that a gateway has left", () => {
    const other = makeTempFolder("gateway-leases-");
    expect(open(dir, "gateway_a")).toBe("gateway_a");
    expect(lockLeftDataDir(other, "gateway_a")).toBeNull();
    expect(lockLeftDataDir(dir, "gateway_b")).toBeNull();
    const running = lockDataDir(dir);
    expect(lockLeftDataDir(dir, "gateway_a")).toBeNull();
    running.release();
    const left = lockLeftDataDir(dir, "gateway_a");
    expect(left).not.toBeNull();
    expect(() => lockDataDir(dir)).toThrow("another gateway is running");
    left?.release();
    rmSync(other, { recursive: true });
  });

  test("belongs to one process at a time", () => {
    const lock = lockDataDir(dir);
    lock.gatewayId("gateway_a");
    expect(() => lockDataDir(dir)).toThrow("another gateway is running");
    lock.release();
  });
});
