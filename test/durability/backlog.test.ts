import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Journal } from "../../src/core/usage/journal/journal.ts";
import { Recorder } from "../../src/core/usage/journal/recorder.ts";
import { recoverUsage } from "../../src/core/usage/journal/recover-usage.ts";
import type { RecordEntry } from "../../src/core/usage/records/records.ts";
import { listDamagedLines } from "../../src/storage/journal/damaged-lines.ts";
import { openFileJournal } from "../../src/storage/journal/file-journal.ts";
import { openUsageOf, usageOf } from "../storage/contracts/samples.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";

let dir: string;
let journal: Journal;
let clock: TestClock;

beforeEach(() => {
  dir = makeTempFolder("gateway-backlog-");
  journal = openFileJournal(dir);
  clock = createTestClock();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A store that keeps the last version of each record, and can be away or silent. */
function createStore() {
  const saved = new Map<string, string>();
  const groups: number[] = [];
  const store = {
    saved,
    groups,
    state: "there" as "there" | "away" | "silent",
    async saveUsage(entries: readonly RecordEntry[]) {
      groups.push(entries.length);
      if (store.state === "away") throw new Error("the store is away");
      if (store.state === "silent") await new Promise(() => {});
      for (const { record, json } of entries) if (!isEnded(saved.get(record.id))) saved.set(record.id, json);
    },
    findUsage: async () => null,
    findOpenUsage: async () => [],
    findAbandonedUsage: async () => [],
    quarantineUsage: async () => {},
    listQuarantined: async () => [],
    findAnonymousSince: async () => [],
    findFreeSince: async () => [],
  };
  return store;
}

function isEnded(json: string | undefined): boolean {
  return json !== undefined && JSON.parse(json).outcome !== "open";
}

function createRecorder(store: ReturnType<typeof createStore>): Recorder {
  return new Recorder({ journal, store, clock, maxJournalBytes: 1_000_000, onStoreError: () => {} });
}

/** The size at which the journal begins the next file. */
const SEGMENT_BYTES = 1024 * 1024;
/** More than are kept in memory. */
const MANY = 5_000;
const PAD = "x".repeat(2_000);
const recordOf = (index: number, outcome: "open" | "completed" = "completed") =>
  (outcome === "open" ? openUsageOf : usageOf)(`gen_${index}`, { requestedModel: `${index} ${PAD}` }).record;

function writeMany(recorder: Recorder): void {
  for (let i = 0; i < MANY; i++) recorder.write(recordOf(i, "open"));
  recorder.flush();
  for (let i = 0; i < MANY; i++) recorder.write(recordOf(i));
  recorder.flush();
}

describe("a long backlog of records", () => {
  test("each record is found while it waits, and its last version is saved once the store is back", async () => {
    const store = createStore();
    store.state = "away";
    const recorder = createRecorder(store);
    writeMany(recorder);
    expect(recorder.countWaiting()).toBe(MANY);
    for (const index of [0, 1_999, 2_000, MANY - 1])
      expect(await recorder.find(`gen_${index}`)).toMatchObject({ id: `gen_${index}`, outcome: "completed" });
    expect(recorder.drain()).rejects.toThrow("the store is away");
    store.state = "there";
    await recorder.drain();
    expect(recorder.countWaiting()).toBe(0);
    expect(store.saved.size).toBe(MANY);
    for (const json of store.saved.values()) expect(JSON.parse(json).outcome).toBe("completed");
  });

  test("it is saved in groups of at most 250, and the journal's files are released on the way", async () => {
    const store = createStore();
    store.state = "away";
    const recorder = createRecorder(store);
    writeMany(recorder);
    const before = journal.size();
    expect(before).toBeGreaterThan(2 * MANY * PAD.length);
    expect(recorder.isFull()).toBe(true);
    const sizes: number[] = [];
    const saveUsage = store.saveUsage;
    store.state = "there";
    store.saveUsage = async (entries) => {
      sizes.push(journal.size());
      await saveUsage(entries);
    };
    await recorder.drain();
    expect(Math.max(...store.groups)).toBeLessThanOrEqual(250);
    expect(sizes.at(-1)).toBeLessThan(before - SEGMENT_BYTES);
    expect(journal.size()).toBeLessThan(before - SEGMENT_BYTES);
    expect(recorder.isFull()).toBe(journal.size() >= 1_000_000);
  });

  test("while the store is away, one group is tried once a second, however many requests come", async () => {
    const store = createStore();
    store.state = "away";
    const recorder = createRecorder(store);
    writeMany(recorder);
    clock.advance(100);
    await turnEventLoop();
    const { length } = store.groups;
    for (let i = 0; i < 30; i++) {
      recorder.write(recordOf(MANY + i));
      clock.advance(100);
      await turnEventLoop(3);
    }
    expect(store.groups.length - length).toBe(3);
  });

  test("groups are saved one after the other while a whole one waits, and no timer is left when none does", async () => {
    const store = createStore();
    const recorder = createRecorder(store);
    for (let i = 0; i < 500; i++) recorder.write(recordOf(i));
    clock.advance(100);
    await turnEventLoop();
    expect(store.groups).toEqual([250, 250]);
    expect(clock.pendingTimers).toBe(0);
  });

  test("a store that does not answer counts as unavailable after twenty seconds, and is tried again", async () => {
    const store = createStore();
    store.state = "silent";
    const recorder = createRecorder(store);
    recorder.write(recordOf(1));
    clock.advance(100);
    await turnEventLoop();
    expect(recorder.isHealthy()).toBe(true);
    clock.advance(20_000);
    await turnEventLoop();
    expect(recorder.isHealthy()).toBe(false);
    store.state = "there";
    clock.advance(1_000);
    await turnEventLoop();
    expect([...store.saved.keys()]).toEqual(["gen_1"]);
    expect(recorder.isHealthy()).toBe(true);
  });

  test("a version that is written while an earlier one is being saved is saved after it", async () => {
    const store = createStore();
    const recorder = createRecorder(store);
    const gate = Promise.withResolvers<void>();
    const saveUsage = store.saveUsage;
    store.saveUsage = async (entries) => {
      await gate.promise;
      await saveUsage(entries);
    };
    recorder.write(recordOf(1, "open"));
    clock.advance(100);
    await turnEventLoop();
    recorder.write(recordOf(1));
    recorder.flush();
    gate.resolve();
    await turnEventLoop();
    expect(recorder.countWaiting()).toBe(1);
    await recorder.drain();
    expect(JSON.parse(store.saved.get("gen_1") as string).outcome).toBe("completed");
    expect(recorder.countWaiting()).toBe(0);
  });

  test("the next process saves the last version of each record in groups, and the journal is empty afterwards", async () => {
    const store = createStore();
    store.state = "away";
    writeMany(createRecorder(store));
    journal.close();
    const next = openFileJournal(dir);
    store.state = "there";
    store.groups.length = 0;
    const recovery = await recoverUsage({ journal: next, store, gatewayId: "gateway_a", now: 1 });
    expect(recovery.brought).toBe(MANY);
    expect(Math.max(...store.groups)).toBeLessThanOrEqual(500);
    expect(store.saved.size).toBe(MANY);
    for (const json of store.saved.values()) expect(JSON.parse(json).outcome).toBe("completed");
    expect(next.size()).toBe(0);
    next.close();
  });
});

describe("an entry of the journal", () => {
  test("can be read before and after it is in the file, and in later files", () => {
    const texts = Array.from({ length: 20 }, (_, index) => `${index} ${"ü".repeat(500_000)}`);
    const positions = texts.map((text) => {
      const at = journal.append(text);
      expect(journal.read(at)).toBe(text);
      journal.flush();
      return at;
    });
    expect(readdirSync(dir).length).toBeGreaterThan(2);
    expect(positions.map((at) => journal.read(at))).toEqual(texts);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    journal.release(positions[10] as number);
    expect(positions.slice(10).map((at) => journal.read(at))).toEqual(texts.slice(10));
    journal.close();
  });

  test("that was damaged while the process runs is moved to another file and does not stop the others", async () => {
    const store = createStore();
    store.state = "away";
    const recorder = createRecorder(store);
    writeMany(recorder);
    const damaged = `gen_${MANY - 1}`;
    for (const name of readdirSync(dir)) {
      const file = join(dir, name);
      const bytes = readFileSync(file);
      const at = bytes.lastIndexOf(`"id":"${damaged}"`);
      if (at < 0) continue;
      bytes[at + 2] = 0x78;
      writeFileSync(file, bytes);
    }
    store.state = "there";
    await recorder.drain();
    expect(store.saved.size).toBe(MANY - 1);
    expect(listDamagedLines(dir).length).toBeGreaterThan(0);
  });
});
