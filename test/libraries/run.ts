/**
 * Has the newest client libraries of several languages parse the answers of a gateway with simulated vendors: `npm run suite -- libraries`.
 * Libraries are installed with the package manager of each language on first use, and kept. A language that the machine does not have is
 * skipped with a line.
 *
 * --only=<text>   programs whose folder or libraries contain this text
 */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { endChildren, runChild } from "../agents/run-child.ts";
import { type StrictVendors, startStrictVendors } from "../clients/strict-vendors.ts";
import { reportCounts } from "../support/suite-program.ts";
import { expectedNumber, type LibraryCase, listCases, pathOf } from "./cases.ts";
import { type LibraryProgram, PROGRAMS } from "./languages.ts";

/** The folder of programs and their libraries, which is kept between runs. */
const FOLDER = process.env["GATEWAY_LIBRARIES_DIR"] ?? join(tmpdir(), "gateway-libraries");
/** The timeout of one step of a build. The libraries for Go take minutes to compile. */
const BUILD_MS = 20 * 60_000;
/** The timeout of all cases in one program. */
const RUN_MS = 3 * 60_000;

const HOW_TO_INSTALL = `It needs the registry of its packages once; then they are kept in ${FOLDER} (GATEWAY_LIBRARIES_DIR).`;

interface Tally {
  passed: number;
  failed: number;
}

/** Copies a program into the kept folder, and installs its libraries there. Returns why that failed; null if it did not. */
async function install({ folder, install }: LibraryProgram): Promise<string | null> {
  const cwd = join(FOLDER, folder);
  mkdirSync(cwd, { recursive: true });
  cpSync(join(import.meta.dir, "programs", folder), cwd, { recursive: true });
  for (const command of install) {
    const problem = await runStep(command, cwd);
    if (problem !== null) return problem;
  }
  return null;
}

async function runStep(command: readonly string[], cwd: string): Promise<string | null> {
  const options = { cwd, env: { ...process.env }, timeoutMs: BUILD_MS };
  const { exitCode, stdout, stderr } = await runChild(command, options);
  return exitCode === 0 ? null : `${command.join(" ")}: ${(stderr || stdout).trim().slice(-2_000)}`;
}

/** Writes the cases for a program, and runs it. Returns what it read for each case, by name, and what else it printed. */
async function run(
  program: LibraryProgram,
  { url, key }: StrictVendors["gateway"],
  cases: readonly LibraryCase[],
) {
  const cwd = join(FOLDER, program.folder);
  const given = await Promise.all(
    cases.map(async ({ expected: _, ...one }, at) => {
      const found = cases[at];
      return program.parsesOnly && found ? { ...one, answer: await fetchAnswer(url, key, found) } : one;
    }),
  );
  const path = join(cwd, "cases.json");
  writeFileSync(path, JSON.stringify({ url, key, cases: given }));
  const options = { cwd, env: { ...process.env }, timeoutMs: RUN_MS };
  const { stdout, stderr } = await runChild([...program.run, path], options);
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  const results = lines.map(
    (line) => JSON.parse(line) as { readonly name: string; readonly result: unknown },
  );
  return { read: new Map(results.map(({ name, result }) => [name, result])), stderr };
}

async function fetchAnswer(url: string, key: string, one: LibraryCase): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify(one.stream ? { ...one.body, stream: true } : one.body);
  const isRead = one.api === "models";
  const response = await fetch(
    `${url}${pathOf(one)}`,
    isRead ? { headers } : { method: "POST", headers, body },
  );
  return response.text();
}

/** Whether a library read what is expected. Arguments of calls are compared as values. */
function isAsExpected(read: unknown, { expected }: LibraryCase): boolean {
  if (typeof read !== "object" || read === null) return false;
  const values: Record<string, unknown> = { ...read };
  if (Array.isArray(values["calls"])) values["calls"] = values["calls"].map(parseArguments);
  return isDeepStrictEqual(
    values,
    Object.fromEntries(
      Object.entries(expected).map(([name, value]) => [
        name,
        value === expectedNumber && typeof values[name] === "number" ? values[name] : value,
      ]),
    ),
  );
}

function parseArguments(call: unknown): unknown {
  if (!Array.isArray(call)) return call;
  try {
    return [call[0], JSON.parse(String(call[1]))];
  } catch {
    return call;
  }
}

async function countModels({ url, key }: StrictVendors["gateway"]): Promise<number> {
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  return ((await response.json()) as { data: unknown[] }).data.length;
}

async function runProgram(
  program: LibraryProgram,
  gateway: StrictVendors["gateway"],
  all: readonly LibraryCase[],
): Promise<Tally> {
  const missing = program.needs.filter((command) => Bun.which(command) === null);
  if (missing.length > 0) {
    console.log(`skip  ${program.libraries}: ${missing.join(", ")} not found. ${program.advice}`);
    return { passed: 0, failed: 0 };
  }
  const absent = await install(program);
  if (absent !== null) {
    console.log(
      `skip  ${program.libraries}: not installed. ${HOW_TO_INSTALL}\n${absent.replace(/^/gm, "      | ")}`,
    );
    return { passed: 0, failed: 0 };
  }
  const problem = program.compile ? await runStep(program.compile, join(FOLDER, program.folder)) : null;
  if (problem !== null) {
    console.log(`FAIL  ${program.libraries}: not compiled\n${problem.replace(/^/gm, "      | ")}`);
    return { passed: 0, failed: 1 };
  }
  const cases = all.filter((one) => program.handles(one));
  const { read, stderr } = await run(program, gateway, cases);
  const wrong = cases.filter((one) => !isAsExpected(read.get(one.name), one));
  for (const one of wrong)
    console.log(
      `FAIL  ${program.libraries}: ${one.name}\n      expected ${JSON.stringify(one.expected)}\n      read     ${JSON.stringify(read.get(one.name))?.slice(0, 1_500)}`,
    );
  if (wrong.length > 0 && stderr !== "") console.log(stderr.slice(-2_000).replace(/^/gm, "      | "));
  const passed = cases.length - wrong.length;
  console.log(
    `${wrong.length === 0 ? "pass" : "FAIL"}  ${program.libraries}: ${passed} of ${cases.length} answers`,
  );
  return { passed, failed: wrong.length };
}

const only = process.argv.find((arg) => arg.startsWith("--only="))?.slice("--only=".length) ?? "";
const chosen = PROGRAMS.filter(({ folder, libraries }) => `${folder} ${libraries}`.includes(only));
const vendors = await startStrictVendors();
process.on("exit", endChildren);
const cases = listCases(await countModels(vendors.gateway));
const tally: Tally = { passed: 0, failed: 0 };
for (const program of chosen) {
  const { passed, failed } = await runProgram(program, vendors.gateway, cases);
  tally.passed += passed;
  tally.failed += failed;
}
await vendors.stop();
reportCounts(tally.passed, tally.failed);
process.exit();
