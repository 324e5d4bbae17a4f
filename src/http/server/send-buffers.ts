import { readdirSync, readlinkSync } from "node:fs";
import { boundSocketBuffer } from "../../base/network/socket-buffers.ts";

const DESCRIPTORS = "/proc/self/fd";

/**
 * Runs `listen` and sets the send buffer size of the sockets that it opens. Accepted connections inherit the size. The runtime does not
 * expose these sockets, so they are found among the file descriptors of the process. `isBounded` is false on systems that do not list them.
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

/** Returns the file descriptors of the sockets of this process; none on systems that do not list them. */
function listSockets(): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync(DESCRIPTORS).map(Number).filter(isSocket);
}

function isSocket(descriptor: number): boolean {
  try {
    return readlinkSync(`${DESCRIPTORS}/${descriptor}`).startsWith("socket:");
  } catch {
    // The descriptor was closed in the meantime, such as the one of the directory listing.
    return false;
  }
}
