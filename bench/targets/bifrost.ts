import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "../../test/support/servers/free-port.ts";
import { ANTHROPIC_MODEL, type Contestant, chatDoor, MODEL, TRANSLATED } from "./contestant.ts";
import { find, INSTALLED, runStep, SOURCES, startProgram } from "./programs.ts";

const BUILD_MS = 900_000;
const folder = join(SOURCES, "bifrost");
const program = join(INSTALLED, "bifrost");

/** Bifrost's core behind fasthttp (`bench/targets/products/bifrost/main.go`), without its keys, logs and plugins. */
export const bifrost: Contestant = {
  name: "bifrost",
  label: "Bifrost core 1.6.0",
  async prepare() {
    if (existsSync(program) && statSync(program).mtimeMs > statSync(join(folder, "main.go")).mtimeMs) return;
    const go = find("go", "install Go 1.26.4 or later");
    await runStep([go, "build", "-trimpath", "-o", program, "."], folder, BUILD_MS);
  },
  async start(upstreamPort) {
    const port = await findFreePort();
    const command = [program, "-port", String(port), "-upstream", `http://127.0.0.1:${upstreamPort}`];
    const running = await startProgram({ name: "bifrost", command, port, readyPath: "/health" });
    const door = chatDoor(port, { model: `openai/${MODEL}` });
    const anthropic = chatDoor(port, { model: `anthropic/${ANTHROPIC_MODEL}`, vendor: "messages" });
    return { ...running, door, lanes: new Map([[TRANSLATED, anthropic]]) };
  },
};
