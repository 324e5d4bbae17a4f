/** Returns the commit of this checkout, with `-dirty` if files have changed since; `null` without git or outside a checkout. */
export function readCommit(): string | null {
  const git = Bun.which("git");
  if (git === null) return null;
  const command = [git, "describe", "--always", "--dirty"];
  const { success, stdout } = Bun.spawnSync(command, { cwd: import.meta.dir, stderr: "ignore" });
  return success ? stdout.toString().trim() : null;
}
