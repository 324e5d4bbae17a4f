import { readdirSync, readlinkSync } from "node:fs";
import { boundSocketBuffer } from "../../base/socket-buffers.ts";

const DESCRIPTORS = "/proc/self/fd";

/**
 * Runs `listen`, and bounds what the system buffers towards each client of the sockets that it opens; the runtime does
 * not say which these are. `isBounded` is false where the system does not tell either.
 */
export function boundSendBuffers<Result>(
  bytes: number,
  listen: () => Result,
): { readonly result: Result; readonly isBounded: boolean } {
  const before = new Set(listSockets());
  const result = listen();
  const opened = listSockets().filter((descriptor) => !before.has(descriptor));
  const bounded = opened.filter((descriptor) => boundSocketBuffer(descriptor, "send", bytes));
  return { result, isBounded: bounded.length > 0 };
}

/** Descriptors of this process's sockets; none where the system does not list them. */
function listSockets(): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync(DESCRIPTORS).map(Number).filter(isSocket);
}

function isSocket(descriptor: number): boolean {
  try {
    return readlinkSync(`${DESCRIPTORS}/${descriptor}`).startsWith("socket:");
  } catch {
    // Closed again, as the one that listed them.
    return false;
  }
}
