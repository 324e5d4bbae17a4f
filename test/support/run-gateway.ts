import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAIN = join(import.meta.dir, "..", "..", "src", "main.ts");

/** What a run of the `gateway` command came to. */
export interface CommandRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A gateway in a process of its own. */
export interface GatewayProcess {
  readonly url: string;
  /** What it has told people so far. */
  greeting(): string;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<CommandRun>;
}

/** A folder to run the command in, with an environment that holds nothing of this machine's. */
export interface Workplace {
  readonly folder: string;
  run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<CommandRun>;
  start(environment?: Readonly<Record<string, string>>): Promise<GatewayProcess>;
  clear(): void;
}

/** Makes a workplace. Gateways in it listen on a free port. */
export function createWorkplace(): Workplace {
  const folder = mkdtempSync(join(tmpdir(), "gateway-command-"));
  const spawn = (args: readonly string[], environment: Readonly<Record<string, string>>) =>
    Bun.spawn([process.execPath, MAIN, ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, GATEWAY_PORT: "0", ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  return {
    folder,
    async run(args, environment = {}) {
      const child = spawn(args, environment);
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { exitCode: await child.exited, stdout, stderr };
    },
    async start(environment = {}) {
      const child = spawn(["start"], environment);
      const stdout = child.stdout.text();
      const { url, told, ended } = await readGreeting(child.stderr);
      return {
        url,
        greeting: told,
        async stop() {
          child.kill("SIGTERM");
          await ended;
          return { exitCode: await child.exited, stdout: await stdout, stderr: told() };
        },
      };
    },
    clear: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Reads on until the gateway has said where it listens, and behind that to the end. */
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
