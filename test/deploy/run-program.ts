import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether installations are built and tested: `npm run suite -- deploy`, because it takes minutes. */
export const IS_DEPLOY_RUN = process.env["GATEWAY_TEST_DEPLOY"] === "true";

/** The folder of the project. */
export const ROOT = join(import.meta.dir, "..", "..");

/** A program that has ended. */
export interface ProgramRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run a program. */
export interface RunOptions {
  readonly cwd: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a program to its end. Its environment has nothing that is not named. */
export async function runProgram(
  command: readonly string[],
  { cwd, environment = {} }: RunOptions,
): Promise<ProgramRun> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr };
}

/** What `runChecker` returns for a program that finds nothing. */
export const NOTHING_FOUND: [exitCode: number, said: string] = [0, ""];

/** Runs a program that checks files. Returns its exit code and, if it finds something, what it said. */
export async function runChecker(
  command: readonly string[],
  options: RunOptions,
): Promise<[exitCode: number, said: string]> {
  const { exitCode, stdout, stderr } = await runProgram(command, options);
  return exitCode === 0 ? NOTHING_FOUND : [exitCode, `${stdout}${stderr}`];
}

/**
 * Runs a program to its end.
 * @throws Error with its output if it fails.
 */
export async function requireRun(command: readonly string[], options: RunOptions): Promise<string> {
  const { exitCode, stdout, stderr } = await runProgram(command, options);
  if (exitCode !== 0)
    throw new Error(`${command.join(" ")} ended with ${exitCode}:\n${`${stdout}${stderr}`.slice(-5_000)}`);
  return stdout;
}

/** The variables without which npm and Bun find no programs, registry or cache. */
export function toolEnvironment(): Record<string, string> {
  const names = Object.keys(process.env).filter(
    (name) => ["PATH", "HOME"].includes(name) || /^npm_config_/i.test(name) || /_proxy$/i.test(name),
  );
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? ""]));
}

/** A folder of a test. */
export interface Folder {
  readonly path: string;
  remove(): void;
}

/** Creates an empty folder. */
export function createFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), "gateway-deploy-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Writes a configuration into a folder: any free port, and what is given. */
export function configure(folder: string, config: object = {}): void {
  writeFileSync(join(folder, "gateway.yaml"), JSON.stringify({ server: { port: 0 }, ...config }));
}
