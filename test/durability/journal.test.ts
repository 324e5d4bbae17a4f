import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import type { Journal } from "../../src/core/usage/journal/journal.ts";
import { USAGE_FRAME } from "../../src/core/usage/journal/journal-entry.ts";
import { Recorder } from "../../src/core/usage/journal/recorder.ts";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import type { UsageStore } from "../../src/core/usage/reports/usage-store.ts";
import { openFileJournal } from "../../src/storage/journal/file-journal.ts";
import { frameEntry } from "../support/clients/frame-entry.ts";
import { CAN_FILL_DISK, fillDiskOf } from "../support/databases/full-disk.ts";
import { createMemoryJournal } from "../support/databases/memory-journal.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";

let dir: string;

beforeEach(() => {
  dir = makeTempFolder("gateway-journal-");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("entries of any text and frame are recovered, with checksums of all their bytes", () => {
  const text = fc.string({ unit: "binary", maxLength: 300 }).map((any) => JSON.stringify(any));
  const frame = fc.constantFrom(undefined, USAGE_FRAME, { start: "é[", end: "🙂]" }, { start: "", end: "" });
  const files = new Bun.Glob("*.log");
  fc.assert(
    fc.property(fc.array(fc.tuple(text, frame), { maxLength: 20 }), (parts) => {
      const entries = parts.map(([text, frame]) => frameEntry(text, frame));
      const journal = openFileJournal(dir);
      const positions = parts.map(([text, frame]) => journal.append(text, frame));
      expect(positions.map((at) => journal.read(at))).toEqual(entries);
      journal.close();
      const next = openFileJournal(dir);
      expect([...next.recover()].map(({ entry }) => entry)).toEqual(entries);
      const lines = [...files.scanSync(dir)].flatMap((name) =>
        readFileSync(join(dir, name), "utf8").split("\n").slice(0, -1),
      );
      const written = entries.map((entry) => `${crc32(entry).toString(16).padStart(8, "0")} ${entry}`);
      expect(lines).toEqual(written);
      next.release(next.mark());
      next.close();
    }),
    { numRuns: 50 },
  );
});

describe("a journal on a full disk", () => {
  test.skipIf(!CAN_FILL_DISK)(
    "flush throws while the disk is full, and everything is written once there is space",
    async () => {
      const journal = openFileJournal(dir);
      journal.append("first");
      journal.flush();
      const file = join(dir, readdirSync(dir)[0] as string);
      const freeDisk = fillDiskOf(file);
      journal.append("second");
      await turnEventLoop();
      expect(() => journal.flush()).toThrow("ENOSPC");
      journal.append("third");
      freeDisk();
      journal.flush();
      journal.close();
      const next = openFileJournal(dir);
      expect([...next.recover()].map(({ entry }) => entry)).toEqual(["first", "second", "third"]);
      next.close();
    },
  );

  test("a closed journal writes to no other file with the same file descriptor", () => {
    const journal = openFileJournal(dir);
    journal.close();
    const other = join(dir, "other");
    const numbers = Array.from({ length: 4 }, () => openSync(other, "w"));
    journal.append("late");
    expect(() => journal.flush()).toThrow("closed");
    for (const number of numbers) closeSync(number);
    expect(readFileSync(other, "utf8")).toBe("");
  });

  test("records reach the store once the journal can be written again", async () => {
    const clock = createTestClock();
    const saved: string[] = [];
    let isFull = true;
    const working = createMemoryJournal();
    const journal: Journal = {
      ...working,
      mark() {
        if (isFull) throw new Error("ENOSPC");
        return working.mark();
      },
    };
    const store: UsageStore = {
      saveUsage: async (entries) => void saved.push(...entries.map(({ record }) => record.id)),
      findUsage: async () => null,
      findOpenUsage: async () => [],
      findAbandonedUsage: async () => [],
      quarantineUsage: async () => {},
      listQuarantined: async () => [],
      findAnonymousSince: async () => [],
      findFreeSince: async () => [],
    };
    const problems: unknown[] = [];
    const onStoreError = (error: unknown) => problems.push(error);
    const recorder = new Recorder({ journal, store, clock, maxJournalBytes: 1_000_000, onStoreError });
    recorder.write({ id: "gen_1" } as UsageRecord);
    clock.advance(100);
    await turnEventLoop();
    expect(problems).toHaveLength(1);
    expect(recorder.isHealthy()).toBe(false);
    isFull = false;
    clock.advance(1_000);
    await turnEventLoop();
    expect(saved).toEqual(["gen_1"]);
    expect(recorder.isHealthy()).toBe(true);
  });
});
