import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Recorder } from "../../src/core/usage/journal/recorder.ts";
import type { RecordEntry, UsageRecord } from "../../src/core/usage/records/records.ts";
import { openFileJournal } from "../../src/storage/journal/file-journal.ts";
import { fetchRecord } from "../faults/two-vendors.ts";
import { queryTables } from "../support/databases/test-tables.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { postChat, startTestGateway } from "../support/gateway/gateway.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";

let dir: string;

beforeEach(() => {
  dir = makeTempFolder("gateway-entries-");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function recoverFrom(journalDir: string): readonly string[] {
  const journal = openFileJournal(journalDir);
  const entries = [...journal.recover()].map(({ entry }) => entry);
  journal.close();
  return entries;
}

test("a record is in the journal with its kind and version, encoded once for journal and store", async () => {
  const clock = createTestClock();
  const saved: RecordEntry[] = [];
  const journal = openFileJournal(dir);
  const store = {
    saveUsage: async (entries: readonly RecordEntry[]) => void saved.push(...entries),
    findUsage: async () => null,
    findOpenUsage: async () => [],
    findAbandonedUsage: async () => [],
    quarantineUsage: async () => {},
    listQuarantined: async () => [],
    findAnonymousSince: async () => [],
    findFreeSince: async () => [],
  };
  let prints = 0;
  const record = {
    id: "gen_1",
    toJSON() {
      prints += 1;
      return { id: "gen_1" };
    },
  };
  const recorder = new Recorder({
    journal,
    store,
    clock,
    maxJournalBytes: 1_000_000,
    onStoreError: () => {},
  });
  recorder.write(record as unknown as UsageRecord);
  clock.advance(100);
  await turnEventLoop();
  journal.close();
  expect(recoverFrom(dir)).toEqual(['{"v":1,"kind":"usage","usage":{"id":"gen_1"}}']);
  expect(saved.map(({ json }) => json)).toEqual(['{"id":"gen_1"}']);
  expect(prints).toBe(1);
});

describe("journal entries that this version cannot read", () => {
  const UNREADABLE = [
    '{"v":1,"kind":"ledger","entry":{"id":"led_1"}}',
    '{"v":2,"kind":"usage","usage":{"id":"gen_later"}}',
    '{"v":1,"kind":"usage","usage":7}',
    '{"id":"gen_bare"}',
    "[]",
    "no JSON",
  ];
  const KINDS = ["ledger v1", "usage v2", "usage v1", "? v?", "not an object"];

  test("every start names the entries in the log and keeps them, and settles all other records", async () => {
    const first = await startTestGateway({ dataDir: dir });
    const response = await postChat(first, {
      model: "sandbox/echo",
      messages: [{ role: "user", content: "Hello!" }],
    });
    const id = response.headers.get("x-gateway-generation-id") as string;
    await response.text();
    await first.stop({ keepData: true });
    // The state after a crash: a record that is not in the database, and lines of a later version.
    const [saved] = await queryTables<{ record: string }>(dir, "SELECT record FROM generations");
    await queryTables(dir, "DELETE FROM generations");
    const journal = openFileJournal(join(dir, "journal"));
    for (const entry of [...UNREADABLE, `{"v":1,"kind":"usage","usage":${saved?.record}}`])
      journal.append(entry);
    journal.close();
    for (let start = 0; start < 3; start++) {
      const gateway = await startTestGateway({ dataDir: dir, key: first.key });
      const warning = gateway.log.find(({ event }) => event.includes("cannot read"));
      expect(warning).toMatchObject({ level: "error", fields: { entries: UNREADABLE.length, kinds: KINDS } });
      expect(await fetchRecord(gateway, id)).toMatchObject({ id, outcome: "completed" });
      await gateway.stop({ keepData: true });
      expect(recoverFrom(join(dir, "journal"))).toEqual(UNREADABLE);
    }
  });

  test("the entries are kept once if a crash left them in the journal and among the skipped entries", async () => {
    const journal = openFileJournal(join(dir, "journal"));
    journal.append(UNREADABLE[0] as string);
    journal.skipped([UNREADABLE[0] as string]);
    journal.close();
    await (await startTestGateway({ dataDir: dir })).stop({ keepData: true });
    expect(recoverFrom(join(dir, "journal"))).toEqual([UNREADABLE[0] as string]);
  });

  test("no entries are kept after the list of skipped entries was emptied", () => {
    const journal = openFileJournal(dir);
    journal.skipped(["unreadable"]);
    journal.skipped([]);
    journal.close();
    expect(recoverFrom(dir)).toEqual([]);
  });
});
