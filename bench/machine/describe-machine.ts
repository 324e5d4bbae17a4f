import { cpus, release } from "node:os";
import { ROOT } from "./folders.ts";
import { describePinning } from "./processes.ts";

/** Returns the processor, the runtime and the pinning in one line. */
export function describeMachine(): string {
  const model = cpus()[0]?.model ?? "unknown processor";
  return `${model}, ${cpus().length} cores, Linux ${release()}, Bun ${Bun.version}; ${describePinning()}`;
}

/** Returns the commit of this checkout, with `-dirty` if files have changed since; `null` without git or outside a checkout. */
export function readCommit(): string | null {
  const git = Bun.which("git");
  if (git === null) return null;
  const command = [git, "describe", "--always", "--dirty"];
  const { success, stdout } = Bun.spawnSync(command, { cwd: ROOT, stderr: "ignore" });
  return success ? stdout.toString().trim() : null;
}

/** Returns the version of the Node.js that Portkey runs on, or `null`. */
export function readNodeVersion(): string | null {
  const node = Bun.which("node");
  return node === null ? null : Bun.spawnSync([node, "--version"]).stdout.toString().trim();
}

/** Returns a moment as a part of the name of a file. */
export function nameMoment(moment: Date): string {
  return moment.toISOString().replaceAll(":", "-").slice(0, 19);
}
