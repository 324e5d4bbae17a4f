import { existsSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "../../test/support/servers/free-port.ts";
import { adopt } from "../machine/processes.ts";
import { ANTHROPIC_MODEL, type Contestant, chatDoor, TRANSLATED } from "./contestant.ts";
import { SOURCES, startProgram } from "./programs.ts";

const script = join(SOURCES, "node_modules", "@portkey-ai", "gateway", "build", "start-server.js");
const INSTALL_MS = 180_000;
const HOW = "install it with `npm ci --ignore-scripts --prefix bench/targets/products`";

/** Portkey's gateway on Node.js. It keeps neither keys nor records. */
export const portkey: Contestant = {
  name: "portkey",
  label: "Portkey 1.15.2",
  async prepare() {
    await preparePortkey();
  },
  async start(upstreamPort) {
    const { node, script } = await preparePortkey();
    const port = await findFreePort();
    const command = [node, script, `--port=${port}`, "--headless"];
    const env = { NODE_ENV: "production" };
    const running = await startProgram({ name: "portkey", command, env, port, readyPath: "/" });
    const door = chatDoor(port, { headers: route("openai", upstreamPort) });
    const anthropic = chatDoor(port, {
      headers: { ...route("anthropic", upstreamPort), "x-api-key": "bench" },
      model: ANTHROPIC_MODEL,
      vendor: "messages",
    });
    return { ...running, door, lanes: new Map([[TRANSLATED, anthropic]]) };
  },
};

function route(provider: string, upstreamPort: number): Record<string, string> {
  return {
    authorization: "Bearer bench",
    "x-portkey-provider": provider,
    "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1`,
  };
}

/** Returns the paths of Portkey's gateway and its Node.js; installs the gateway if it is missing. */
async function preparePortkey(): Promise<{ node: string; script: string }> {
  const node = Bun.which("node");
  if (node === null) throw new Error("it needs node on the PATH");
  if (!existsSync(script)) await install();
  return { node, script };
}

async function install(): Promise<void> {
  const npm = Bun.which("npm");
  if (npm === null) throw new Error(`there is no npm; ${HOW}`);
  console.error("Installing Portkey's gateway into bench/targets/products/node_modules …");
  const command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const options = {
    cwd: SOURCES,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    timeout: INSTALL_MS,
  } as const;
  const code = await adopt(Bun.spawn(command, options)).exited;
  if (code !== 0 || !existsSync(script)) throw new Error(`npm ci ended with code ${code}; ${HOW}`);
}
