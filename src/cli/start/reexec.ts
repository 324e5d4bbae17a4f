import { closeSync, openSync, readSync } from "node:fs";
import { ownCommand } from "./own-command.ts";

/** Milliseconds after which the runtime's allocator returns freed pages to the system. */
const PURGE_DELAY = "MIMALLOC_PURGE_DELAY";

/**
 * Settings that the runtime reads from the environment before the program runs. `bin/gateway` sets the same, and the copy settings
 * (docs/adr/0008-freed-pages-stay.md, docs/adr/0016-compiled-code-stays.md).
 */
export const RUNTIME_SETTINGS = {
  [PURGE_DELAY]: "10000",
  /** Milliseconds between two searches of an idle thread for free memory inside pages that are in use. */
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000",
  /** No collection drops compiled code. Otherwise those of an idle program would, and the next requests would run in the interpreter. */
  BUN_JSC_forceCodeBlockLiveness: "true",
};

/**
 * Settings that glibc reads on AMD processors: copies of 2 kB and more with vector instructions. By default it uses `rep movsb`, which Zen
 * 3 and 4 execute at a quarter of the speed for most addresses (docs/adr/0017-copies-on-amd.md).
 */
export const COPY_SETTINGS = { GLIBC_TUNABLES: "glibc.cpu.x86_rep_movsb_threshold=1073741824" };

/**
 * Re-executes this program with the settings of the runtime that a gateway needs. Settings of the environment take precedence. Returns
 * if the allocator's delay is set already, and on systems without `execve`.
 */
export function reexecConfigured(
  process: NodeJS.Process,
  isExecutable = Bun.isStandaloneExecutable,
  readProcessor = readFirstProcessor,
): void {
  const { env, execPath, argv, execve } = process;
  if (env[PURGE_DELAY] !== undefined || execve === undefined) return;
  const command = [...ownCommand(process, isExecutable), ...argv.slice(2)];
  execve(execPath, command, { ...settingsFor(readProcessor()), ...env });
}

/** Returns the settings for a processor that is described as in `/proc/cpuinfo`; by default the processor of this machine. */
export function settingsFor(processor = readFirstProcessor()): Readonly<Record<string, string>> {
  return processor.includes("AuthenticAMD") ? { ...RUNTIME_SETTINGS, ...COPY_SETTINGS } : RUNTIME_SETTINGS;
}

/** Enough for the vendor of the first processor. Reading the whole file takes long on machines with many processors. */
const PROCESSOR_BYTES = 256;

/** Returns the beginning of Linux's description of its processors; "" on other systems. */
function readFirstProcessor(): string {
  const bytes = Buffer.alloc(PROCESSOR_BYTES);
  try {
    const file = openSync("/proc/cpuinfo", "r");
    const length = readSync(file, bytes);
    closeSync(file);
    return bytes.toString("latin1", 0, length);
  } catch {
    return "";
  }
}
