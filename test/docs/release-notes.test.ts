import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { findChangelogProblems, parseChangelog } from "../../scripts/release/release-notes.ts";

const ROOT = join(import.meta.dir, "..", "..");
const TEXT =
  "# Changelog\n\n## Unreleased\n\n## 0.2.0\n\nAdded:\n\n- One.\n  More of it.\n- Two.\n\n## 0.1.0\n\n- First.\n";

function runScript(...args: readonly string[]) {
  const command = [process.execPath, join(ROOT, "scripts/release/release-notes.ts"), ...args];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

describe("the release notes", () => {
  test("each section of the changelog is a version with its changes", () => {
    expect(parseChangelog(TEXT)).toEqual([
      { version: "Unreleased", line: 3, notes: "" },
      { version: "0.2.0", line: 5, notes: "Added:\n\n- One.\n  More of it.\n- Two." },
      { version: "0.1.0", line: 13, notes: "- First." },
    ]);
    expect(findChangelogProblems(TEXT, "0.2.0")).toEqual([]);
  });

  test.each([
    ["another first line", TEXT.replace("# Changelog", "# Changes"), 'the first line is not "# Changelog"'],
    ["a name that is no version", TEXT.replace("0.2.0", "0.2"), "line 5: 0.2 is no version"],
    [
      "versions in another order",
      TEXT.replace("0.2.0", "0.0.9"),
      "line 5: 0.0.9 is not newer than 0.1.0, which follows it",
    ],
    [
      "a version twice",
      TEXT.replace("0.2.0", "0.1.0"),
      "line 5: 0.1.0 is not newer than 0.1.0, which follows it",
    ],
    ["a version without changes", TEXT.replace("- First.\n", ""), "line 13: 0.1.0 has no changes"],
    [
      "a paragraph that is no list",
      TEXT.replace("- First.", "It began."),
      "line 13: 0.1.0 has neither a list nor a title that ends with a colon: It began.",
    ],
    [
      "a line that continues nothing",
      TEXT.replace("  More", "More"),
      "line 5: 0.2.0 has neither a list nor a title that ends with a colon: - One.",
    ],
  ])("a changelog with %s is rejected", (_, text, problem) => {
    expect(findChangelogProblems(text, "0.1.0")).toContain(problem);
  });

  test("a version of the package without a section is rejected", () => {
    expect(findChangelogProblems(TEXT, "0.3.0")).toEqual(["version 0.3.0 of package.json has no section"]);
  });

  test("the script prints the section of a version, with or without v, or the unreleased changes", () => {
    const sections = parseChangelog(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"));
    const notesOf = (version: string) => sections.find((section) => section.version === version)?.notes;
    expect(runScript()).toEqual({ exitCode: 0, stdout: `${notesOf("Unreleased")}\n`, stderr: "" });
    for (const name of [packageJson.version, `v${packageJson.version}`])
      expect(runScript(name)).toEqual({
        exitCode: 0,
        stdout: `${notesOf(packageJson.version)}\n`,
        stderr: "",
      });
    expect(runScript("--check")).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  test("the script lists the versions if it has not the wanted one", () => {
    const { exitCode, stderr } = runScript("9.9.9");
    expect(exitCode).toBe(1);
    expect(stderr).toStartWith("CHANGELOG.md has no 9.9.9. It has ");
  });
});
