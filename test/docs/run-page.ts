import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AS_SHIPPED } from "../support/gateway/gateway-process.ts";
import { findFreePort } from "../support/servers/free-port.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { findDifference } from "./compare-output.ts";
import type { CommandBlock } from "./parse-page.ts";

/** The address that pages show. A gateway of a test has another port. */
const SHOWN_ADDRESS = "127.0.0.1:8080";
/** The longest time for all commands of a page. Milliseconds. */
const MAX_PAGE_MS = 240_000;

const VENDOR = join(import.meta.dir, "vendor.ts");

/** Stops at the first failure. Preparations may call the functions. */
const HEAD = `set -euo pipefail
wait_ready() {
  for _ in $(seq 150); do if gateway ready >/dev/null 2>&1; then return 0; fi; sleep 0.2; done
  echo "the gateway does not become ready"; cat gateway.log; return 1
}
# Starts a gateway, and sets KEY to the inference key of the first start. A gateway is ready before it has printed the key.
start() {
  gateway start > gateway.log 2>&1 &
  GATEWAY=$!
  wait_ready
  for _ in $(seq 150); do if grep -q '"listening"' gateway.log; then break; fi; sleep 0.1; done
  if grep -q "inference key" gateway.log; then KEY=$(sed -n "s/.*inference key *//p" gateway.log); fi
}
# Sends so many requests with KEY, or with the second argument.
ask() {
  for _ in $(seq "$1"); do
    curl -sf -o /dev/null http://${SHOWN_ADDRESS}/api/gateway/chat/completions -H "Authorization: Bearer \${2:-$KEY}" \
      -H "Content-Type: application/json" -d '{"model": "'"\${MODEL:-sandbox/echo}"'", "messages": [{"role": "user", "content": "Hello!"}]}'
  done
}
# Starts a simulated provider with this name.
vendor() {
  '${process.execPath}' '${VENDOR}' "$1" &
  for _ in $(seq 150); do if [ -s "$1.url" ]; then return 0; fi; sleep 0.1; done
  return 1
}
# Runs a statement on the database of the data directory.
sql() {
  '${process.execPath}' -e 'new (require("bun:sqlite").Database)("data/gateway.db").exec(process.argv[1])' "$1"
}
`;

/**
 * Runs the blocks of a page in order in one shell, in a new folder with a \`gateway\` command. Returns what is wrong: a failed command with
 * its output, or a shown output that differs; null if nothing is.
 */
export async function runPage(blocks: readonly CommandBlock[]): Promise<string | null> {
  const folder = makeTempFolder("gateway-page-");
  const port = await findFreePort();
  const address = `127.0.0.1:${port}`;
  const run = blocks.filter(({ notRun }) => notRun === null);
  const script = join(folder, ".page.sh");
  const text = [HEAD, ...run.map(toScript)].join("");
  writeFileSync(script, text.replaceAll(SHOWN_ADDRESS, address));
  const exitCode = await runScript(script, folder, port);
  for (const [at, block] of run.entries()) {
    const actual = readOutput(folder, at).replaceAll(address, SHOWN_ADDRESS);
    const isLast = readOutput(folder, at + 1, null) === null;
    if (exitCode !== 0 && isLast)
      return `line ${block.line}: exit code ${exitCode}\n${block.commands}\nprinted:\n${actual}`;
    const difference = block.output === null ? null : findDifference(block.output, actual);
    if (difference !== null) return `line ${block.line} shows:\n${difference}\nand it printed:\n${actual}`;
  }
  return null;
}

function toScript({ preparation, commands }: CommandBlock, at: number): string {
  const prepare = preparation === "" ? "" : `exec >.prepare-${at} 2>&1\n${preparation}\n`;
  // Readers leave it running in a terminal of its own.
  const background = commands.replace(/^gateway start$/m, "start");
  return `${prepare}exec >.block-${at} 2>&1\n${background}\n`;
}

function readOutput(folder: string, at: number): string;
function readOutput(folder: string, at: number, otherwise: null): string | null;
function readOutput(folder: string, at: number, otherwise: string | null = ""): string | null {
  const read = (name: string): string | null =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : null;
  return read(`.block-${at}`) ?? read(`.prepare-${at}`) ?? otherwise;
}

/** Returns the exit code. The processes that the script has left are ended. */
async function runScript(script: string, folder: string, port: number): Promise<number> {
  const bin = join(folder, ".bin");
  mkdirSync(bin);
  const quoted = AS_SHIPPED.map((word) => `'${word}'`).join(" ");
  writeFileSync(join(bin, "gateway"), `#!/bin/sh\nexec ${quoted} "$@"\n`);
  chmodSync(join(bin, "gateway"), 0o755);
  const shell = Bun.spawn(["bash", script], {
    cwd: folder,
    env: { PATH: `${bin}:${process.env["PATH"] ?? ""}`, HOME: folder, GATEWAY_PORT: String(port) },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });
  const deadline = setTimeout(() => endGroup(shell.pid), MAX_PAGE_MS);
  try {
    return await shell.exited;
  } finally {
    clearTimeout(deadline);
    endGroup(shell.pid);
  }
}

/** Ends the processes of a shell, which has a group of its own. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All have ended.
  }
}
