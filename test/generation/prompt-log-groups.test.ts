import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { PromptLog } from "../../src/core/extensions/prompt-log/prompt-log.ts";
import type { PromptLogEntry } from "../../src/core/extensions/prompt-log/prompt-log-store.ts";
import type { AdmittedGeneration } from "../../src/core/generation/call/extension.ts";
import { createVault, readMasterKey } from "../../src/core/provider-keys/vault.ts";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import { createTestClock } from "../support/test-clock.ts";

/** A prompt log whose store keeps the groups that it is given, and fails while `isDown`. */
function createLog() {
  const clock = createTestClock();
  const master = readMasterKey("ab".repeat(32)) as NonNullable<ReturnType<typeof readMasterKey>>;
  const state = { groups: [] as string[][], reads: 0, isDown: false, dropped: [] as unknown[] };
  const random = { bytes: (count: number) => randomBytes(count) };
  const newest = () => {
    state.reads += 1;
    return master;
  };
  const vault = createVault({ list: () => [master], reload() {}, newest }, random);
  const store = {
    async addEntries(entries: readonly PromptLogEntry[]) {
      if (state.isDown) throw new Error("down");
      state.groups.push(entries.map(({ id }) => id));
    },
  };
  const warn = (_event: string, fields: Record<string, unknown> = {}) =>
    void state.dropped.push(fields["generation_id"]);
  type Deps = ConstructorParameters<typeof PromptLog>[0];
  const log = new PromptLog({ store, vault, random, clock, log: { warn } } as unknown as Deps);
  return { clock, log, state };
}

/** Runs a generation of a key with a prompt log, from its gate to its end. */
async function generate(log: PromptLog, id: string, body = "{}"): Promise<void> {
  const principal = { kind: "key", account: { id: "acc" }, key: { id: "key", promptLog: 60 } };
  const call = { principal, takeMemory: () => true, request: { isText: { body: true, answer: true } } };
  const points = log.attach({ id, call, zeroRetention: false } as unknown as AdmittedGeneration);
  await points?.beforeRoute?.({
    readBody: () => Buffer.from(body),
    readAppliedBody: () => Buffer.from(body),
  });
  points?.onSettled?.({ createdAt: 1, status: 200 } as UsageRecord, null);
}

describe("entries of the prompt log", () => {
  test("that are made within 50 ms are stored together, under one reading of the master key", async () => {
    const { clock, log, state } = createLog();
    await generate(log, "a");
    clock.advance(49);
    await generate(log, "b");
    expect(state.groups).toEqual([]);
    clock.advance(1);
    expect(state).toMatchObject({ groups: [["a", "b"]], reads: 1 });
    expect(clock.pendingTimers).toBe(0);
  });

  test("are stored at once when there are sixteen of them", async () => {
    const { log, state } = createLog();
    for (let at = 0; at < 17; at++) await generate(log, `g${at}`);
    expect(state.groups.map((group) => group.length)).toEqual([16]);
  });

  test("are stored at once when their bodies have a million characters", async () => {
    const { log, state } = createLog();
    await generate(log, "a", "x".repeat(600_000));
    await generate(log, "b", "x".repeat(600_000));
    expect(state.groups).toEqual([["a", "b"]]);
  });

  test("are stored by a drain, as at a shutdown and before one is read", async () => {
    const { clock, log, state } = createLog();
    await generate(log, "a");
    clock.advance(40);
    await log.drain();
    // Nothing is left for the next one, and the store is not called for it.
    await log.drain();
    expect(state.groups).toEqual([["a"]]);
    // The time of the next group begins with its first entry.
    await generate(log, "b");
    clock.advance(49);
    expect(state.groups).toEqual([["a"]]);
    clock.advance(1);
    expect(state.groups).toEqual([["a"], ["b"]]);
  });

  test("of a group that the store rejects are each named in the log", async () => {
    const { log, state } = createLog();
    state.isDown = true;
    await generate(log, "a");
    await generate(log, "b");
    await log.drain();
    expect(state.dropped).toEqual(["a", "b"]);
    state.isDown = false;
    await generate(log, "c");
    await log.drain();
    expect(state.groups).toEqual([["c"]]);
  });
});
