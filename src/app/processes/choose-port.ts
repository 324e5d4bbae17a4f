/**
 * Returns the port that several processes are to share: `port`, or a free one for 0. The processes would also share a port that another
 * program of the same user listens on, so this checks that none does.
 * @throws Error if the address is in use or not available.
 */
export function choosePort(hostname: string, port: number): number {
  const probe = Bun.listen({ hostname, port, exclusive: true, socket: { data() {} } });
  const chosen = probe.port;
  probe.stop(true);
  return chosen;
}
