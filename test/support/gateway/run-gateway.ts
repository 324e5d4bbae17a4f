import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { databaseVariables, dropDatabases } from "../databases/test-databases.ts";
import { findTempRoot } from "../temp-root.ts";
import { AS_SHIPPED } from "./gateway-process.ts";

const COMMAND_HOST = join(import.meta.dir, "command-host.ts");

/** The result of a run of the `gateway` command. */
export interface CommandRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A gateway in its own process. */
export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  /** Returns its output on standard error so far. */
  greeting(): string;
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<CommandRun>;
}

/** The environment and input of a command in its own process. */
export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Empty by default. */
  readonly stdin?: string;
}

/** A folder to run commands in, with an environment that contains nothing of this machine. */
export interface Workspace {
  readonly folder: string;
  /** Runs a command in a process that all tests share, after the commands that were queued before. */
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<CommandRun>;
  /** Runs a command in its own process, as a shell does. */
  runInOwnProcess(args: readonly string[], options?: CommandOptions): Promise<CommandRun>;
  start(environment?: Readonly<Record<string, string>>): Promise<GatewayProcess>;
  clear(): void;
}

/** Creates a workspace. Gateways in it listen on a free port. */
export function createWorkspace(): Workspace {
  const folder = mkdtempSync(join(findTempRoot(), "gateway-command-"));
  const complete = async (environment: Readonly<Record<string, string>>) => ({
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    GATEWAY_PORT: "0",
    ...(await databaseVariables(resolve(folder, environment["GATEWAY_DATA_DIR"] || "data"))),
    ...environment,
  });
  const spawn = async (args: readonly string[], environment: Readonly<Record<string, string>>, stdin = "") =>
    Bun.spawn([...AS_SHIPPED, ...args], {
      cwd: folder,
      env: await complete(environment),
      stdin: Buffer.from(stdin),
      stdout: "pipe",
      stderr: "pipe",
    });
  return {
    folder,
    async run(args, environment = {}) {
      const completed = await complete(environment);
      host ??= startHost();
      return host({ args, folder, environment: completed });
    },
    async runInOwnProcess(args, { environment = {}, stdin } = {}) {
      const child = await spawn(args, environment, stdin);
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { exitCode: await child.exited, stdout, stderr };
    },
    async start(environment = {}) {
      const child = await spawn(["start"], environment);
      const stdout = child.stdout.text();
      const { url, told, ended } = await readGreeting(child.stderr);
      return {
        url,
        pid: child.pid,
        greeting: told,
        async stop() {
          child.kill("SIGTERM");
          await ended;
          return { exitCode: await child.exited, stdout: await stdout, stderr: told() };
        },
      };
    },
    clear() {
      rmSync(folder, { recursive: true, force: true });
      // Nothing waits for it: the server is removed after the tests.
      dropDatabases(folder).catch(() => {});
    },
  };
}

/** A command and its environment. */
export interface HostedCommand {
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

type Host = (command: HostedCommand) => Promise<CommandRun>;

/** Started by the first command; ends with this process. */
let host: Host | null = null;

function startHost(): Host {
  const waiting: PromiseWithResolvers<CommandRun>[] = [];
  const child = Bun.spawn([process.execPath, COMMAND_HOST], {
    ipc: (run: CommandRun) => waiting.shift()?.resolve(run),
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    onExit: () => {
      host = null;
      for (const { reject } of waiting) reject(new Error("the process that runs commands has ended"));
    },
  });
  child.unref();
  return (command) => {
    const run = Promise.withResolvers<CommandRun>();
    waiting.push(run);
    child.send(command);
    return run.promise;
  };
}

/** Reads until the gateway has printed its URL, and keeps reading to the end. */
async function readGreeting(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const read = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: true });
    return !done;
  };
  let url: string | undefined;
  while (url === undefined) {
    if (!(await read())) throw new Error(`the gateway has ended: ${text}`);
    url = /listens on (\S+)\n/.exec(text)?.[1];
  }
  const drain = async (): Promise<void> => {
    while (await read());
  };
  return { url, told: () => text, ended: drain() };
}
