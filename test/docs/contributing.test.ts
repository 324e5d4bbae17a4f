import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import packageJson from "../../package.json" with { type: "json" };
import { renderSuites, SUITES } from "../suites.ts";

const ROOT = join(import.meta.dir, "../..");
/** Scripts that npm runs by itself. */
const LIFECYCLE = /^(pre|post)|^prepare$/;

const scripts = Object.keys(packageJson.scripts);
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** Lists the commands of npm in a text: the script, and its first argument. */
function listCommands(text: string): readonly (readonly [script: string, argument: string])[] {
  const found = text.matchAll(/npm (?:(start|test)|run (?:-s )?([\w:-]+))(?: -- ([\w-]+))?/g);
  return [...found].map(([, short, script, argument = ""]) => [(short ?? script) as string, argument]);
}

describe("CONTRIBUTING.md", () => {
  test("explains each script of package.json in its table, and names no other script", () => {
    const rows = read("CONTRIBUTING.md")
      .split("\n")
      .filter((line) => line.startsWith("| `npm "));
    const explained = rows
      .flatMap((row) => listCommands(row.split(" | ")[0] as string))
      .map(([name]) => name);
    expect(explained.sort()).toEqual(scripts.filter((name) => !LIFECYCLE.test(name)).sort());
  });
});

describe("test/README.md", () => {
  test("has the table of suites that `npm run generate` writes", () => {
    const text = read("test/README.md");
    expect(renderSuites(text)).toBe(text);
  });
});

describe("the commands of npm that documents, comments and messages name", () => {
  const folders = ["docs", "catalog", "bench", "src", "test", "scripts", "deploy", ".github"];
  const patterns = ["*.md", ...folders.map((folder) => `${folder}/**/*.{md,ts,tsx,yaml,yml}`)];
  const files = patterns
    .flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: ROOT, dot: true })])
    .filter((file) => !/^CHANGELOG|node_modules|^docs\/surface|^bench\/out/.test(file));

  test("are scripts of package.json, and suites if they run one", () => {
    const unknown = files.flatMap((file) =>
      listCommands(read(file))
        .filter(
          ([script, suite]) =>
            !scripts.includes(script) || (script === "suite" && /^[a-z]/.test(suite) && !(suite in SUITES)),
        )
        .map((command) => `${file}: ${command.join(" ")}`),
    );
    expect(files.length).toBeGreaterThan(1_000);
    expect(unknown).toEqual([]);
  });
});

describe("npm run suite", () => {
  test("lists all suites if none is named, and each of them has the files that it names", () => {
    const { exitCode, stdout } = Bun.spawnSync([process.execPath, join(ROOT, "test/run.ts"), "--suite"]);
    const listed = [...stdout.toString().matchAll(/^ {2}([\w-]+) +\S/gm)].map(([, name]) => name);
    expect([exitCode, listed]).toEqual([2, Object.keys(SUITES)]);
    const files = Object.values(SUITES).flatMap((suite) => ("files" in suite ? suite.files() : []));
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

describe("the suite of long tests", () => {
  test("has each file that asks whether the run is long, because only test files ask", () => {
    const asking = [...new Glob("test/**/*.ts").scanSync(ROOT)].filter((file) =>
      /from "[./\w-]+\/long-run\.ts"/.test(read(file)),
    );
    const suite = SUITES["long"] as { readonly files: () => readonly string[] };
    expect(asking.sort()).toEqual([...suite.files()]);
    expect(asking.filter((file) => !file.endsWith(".test.ts"))).toEqual([]);
  });
});
