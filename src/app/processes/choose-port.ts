/** The search begins below the ports of outgoing connections: one of these could take a free port before the processes listen on it. */
const FIRST_PORT = 10_000;
const PORTS = 20_000;
const MAX_TRIES = 100;

/**
 * Returns the port that several processes share: `port`, or a free one for 0. Checks that no other program listens on it, because the
 * processes would share the port even with a program of the same user.
 * @throws Error if the address is in use or not available.
 */
export function choosePort(hostname: string, port: number): number {
  return port === 0 ? chooseFree(hostname) : probe(hostname, port);
}

/** Gateways that start at the same time begin their search at different ports. */
function chooseFree(hostname: string): number {
  for (let offset = 0; offset < MAX_TRIES; offset++) {
    try {
      return probe(hostname, FIRST_PORT + ((process.pid + offset) % PORTS));
    } catch {
      // It is taken.
    }
  }
  return probe(hostname, 0);
}

function probe(hostname: string, port: number): number {
  const listener = Bun.listen({ hostname, port, exclusive: true, socket: { data() {} } });
  const chosen = listener.port;
  listener.stop(true);
  return chosen;
}
