import { existsSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const IN_MEMORY = "/dev/shm";
/** What all folders that exist at the same time may need. */
const MEMORY_BYTES = 4 * 1024 ** 3;

/**
 * Returns where tests create folders: in memory if there is room, where a commit does not wait for a disk. What a killed process has
 * written is still there, as it is on a disk: only a machine that loses power would show the difference.
 */
export function findTempRoot(): string {
  return hasRoom() ? IN_MEMORY : tmpdir();
}

function hasRoom(): boolean {
  if (!existsSync(IN_MEMORY) || forbidsPrograms()) return false;
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return bavail * bsize >= MEMORY_BYTES;
}

/** Returns whether files there cannot be executed, as in some containers. Some tests put programs into their folders. */
function forbidsPrograms(): boolean {
  const mount = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .find((line) => line.split(" ")[1] === IN_MEMORY);
  return mount === undefined || /\bnoexec\b/.test(mount);
}
