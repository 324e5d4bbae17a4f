import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listDamagedLines } from "../../src/storage/journal/damaged-lines.ts";
import { openFileJournal } from "../../src/storage/journal/file-journal.ts";
import { ADMIN_KEY } from "../support/gateway/gateway.ts";
import { postChatTo } from "../support/gateway/gateway-process.ts";
import { RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { makeVendorSite } from "./vendor-site.ts";

let dir: string;

beforeEach(() => {
  dir = makeTempFolder("gateway-damage-");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const LOST = "gen_01hf7yat00abcdefghjkmnpqrs";

/** Writes a journal as an earlier process would leave it, and returns its file. */
function leave(entries: readonly string[]): string {
  const journal = openFileJournal(dir);
  for (const entry of entries) journal.append(entry);
  journal.close();
  return join(dir, readdirSync(dir).find((name) => name.endsWith(".log")) as string);
}

/** Overwrites a byte of a text in a file with one that is not UTF-8. */
function damage(file: string, text: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.indexOf(text) - 1] = 0xff;
  writeFileSync(file, bytes);
}

function recover(): readonly string[] {
  const journal = openFileJournal(dir);
  const entries = [...journal.recover()].map(({ entry }) => entry);
  journal.close();
  return entries;
}

describe("a damaged line in the middle of the journal", () => {
  test("the damaged line is stored unchanged in a private file, and the other lines are recovered", () => {
    const file = leave(["first", `{"id":"${LOST}"}`, "third"]);
    damage(file, LOST);
    const line = readFileSync(file).toString("latin1").split("\n")[1] as string;
    expect(recover()).toEqual(["first", "third"]);
    const [kept, ...more] = listDamagedLines(dir);
    expect(more).toEqual([]);
    expect(kept).toEqual({ file: expect.stringMatching(/\.damaged$/), lines: 1, generations: [LOST] });
    expect(readFileSync(kept!.file, "latin1")).toBe(`${line}\n`);
    expect(statSync(kept!.file).mode & 0o777).toBe(0o600);
  });

  test("the damaged line is stored once, even if several starts read it", () => {
    damage(leave(["first", `{"id":"${LOST}"}`]), LOST);
    for (let start = 0; start < 3; start++) recover();
    expect(listDamagedLines(dir)).toHaveLength(1);
  });

  test("the damaged line survives the release of its journal file, and another damaged file with the same name", () => {
    for (const id of [LOST, LOST.replace("abc", "xyz")]) {
      damage(leave([`{"id":"${id}"}`]), id);
      const journal = openFileJournal(dir);
      expect([...journal.recover()]).toEqual([]);
      journal.release(Number.POSITIVE_INFINITY);
      journal.close();
      rmSync(join(dir, readdirSync(dir).find((name) => name.endsWith(".log")) ?? "none"), { force: true });
    }
    expect(listDamagedLines(dir)).toHaveLength(2);
  });

  test("a damaged line among the entries of other versions is stored too", () => {
    const journal = openFileJournal(dir);
    journal.skipped(["for later", `{"id":"${LOST}"}`]);
    journal.close();
    damage(join(dir, "aside.log"), LOST);
    expect(recover()).toEqual(["for later"]);
    expect(listDamagedLines(dir)).toMatchObject([{ lines: 1, generations: [LOST] }]);
  });

  test("an incomplete last line is not a damaged line, because no client has seen its effect", () => {
    const file = leave(["first", "second"]);
    writeFileSync(file, readFileSync(file).subarray(0, -4));
    expect(recover()).toEqual(["first"]);
    expect(listDamagedLines(dir)).toEqual([]);
  });

  test.skipIf(!RUNS_SLOW_TESTS)(
    "the log of each start and the ledger check name the damaged line, and all other records are settled",
    async () => {
      const place = makeVendorSite(`admin_key: ${ADMIN_KEY}`);
      const first = await place.start();
      const messages = [{ role: "user", content: "Hello!" }];
      await (await postChatTo(first, { model: "acme/model", messages })).text();
      await first.kill();
      const [file] = place.site.journalFiles();
      const rest = file === undefined ? "" : readFileSync(file, "latin1");
      writeFileSync(
        join(place.site.dataDir, "journal", "00000000.log"),
        `0badc0de {"id":"${LOST}"}\n${rest}`,
      );
      for (let start = 0; start < 2; start++) {
        const next = await place.start(first.key);
        const line = next
          .printed()
          .split("\n")
          .find((text) => text.includes("were damaged")) as string;
        expect(JSON.parse(line)).toMatchObject({ level: "error", lines: 1, generations: [LOST] });
        expect((await fetch(`${next.url}/readyz`)).status).toBe(200);
        expect((await postChatTo(next, { model: "acme/model", messages })).status).toBe(200);
        const headers = { authorization: `Bearer ${ADMIN_KEY}` };
        const check = await fetch(`${next.url}/api/admin/ledger/check`, { headers });
        expect(await check.json()).toMatchObject({
          data: [{ of: "damaged", reason: expect.stringContaining(LOST) }],
        });
        await next.terminate();
      }
      await place.clear();
    },
  );
});
