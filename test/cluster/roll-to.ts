import type { Cluster } from "./cluster.ts";

/** How long the load goes on before each restart, and after the last. Milliseconds. */
const BETWEEN_MS = 5_000;

/**
 * Restarts one gateway after the other with the version of `command`, while the load goes on. `betweenRestarts` is called while the
 * versions of two gateways differ. What is wrong with the end of a process is added to the faults of its node.
 */
export async function rollTo(
  cluster: Cluster,
  command: readonly string[],
  betweenRestarts: () => Promise<void> = async () => {},
): Promise<void> {
  cluster.setCommand(command);
  for (const [index, { node }] of cluster.members.entries()) {
    await Bun.sleep(BETWEEN_MS);
    node.faults.push(...(await node.stopAtRest()));
    await node.start();
    if (index < cluster.members.length - 1) await betweenRestarts();
  }
  await Bun.sleep(BETWEEN_MS);
}
