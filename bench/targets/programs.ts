import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { OUT } from "../machine/folders.ts";
import { adopt, end, spawnMeasured, waitUntilReady } from "../machine/processes.ts";
import { chatDoor, type Running } from "./contestant.ts";

/** Where compiled and installed programs are kept; not in version control. */
export const INSTALLED = join(OUT, "peers");
/** The sources of programs that are compiled, and the lists of versions. */
export const SOURCES = join(import.meta.dir, "products");

const ERROR_CHARS = 300;
const VERSION_MS = 5_000;
/** Debian keeps nginx, and Go its own installation, in folders that are not on every PATH. */
const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/go/bin`;

/** Raises the number of files to what the system allows: thousands of streams need two each, and the usual bound is 1,024. */
const WITH_ALL_FILES = ["/bin/sh", "-c", 'ulimit -n "$(ulimit -Hn)"; exec "$@"', "sh"] as const;

/** A program to start as a variant. */
interface Program {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly port: number;
  /** Answers 200 once the program is ready. */
  readonly readyPath: string;
  /** Absent: the folder of installed programs. */
  readonly cwd?: string;
  /** The file of its standard output. Absent: it is not kept. */
  readonly logFile?: string;
}

/**
 * Starts a program on the core of the measured ones, with only the named variables. Resolves once it answers, as a variant with the door of
 * a plain chat API and no other lanes.
 */
export async function startProgram(program: Program): Promise<Running> {
  const { name, command, env, port, readyPath, cwd = INSTALLED, logFile } = program;
  mkdirSync(INSTALLED, { recursive: true });
  const child = spawnMeasured([...WITH_ALL_FILES, ...command], {
    cwd,
    env: { PATH, ...env },
    stdout: logFile,
    stderr: join(OUT, `${name}.log`),
  });
  await waitUntilReady(`http://127.0.0.1:${port}${readyPath}`, child);
  const { pid } = child;
  return { name, door: chatDoor(port), lanes: new Map(), pid, databasePid: null, stop: () => end(child) };
}

/** Returns the path of a program on the PATH. Throws with what to install if it is missing. */
export function find(program: string, remedy: string): string {
  const found = Bun.which(program, { PATH });
  if (found === null) throw new Error(`there is no ${program}; ${remedy}`);
  return found;
}

/** Returns the first lines that the tools behind the variants print about their versions; those that are missing are left out. */
export function readToolVersions(): string {
  const commands = [
    ["nginx", "-v"],
    ["node", "--version"],
    ["go", "version"],
    ["python3", "--version"],
    ["cc", "--version"],
  ] as const;
  const versions = commands.flatMap(([program, option]) => {
    const path = Bun.which(program, { PATH });
    if (path === null) return [];
    const { stdout, stderr } = Bun.spawnSync([path, option], { timeout: VERSION_MS });
    const [line = ""] = `${stdout}${stderr}`.split("\n");
    return [line.startsWith("v") ? `Node.js ${line}` : line];
  });
  return versions.join(", ");
}

/** Runs a step of an installation. Rejects with its last words if it fails or takes longer than `limitMs`. */
export async function runStep(command: readonly string[], cwd: string, limitMs: number): Promise<void> {
  mkdirSync(INSTALLED, { recursive: true });
  const child = adopt(
    Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "ignore", stderr: "pipe", timeout: limitMs }),
  );
  const words = (await new Response(child.stderr).text()).trim().slice(-ERROR_CHARS);
  const code = await child.exited;
  if (code !== 0) throw new Error(`\`${command.slice(0, 3).join(" ")} …\` ended with code ${code}: ${words}`);
}
