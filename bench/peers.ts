import { existsSync } from "node:fs";
import { join } from "node:path";
import { adopt } from "./processes.ts";

const folder = join(import.meta.dir, "peers");
const script = join(folder, "node_modules", "@portkey-ai", "gateway", "build", "start-server.js");
const INSTALL_MS = 180_000;
const HOW = "install it with `npm ci --ignore-scripts --prefix bench/peers`";

/** Returns the paths of Portkey's gateway and its Node.js; installs the gateway if it is missing. */
export async function preparePortkey(): Promise<{ node: string; script: string }> {
  const node = Bun.which("node");
  if (node === null) throw new Error("it needs node on the PATH");
  if (!existsSync(script)) await install();
  return { node, script };
}

/** Returns the version of the Node.js that Portkey runs on, or `null`. */
export function readNodeVersion(): string | null {
  const node = Bun.which("node");
  return node === null ? null : Bun.spawnSync([node, "--version"]).stdout.toString().trim();
}

async function install(): Promise<void> {
  const npm = Bun.which("npm");
  if (npm === null) throw new Error(`there is no npm; ${HOW}`);
  console.error("Installing Portkey's gateway into bench/peers/node_modules …");
  const command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const options = {
    cwd: folder,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    timeout: INSTALL_MS,
  } as const;
  const code = await adopt(Bun.spawn(command, options)).exited;
  if (code !== 0 || !existsSync(script)) throw new Error(`npm ci ended with code ${code}; ${HOW}`);
}
