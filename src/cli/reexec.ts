import { ownCommand } from "./own-command.ts";

/** Milliseconds after which the runtime's allocator returns freed pages to the system. */
const PURGE_DELAY = "MIMALLOC_PURGE_DELAY";

/**
 * What the runtime reads from the environment before the program runs. `bin/gateway` sets the same
 * (docs/adr/0008-freed-pages-stay.md, docs/adr/0016-compiled-code-stays.md).
 */
export const RUNTIME_SETTINGS = {
  [PURGE_DELAY]: "10000",
  /** Milliseconds between two searches of an idle thread for free memory inside pages that are in use. */
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000",
  /** No collection drops compiled code: those of an idle program would, and the next requests would run in the interpreter. */
  BUN_JSC_forceCodeBlockLiveness: "true",
};

/**
 * Re-executes this program with the settings of the runtime that a gateway needs. Settings of the environment take precedence. Returns
 * if the allocator's delay is set already, and on systems without `execve`.
 */
export function reexecConfigured(process: NodeJS.Process, isExecutable = Bun.isStandaloneExecutable): void {
  const { env, execPath, argv, execve } = process;
  if (env[PURGE_DELAY] !== undefined || execve === undefined) return;
  const command = [...ownCommand(process, isExecutable), ...argv.slice(2)];
  execve(execPath, command, { ...RUNTIME_SETTINGS, ...env });
}
