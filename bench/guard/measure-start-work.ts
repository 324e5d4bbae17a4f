import { statSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { findFreePort } from "../../test/support/servers/free-port.ts";
import { makeDataDir, ROOT, removeDataDir } from "../machine/folders.ts";
import { spawnMeasured, waitUntilReady } from "../machine/processes.ts";
import { medianOf } from "../report/figures.ts";
import { buildProgram } from "../targets/start-gateway.ts";

const ROUNDS = 9;

/**
 * Measures the processor time of a start until it is ready, as a multiple of that of a program of fixed work. What starts is the program
 * that is shipped, built anew, on a data folder that exists. Both take turns, and the median of the ratios counts. Also returns the size of
 * that program, which a start reads whole. Bytes.
 */
export async function measureStartWork() {
  buildProgram();
  const dataDir = makeDataDir();
  // Creates the database, and brings the files of the program into the memory of the operating system.
  await workOfStart(dataDir);
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++)
    ratios.push((await workOfStart(dataDir)) / (await workOfReference()));
  removeDataDir(dataDir);
  return {
    "start.work": medianOf(ratios) as number,
    "start.code": statSync(join(ROOT, "dist", "program", "main.js")).size,
  };
}

/** Returns the processor time of a start, of all its threads. The process is killed once it is ready, so that its end costs nothing. */
async function workOfStart(dataDir: string): Promise<number> {
  const port = await findFreePort();
  const child = spawnMeasured([join(ROOT, "bin", "gateway"), "start"], {
    cwd: dataDir,
    env: {
      GATEWAY_HOST: "127.0.0.1",
      GATEWAY_PORT: String(port),
      GATEWAY_DATA_DIR: dataDir,
      GATEWAY_ADMIN_KEY: "only-for-the-bench-0123456789abcdef",
      OPENAI_API_KEY: "bench",
    },
  });
  await waitUntilReady(`http://127.0.0.1:${port}/readyz`, child);
  child.kill("SIGKILL");
  return workOf(child);
}

async function workOfReference(): Promise<number> {
  const child = spawnMeasured([process.execPath, join(import.meta.dir, "reference-work.ts")], {
    cwd: ROOT,
    env: {},
  });
  const work = await workOf(child);
  if (child.exitCode !== 0) throw new Error("the reference failed");
  return work;
}

/** Waits for the end of a process. Returns its processor time in microseconds. */
async function workOf(child: Subprocess): Promise<number> {
  await child.exited;
  return Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN);
}
