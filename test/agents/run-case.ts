import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentTarget } from "./agents.ts";
import type { AgentCase } from "./cases.ts";
import { type ChildRun, runChild } from "./run-child.ts";
import { closingSentence, type Task, writePrompt } from "./vendors/scripted-model.ts";
import type { SimulatedVendor, VendorRequest } from "./vendors/simulated-vendor.ts";

/** The result of a case: the problems found. */
export interface CaseResult {
  readonly problems: readonly string[];
  /** The end of the agent's output, for debugging. */
  readonly printed: string;
}

/** Turns of the task: the agent writes, reads and answers. */
const TURNS = 3;

/** The text that the agent must write: multi-byte characters, and characters that quoting often breaks. */
const TEXT = "it's 5 € at the café";

/** Runs an agent on a new task in its own home and folder, and checks the result. */
export async function runCase(
  { agent, format }: AgentCase,
  binary: string,
  target: AgentTarget,
  vendor: SimulatedVendor,
  timeoutMs: number,
): Promise<CaseResult> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-agent-"));
  try {
    const clue = `clue-${randomBytes(8).toString("hex")}`;
    const task = prepareFolder(folder, clue);
    const { args, env, files } = agent.prepare(target, writePrompt(task));
    for (const [path, text] of Object.entries(files)) writeInto(join(folder, "home", path), text);
    const run = await runChild([binary, ...args], {
      cwd: join(folder, "work"),
      env: { ...environmentIn(folder), ...env },
      timeoutMs,
    });
    const problems = [
      ...findRunProblems(run, task, clue, timeoutMs),
      ...findRequestProblems(vendor.requests, format),
    ];
    return { problems, printed: `${run.stdout}\n${run.stderr}`.trim().slice(-2_000) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function prepareFolder(folder: string, clue: string): Task {
  const work = join(folder, "work");
  for (const name of ["work", "home", "tmp"]) mkdirSync(join(folder, name));
  writeFileSync(join(work, "clue.txt"), `The word is ${clue}.\n`);
  return {
    file: join(work, "answer.txt"),
    text: TEXT,
    clueFile: join(work, "clue.txt"),
  };
}

function writeInto(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/**
 * Returns an environment that contains nothing of this machine except the program path, and in which other
 * machines are unreachable.
 */
function environmentIn(folder: string): Record<string, string> {
  const nowhere = "http://127.0.0.1:9";
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: join(folder, "home"),
    TMPDIR: join(folder, "tmp"),
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    http_proxy: nowhere,
    https_proxy: nowhere,
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
  };
}

function findRunProblems(
  { exitCode, stdout }: ChildRun,
  task: Task,
  clue: string,
  timeoutMs: number,
): string[] {
  const problems: string[] = [];
  if (exitCode === null) problems.push(`the agent took longer than ${timeoutMs / 1000} s and was ended`);
  else if (exitCode !== 0) problems.push(`the agent ended with code ${exitCode}`);
  if (!existsSync(task.file)) problems.push("answer.txt was not written");
  else if (readFileSync(task.file, "utf8").trim() !== task.text) {
    problems.push(`answer.txt contains ${JSON.stringify(readFileSync(task.file, "utf8"))}`);
  }
  if (!stdout.includes(closingSentence(clue))) problems.push("the closing sentence was not printed");
  return problems;
}

/**
 * Checks that the vendor received valid requests in its format, the turns of the task, and all results at the
 * end.
 */
function findRequestProblems(requests: readonly VendorRequest[], format: string): string[] {
  const problems = requests.flatMap(({ rejection, losses, format: seen }) => [
    ...(rejection === null ? [] : [`the vendor rejected: ${rejection}`]),
    ...losses.map((loss) => `lost between agent and vendor: ${loss}`),
    ...(seen === format ? [] : [`the vendor was called in ${seen}`]),
  ]);
  const turns = requests.filter(
    ({ reply, conversation }) => reply !== null && conversation?.tools.length !== 0,
  );
  if (turns.length !== TURNS) problems.push(`the vendor saw ${turns.length} turns of the task, not ${TURNS}`);
  const called = turns.flatMap(({ reply }) => reply?.calls ?? []).length;
  const results = turns.at(-1)?.conversation?.entries.filter(({ kind }) => kind === "result").length ?? 0;
  if (results !== called)
    problems.push(`${called} tools were called, ${results} results are in the last turn`);
  return [...new Set(problems)];
}
