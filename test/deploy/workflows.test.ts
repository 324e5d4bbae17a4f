import { describe, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { SUITES } from "../suites.ts";
import { POSTGRES_BIN } from "../support/databases/postgres.ts";
import { findTool } from "./find-tool.ts";
import { createFolder, NOTHING_FOUND, ROOT, runChecker, runProgram, toolEnvironment } from "./run-program.ts";

const FOLDER = join(ROOT, ".github/workflows");
const CI = join(ROOT, ".ci/run");
const ACTIONLINT = findTool("actionlint", "Go: github.com/rhysd/actionlint/cmd/actionlint");
const SCRIPTS: Readonly<Record<string, string>> = packageJson.scripts;

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const names = readdirSync(FOLDER).sort();
const read = (name: string) => readFileSync(join(FOLDER, name), "utf8");
const parseWorkflow = (name: string) => parse(read(name)) as Workflow;
const stepsOf = (name: string) => Object.values(parseWorkflow(name).jobs).flatMap(({ steps }) => steps ?? []);

/** Returns the steps of each group, as `.ci/run --list` prints them. */
async function listGroups(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { exitCode, stdout } = await runProgram([CI, "--list"], {
    cwd: ROOT,
    environment: toolEnvironment(),
  });
  expect(exitCode).toBe(0);
  const groups = stdout.trim().split("\n");
  return new Map(
    groups.map((line) => {
      const [group = "", steps = ""] = line.split(": ");
      return [group, steps.split("; ")];
    }),
  );
}

/** Returns the groups that a job runs, one for each of its copies. */
function groupsOf({ steps = [], strategy }: Job): readonly string[] {
  return steps.flatMap(({ run = "" }) => {
    const [, group] = /^\.ci\/run (.+)$/m.exec(run) ?? [];
    if (group === undefined) return [];
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is an expression of GitHub.
    return group === "${{ matrix.group }}" ? (strategy?.matrix["group"] as readonly string[]) : [group];
  });
}

describe("the workflows", () => {
  test("each group of .ci/run runs in exactly one job", async () => {
    const jobs = Object.values(parseWorkflow("ci.yml").jobs);
    expect(jobs.flatMap(groupsOf).sort()).toEqual([...(await listGroups()).keys()].sort());
  });

  test("each step of .ci/run, and each script that a workflow names, is a script of package.json, and a suite if it runs one", async () => {
    const steps = [...(await listGroups()).values()].flat();
    expect(steps.length).toBeGreaterThan(15);
    const run = names.flatMap((name) => stepsOf(name).map(({ run }) => run ?? ""));
    const named = run.flatMap((text) =>
      [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, script = ""]) => script),
    );
    const words = steps.map((step) => step.split(" "));
    for (const script of [...words.map(([script = ""]) => script), ...named])
      expect(Object.keys(SCRIPTS)).toContain(script);
    for (const [script, suite = ""] of words)
      if (script === "suite") expect(Object.keys(SUITES)).toContain(suite);
  });

  test.each(names)(
    "%s names the permissions of its jobs, and writes only where a release is published",
    (name) => {
      const { permissions, jobs } = parseWorkflow(name);
      expect(permissions).toBeDefined();
      const writing = Object.entries({ "": { permissions }, ...jobs }).filter(([, job]) =>
        Object.values(job.permissions ?? {}).includes("write"),
      );
      expect(writing.map(([job]) => job).sort()).toEqual(
        name === "release.yml" ? ["github", "npm", "provenance"] : [],
      );
    },
  );

  test.each(names)("%s pins each action to a commit, and names its version in a comment", (name) => {
    const used = read(name)
      .split("\n")
      .filter((line) => line.includes("uses: ") && !line.includes("uses: ./"));
    expect(used.length).toBeGreaterThan(0);
    for (const line of used) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("each checkout has the whole history, which the tests of releases and upgrades read, and keeps no credentials", () => {
    const checkouts = names.flatMap(stepsOf).filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkouts.length).toBeGreaterThan(1);
    for (const checkout of checkouts)
      expect(checkout.with).toEqual({ "fetch-depth": 0, "persist-credentials": false });
  });

  test.skipIf(ACTIONLINT === null)("actionlint finds nothing", async () => {
    const command = [ACTIONLINT as string, ...names.map((name) => join(FOLDER, name))];
    expect(await runChecker(command, { cwd: ROOT, environment: toolEnvironment() })).toEqual(NOTHING_FOUND);
  });
});

