import { join } from "node:path";
import { findFreePort } from "../../test/support/servers/free-port.ts";
import type { Contestant } from "./contestant.ts";
import { startProgram } from "./programs.ts";

/** `Bun.serve` and `fetch` with nothing in between: the floor of a gateway on this runtime that uses its own HTTP. */
export const bunRelay: Contestant = {
  name: "bun-relay",
  label: "bare relay on Bun",
  async prepare() {},
  async start(upstreamPort) {
    const port = await findFreePort();
    const env = {
      RELAY_PORT: String(port),
      RELAY_UPSTREAM_URL: `http://127.0.0.1:${upstreamPort}/v1`,
      // Bun's fetch allows 256 concurrent requests by default; further ones would wait unnoticed.
      BUN_CONFIG_MAX_HTTP_REQUESTS: "65336",
    };
    const command = [process.execPath, join(import.meta.dir, "relay.ts")];
    return startProgram({ name: "bun-relay", command, env, port, readyPath: "/readyz" });
  },
};
