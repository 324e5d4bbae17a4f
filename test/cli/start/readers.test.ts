import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, constants, openSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";

const MAIN = join(import.meta.dir, "../../../src/main.ts");

let workspace: Workspace;
let child: Bun.Subprocess | null;

beforeEach(() => {
  workspace = createWorkspace();
  child = null;
});
afterEach(() => {
  child?.kill("SIGKILL");
  workspace.clear();
});

function makePipe(name: string): string {
  const pipe = join(workspace.folder, name);
  Bun.spawnSync(["mkfifo", pipe]);
  return pipe;
}

/** Returns a port that is probably free. */
function findPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Starts a gateway with these file descriptors as output, and waits until it answers. */
async function start(stdout: number | "ignore", stderr: number | "ignore"): Promise<string> {
  const port = await findPort();
  child = Bun.spawn([process.execPath, MAIN, "start"], {
    cwd: workspace.folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      GATEWAY_PORT: String(port),
      GATEWAY_LOG_LEVEL: "debug",
    },
    stdin: "ignore",
    stdout,
    stderr,
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually("the gateway answers", () =>
    fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    ),
  );
  return url;
}

async function stop(): Promise<number> {
  child?.kill("SIGTERM");
  return (await child?.exited) as number;
}

/** Many times the capacity of a pipe. */
const LINES = 2_000;

describe.skipIf(!RUNS_SLOW_TESTS)("a gateway whose output is not read", () => {
  test("keeps serving and stops on SIGTERM if its log pipe is full", async () => {
    // Open for reading and writing, and not read.
    const descriptor = openSync(makePipe("log"), constants.O_RDWR);
    const url = await start(descriptor, "ignore");
    for (let i = 0; i < LINES; i += 100) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => fetch(`${url}/healthz`)));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      await Promise.all(answers.map((answer) => answer.text()));
    }
    expect(await stop()).toBe(0);
    closeSync(descriptor);
  });

  test("keeps serving and shuts down in order if the reader of its first output has exited", async () => {
    const pipe = makePipe("greeting");
    const reader = openSync(pipe, constants.O_RDWR);
    const descriptor = openSync(pipe, constants.O_WRONLY);
    closeSync(reader);
    const log = join(workspace.folder, "log");
    writeFileSync(log, "");
    const logDescriptor = openSync(log, "a");
    const url = await start(logDescriptor, descriptor);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await stop()).toBe(0);
    expect(await Bun.file(log).text()).toContain('"stopped"');
    closeSync(descriptor);
    closeSync(logDescriptor);
  });
});
