import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { Journal } from "../../src/core/usage/journal/journal.ts";
import { listDamagedLines } from "../../src/storage/journal/damaged-lines.ts";
import { openFileJournal } from "../../src/storage/journal/file-journal.ts";
import { segmentOf, segmentPath } from "../../src/storage/journal/segments.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

/** Four of them fill a file of the journal. */
const LARGE_CHARS = 300_000;

let dir: string;
let count: number;

beforeEach(() => {
  dir = makeTempFolder("gateway-segments-");
  count = 0;
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Appends an entry that no other one equals, and returns it with its position. */
function append(journal: Journal, chars: number) {
  const entry = JSON.stringify(`${count++} ${"y".repeat(chars)}`);
  const at = journal.append(entry);
  journal.flush();
  return { at, entry };
}

/** Fills a number of files and releases them. Returns their inodes. */
function fillAndRelease(journal: Journal, files: number): ReadonlySet<number> {
  for (let i = 0; i < 4 * files; i++) append(journal, LARGE_CHARS);
  const inodes = listSegments().map(({ inode }) => inode);
  journal.release(journal.mark());
  return new Set(inodes);
}

function listSegments() {
  const names = readdirSync(dir).filter((name) => name.endsWith(".log"));
  return names.sort().map((name) => ({ file: join(dir, name), inode: statSync(join(dir, name)).ino }));
}

/** Returns the entries that the next process finds, as after `kill -9`: nothing was closed. */
function recover(): readonly string[] {
  const next = openFileJournal(dir);
  const entries = [...next.recover()].map(({ entry }) => entry);
  next.close();
  return entries;
}

describe("a journal whose files are used again", () => {
  test("new entries are written to the files of released ones, which are not found again", () => {
    const journal = openFileJournal(dir);
    const released = fillAndRelease(journal, 3);
    const kept = Array.from({ length: 9 }, (_, index) => append(journal, index === 8 ? 10 : LARGE_CHARS));
    const last = listSegments().at(-1);
    expect(released).toContain(last?.inode as number);
    expect(kept.map(({ at }) => journal.read(at))).toEqual(kept.map(({ entry }) => entry));
    expect(recover()).toEqual(kept.map(({ entry }) => entry));
    expect(listDamagedLines(dir)).toEqual([]);
    journal.close();
  });

  test("a last line that was not written whole is not a damaged line, and one before it is", () => {
    const journal = openFileJournal(dir);
    fillAndRelease(journal, 3);
    const kept = Array.from({ length: 7 }, (_, index) => append(journal, index < 4 ? LARGE_CHARS : 100));
    const { file } = listSegments().at(-1) as { file: string };
    const bytes = readFileSync(file);
    const [damaged, whole, cut] = kept.slice(4) as [Entry, Entry, Entry];
    bytes[bytes.indexOf(damaged.entry) + 3] = 0xff;
    bytes.fill(0, bytes.indexOf(cut.entry) + 20);
    writeFileSync(file, bytes);
    expect(recover()).toEqual([...kept.slice(0, 4), whole].map(({ entry }) => entry));
    expect(listDamagedLines(dir)).toMatchObject([{ lines: 1 }]);
    journal.close();
  });

  test("at any moment, the next process finds exactly the entries that were not in released files", () => {
    const step = fc.record({
      chars: fc.constantFrom(10, 50_000, 400_000),
      times: fc.integer({ min: 1, max: 6 }),
      keeps: fc.integer({ min: 0, max: 8 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const journal = openFileJournal(dir);
        let waiting: Entry[] = [];
        for (const { chars, times, keeps } of steps) {
          for (let i = 0; i < times; i++) waiting.push(append(journal, chars));
          const unsaved = waiting.slice(Math.max(0, waiting.length - keeps));
          journal.release(unsaved[0]?.at ?? journal.mark());
          // Only whole files are released.
          waiting = waiting.filter(({ at }) => existsSync(segmentPath(dir, segmentOf(at))));
          expect(waiting.slice(waiting.length - unsaved.length)).toEqual(unsaved);
        }
        expect(recover()).toEqual(waiting.map(({ entry }) => entry));
        expect(listDamagedLines(dir)).toEqual([]);
        journal.close();
        for (const name of readdirSync(dir)) rmSync(join(dir, name));
      }),
      { numRuns: 40 },
    );
  });

  test("a journal that is closed leaves no file without entries but the last one", () => {
    const journal = openFileJournal(dir);
    fillAndRelease(journal, 6);
    const { entry } = append(journal, 10);
    journal.close();
    expect(readdirSync(dir)).toHaveLength(1);
    expect(recover()).toEqual([entry]);
  });

  test("what a process that died had for use again is removed by the next one", () => {
    fillAndRelease(openFileJournal(dir), 6);
    expect(readdirSync(dir).some((name) => !name.endsWith(".log"))).toBe(true);
    openFileJournal(dir);
    expect(readdirSync(dir).filter((name) => !name.endsWith(".log"))).toEqual([]);
  });
});

type Entry = ReturnType<typeof append>;
