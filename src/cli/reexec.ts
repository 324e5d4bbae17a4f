import { ownCommand } from "./own-command.ts";

/** Milliseconds after which the runtime's allocator returns freed pages to the system; -1 for never. */
const PURGE_DELAY = "MIMALLOC_PURGE_DELAY";
const NEVER = "-1";

/**
 * Re-executes this program with an allocator that keeps freed pages (docs/adr/0008-freed-pages-stay.md). Returns if the delay is
 * set already, and on systems without `execve`.
 */
export function reexecKeepingPages(process: NodeJS.Process, isExecutable = Bun.isStandaloneExecutable): void {
  const { env, execPath, argv, execve } = process;
  if (env[PURGE_DELAY] !== undefined || execve === undefined) return;
  const command = [...ownCommand(process, isExecutable), ...argv.slice(2)];
  execve(execPath, command, { ...env, [PURGE_DELAY]: NEVER });
}
