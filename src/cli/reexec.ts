import { ownCommand } from "./own-command.ts";

/** Milliseconds after which the runtime's allocator returns freed pages to the system. */
const PURGE_DELAY = "MIMALLOC_PURGE_DELAY";
/** Milliseconds between two searches of an idle thread for free memory inside pages that are in use. */
const SEARCH_INTERVAL = "MIMALLOC_PURGE_HOLES_MIN_INTERVAL";
const TEN_SECONDS = "10000";

/**
 * Re-executes this program with an allocator that keeps freed pages for ten seconds (docs/adr/0008-freed-pages-stay.md). Returns if
 * the delay is set already, and on systems without `execve`.
 */
export function reexecKeepingPages(process: NodeJS.Process, isExecutable = Bun.isStandaloneExecutable): void {
  const { env, execPath, argv, execve } = process;
  if (env[PURGE_DELAY] !== undefined || execve === undefined) return;
  const command = [...ownCommand(process, isExecutable), ...argv.slice(2)];
  execve(execPath, command, { [SEARCH_INTERVAL]: TEN_SECONDS, ...env, [PURGE_DELAY]: TEN_SECONDS });
}
