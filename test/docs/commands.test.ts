import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findDifference } from "./compare-output.ts";
import { type CommandBlock, parsePage } from "./parse-page.ts";
import { runPage } from "./run-page.ts";

const ROOT = join(import.meta.dir, "../..");

/** The commands of pages take minutes: `npm run suite -- docs` runs them. */
const IS_WANTED = process.env["GATEWAY_TEST_DOCS"] === "true";
/** The longest time for a page. Milliseconds. */
const PAGE_MS = 300_000;

const inFolder = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`)
    .sort();

const PAGES = [
  "README.md",
  "docs/budgets.md",
  ...inFolder("docs/operations"),
  ...inFolder("docs/migrate-from"),
  ...inFolder("docs/providers"),
];
const blocksOf = (page: string): readonly CommandBlock[] => parsePage(readFileSync(join(ROOT, page), "utf8"));
const withCommands = PAGES.filter((page) => blocksOf(page).some(({ notRun }) => notRun === null));

describe("the commands of the documents", () => {
  test("most command blocks of the manual are run, and each other one says why it is not", () => {
    const blocks = PAGES.flatMap(blocksOf);
    const notRun = blocks.filter((block) => block.notRun !== null);
    expect(notRun.filter((block) => (block.notRun as string).length < 10)).toEqual([]);
    expect(notRun.length).toBeLessThan(blocks.length / 2);
  });

  test("no block of the manual escapes the parser by its indentation or its language", () => {
    const escaped = PAGES.flatMap((page) =>
      [...readFileSync(join(ROOT, page), "utf8").matchAll(/^([ \t]+```sh|```(bash|shell|console)).*$/gm)].map(
        ([line]) => `${page}: ${line}`,
      ),
    );
    expect(escaped).toEqual([]);
  });

  test.each(PAGES)("the shell can parse every command block of %s", (page) => {
    const wrong = blocksOf(page).flatMap(({ line, commands }) => {
      const { exitCode, stderr } = Bun.spawnSync(["bash", "-n"], { stdin: Buffer.from(commands) });
      return exitCode === 0 ? [] : [[line, stderr.toString()]];
    });
    expect(wrong).toEqual([]);
  });

  test.skipIf(!IS_WANTED).each(withCommands)(
    "the commands of %s succeed in a new folder, and print what the page shows",
    async (page) => {
      expect(await runPage(blocksOf(page))).toBeNull();
    },
    PAGE_MS,
  );
});

describe("the comparison of a shown output", () => {
  test("ids, times and durations may differ, and everything else is compared", () => {
    const shown = "key_01m7yc86y207cv966bg4p1dhq4  10 ms  2026-11-23\n";
    expect(findDifference(shown, "key_01m7yc86y207cv966bg4p1dhq5 7 ms 2027-01-01\n")).toBeNull();
    expect(findDifference(shown, "key_01m7yc86y207cv966bg4p1dhq5 7 ms soon\n")).toBe("key_X N ms DAY");
  });

  test("the ellipsis stands for any text of a line, or alone for any lines", () => {
    expect(findDifference("a … c\n…\nend\n", "a b c\nx\ny\nend\n")).toBeNull();
    expect(findDifference("a\n…\nend\n", "a\nx\n")).toBe("end");
    expect(findDifference("a\n", "a\nb\n")).toBe("(the output goes on) b");
  });

  test("a block has its hidden preparation, its reason not to run, and its output", () => {
    const page =
      "<!-- before: x=1 -->\n```sh\necho $x\n```\n\n```\n1\n```\n\n<!-- not run: needs root -->\n```sh\nreboot\n```\n";
    expect(parsePage(page)).toEqual([
      { line: 1, commands: "echo $x\n", preparation: "x=1", notRun: null, output: "1\n" },
      { line: 10, commands: "reboot\n", preparation: "", notRun: "needs root", output: null },
    ]);
  });
});
