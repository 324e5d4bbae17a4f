import { findFreePort } from "../../../test/support/free-port.ts";
import { preparePortkey } from "../../peers.ts";
import { ANTHROPIC_MODEL, type Contestant, chatDoor } from "../contestant.ts";
import { startProgram } from "../programs.ts";

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
    return { ...running, name: "portkey", door, anthropic, databasePid: null };
  },
};

function route(provider: string, upstreamPort: number): Record<string, string> {
  return {
    authorization: "Bearer bench",
    "x-portkey-provider": provider,
    "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1`,
  };
}
