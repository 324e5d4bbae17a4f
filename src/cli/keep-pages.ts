/** Milliseconds after which the runtime's allocator gives freed pages back to the system; -1: never. */
const PURGE_DELAY = "MIMALLOC_PURGE_DELAY";
const NEVER = "-1";

/**
 * Puts this program in its own place once more, with an allocator that keeps the pages it has freed
 * (docs/adr/0008-freed-pages-stay.md). Comes back where the delay is set already, and where the system cannot do it.
 */
export function keepPages({ env, execPath, execArgv, argv, execve }: NodeJS.Process): void {
  if (env[PURGE_DELAY] !== undefined || execve === undefined) return;
  execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, [PURGE_DELAY]: NEVER });
}
