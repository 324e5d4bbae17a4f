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
