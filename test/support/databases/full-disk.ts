import { closeSync, openSync, readdirSync, readlinkSync } from "node:fs";

/** Whether a full disk can be simulated on this system. */
export const CAN_FILL_DISK = process.platform === "linux";

/**
 * Makes a file that this process has open for appending behave as on a full disk: its
 * descriptor is replaced by one of `/dev/full`. The returned function restores it.
 */
export function fillDiskOf(file: string): () => void {
  const descriptor = findDescriptor(file);
  replace(descriptor, "/dev/full");
  return () => replace(descriptor, file);
}

/** Starts a command so that `setDiskFullOf` can fill the disk of its process: without it the system ends a process that exceeds its limit. */
export const WITH_FULL_DISK: readonly string[] = ["env", "--ignore-signal=XFSZ"];

/** Lets no file of another process grow, by its limit of a file's size, or lifts that limit. */
export function setDiskFullOf(pid: number, isFull: boolean): void {
  Bun.spawnSync(["prlimit", `--pid=${pid}`, `--fsize=${isFull ? "0" : "unlimited"}:unlimited`]);
}

function replace(descriptor: number, file: string): void {
  closeSync(descriptor);
  if (openSync(file, "a") !== descriptor) throw new Error(`another file has taken the place of ${file}`);
}

function findDescriptor(file: string): number {
  const found = readdirSync("/proc/self/fd")
    .map(Number)
    .find((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`) === file;
      } catch {
        return false;
      }
    });
  if (found === undefined) throw new Error(`${file} is not open`);
  return found;
}
