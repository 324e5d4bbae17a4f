import { createServer } from "node:net";

/** Below the ports of outgoing connections: one of these could take a free port before its server listens on it. */
const FIRST_PORT = 10_000;
const PORTS = 20_000;
const MAX_TRIES = 100;

/** Returns a port of 127.0.0.1 that nothing listens on. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port of ${MAX_TRIES} is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
