import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { Leases } from "../../src/base/time/lease.ts";
import { TaskLeader } from "../../src/core/gateways/task-leader.ts";
import { FileLeases } from "../../src/storage/sqlite/file-leases.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";

const LEASE_MS = 30_000;
const CHECK_MS = 10_000;

let dir: string;
let clock: TestClock;
let acquired: number;
beforeEach(() => {
  dir = makeTempFolder("gateway-leader-");
  clock = createTestClock();
  acquired = 0;
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function createLeader(owner: string, ownClock = clock): TaskLeader {
  const files = new FileLeases(dir, clock);
  const leases: Leases = {
    acquire(request) {
      acquired += 1;
      return files.acquire(request);
    },
  };
  return new TaskLeader({ leases, clock: ownClock, name: "sweeps", owner });
}

test("one of two gateways leads, and asks the store only every ten seconds", async () => {
  const [a, b] = [createLeader("gateway_a"), createLeader("gateway_b")];
  for (let second = 0; second < 9; second++) {
    expect([await a.isLeader(), await b.isLeader()]).toEqual([true, false]);
    clock.advance(1_000);
  }
  expect(acquired).toBe(2);
  for (let round = 0; round < 10; round++) {
    clock.advance(CHECK_MS);
    expect([await a.isLeader(), await b.isLeader()]).toEqual([true, false]);
  }
  await a.resign();
});

test("another gateway leads when the leader has resigned", async () => {
  const [a, b] = [createLeader("gateway_a"), createLeader("gateway_b")];
  expect([await a.isLeader(), await b.isLeader()]).toEqual([true, false]);
  await a.resign();
  expect(await a.isLeader()).toBe(false);
  clock.advance(CHECK_MS);
  expect([await b.isLeader(), await a.isLeader()]).toEqual([true, false]);
  await b.resign();
});

test("a leader that was paused past the end of its lease does not lead when it wakes up", async () => {
  const [a, b] = [createLeader("gateway_a"), createLeader("gateway_b")];
  expect(await a.isLeader()).toBe(true);
  clock.advance(LEASE_MS);
  expect(await b.isLeader()).toBe(true);
  expect(await a.isLeader()).toBe(false);
  await b.resign();
});

test("a leader whose clock is set back asks the store at once", async () => {
  const own = createTestClock();
  const a = createLeader("gateway_a", { ...own, now: () => time });
  let time = 1_000_000;
  expect(await a.isLeader()).toBe(true);
  await a.resign();
  time = 0;
  expect(await a.isLeader()).toBe(true);
  expect(acquired).toBe(2);
  await a.resign();
});