describe(".ci/run", () => {
  test("an unknown group is rejected before anything is installed", async () => {
    const run = await runProgram([CI, "main", "others"], { cwd: ROOT, environment: toolEnvironment() });
    expect([run.exitCode, run.stdout]).toEqual([2, ""]);
    expect(run.stderr).toContain("There is no group others. The groups are main ");
  });

  // It would install what is missing.
  const isReady = ["openssl", "curl", "redis-server", "pgbouncer", "chromium"].every((name) =>
    Bun.which(name),
  );
  test.skipIf(!isReady || POSTGRES_BIN === null)(
    "it runs the wanted groups, counts their tests, says what failed and how long each step took",
    async () => {
      const place = createFolder();
      mkdirSync(join(place.path, "project/.ci"), { recursive: true });
      mkdirSync(join(place.path, "bin"));
      cpSync(CI, join(place.path, "project/.ci/run"));
      writeFileSync(
        join(place.path, "bin/npm"),
        `#!/bin/sh
echo "$@" >>"${place.path}/called"
case "$4" in
profiles) echo "4 passed, 0 failed" ;;
replay) echo "FAIL a recording"; echo "2 passed, 1 failed"; exit 1 ;;
routing) exit 1 ;;
long) printf ' 7 pass\\n 0 fail\\n' ;;
caching) echo "1 passed, 0 failed" ;;
esac
`,
      );
      chmodSync(join(place.path, "bin/npm"), 0o755);
      const environment = { PATH: `${place.path}/bin:${process.env["PATH"]}` };
      const run = (...groups: readonly string[]) =>
        runProgram([join(place.path, "project/.ci/run"), ...groups], { cwd: place.path, environment });

      const failed = await run("formats", "long");
      const called = readFileSync(join(place.path, "called"), "utf8").trim().split("\n");
      expect(called.map((line) => line.replace(/ --n.*/, ""))).toEqual([
        "ci",
        "run suite -- profiles",
        "run suite -- replay",
        "run suite -- routing",
        "run suite -- long",
        "run suite -- caching",
      ]);
      const lines = failed.stdout.trimEnd().split("\n");
      // The tools, npm ci, and 4 + 2 + 7 + 1 tests; one failed test, and a step that ended without a count.
      expect([failed.exitCode, lines.at(-1)]).toEqual([1, "16 passed, 2 failed"]);
      expect(failed.stdout).toContain("npm run suite -- replay: FAIL a recording\n");
      expect(failed.stdout).toContain("npm run suite -- routing: ended without naming a test\n");
      const table = lines.slice(lines.indexOf("== What each step took, in seconds") + 1, -1);
      expect(table.map((line) => line.replace(/^ *\d+ {2}/, ""))).toEqual([
        "tools",
        "npm ci",
        "npm run suite -- profiles",
        "npm run suite -- replay",
        "npm run suite -- routing",
        "npm run suite -- long",
        "npm run suite -- caching",
        "all",
      ]);

      const together = (await run("long+formats")).stdout.trimEnd().split("\n");
      expect(together.at(-1)).toBe("16 passed, 2 failed");
      expect(together).toContain("long:  7 pass");
      expect(together).toContain("formats: FAIL a recording");
      expect(together).toContain("npm run suite -- replay: FAIL a recording");
      expect(together.filter((line) => /^ *\d+ {2}npm run suite/.test(line))).toHaveLength(5);

      const passed = await run("long");
      expect([passed.exitCode, passed.stdout.trimEnd().split("\n").at(-1)]).toEqual([
        0,
        "10 passed, 0 failed",
      ]);
      place.remove();
    },
  );
});
