import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { IS_LONG_RUN } from "../../support/long-run.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";

const ROOT = join(import.meta.dir, "../../..");

let folder: string;
const groups: number[] = [];

beforeAll(() => {
  folder = makeTempFolder("gateway-npm-");
});
afterAll(() => {
  for (const group of groups) if (isAlive(group)) process.kill(-group, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Runs npm in the project, as the leader of its own process group. */
function runNpm(args: readonly string[]): ChildProcess & { readonly pid: number } {
  const child = spawn("npm", args, {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      npm_config_update_notifier: "false",
      GATEWAY_PORT: "0",
      GATEWAY_DATA_DIR: join(folder, "data"),
    },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("npm cannot be run");
  groups.push(pid);
  return Object.assign(child, { pid });
}

/** Returns whether any process of a group is left. */
function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

function readAddress({ stderr }: ChildProcess): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    stderr?.on("data", (piece: Buffer) => {
      text += piece.toString();
      const url = /listens on (\S+)\n/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    stderr?.on("end", () => reject(new Error(`the gateway did not start: ${text}`)));
  });
}

test.skipIf(Bun.which("npm") === null || !IS_LONG_RUN).each([
  ["npm start", ["start"]],
  ["npm run gateway -- start", ["run", "gateway", "--", "start"]],
])("SIGTERM to `%s` stops the gateway and leaves no process behind", async (_, args) => {
  const npm = runNpm(args);
  const url = await readAddress(npm);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  npm.kill("SIGTERM");
  await eventually("the end of all processes that npm started", () => !isAlive(npm.pid));
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});
