import { describe, expect, test } from "bun:test";
import { COPY_SETTINGS, RUNTIME_SETTINGS, reexecConfigured } from "../../../src/cli/start/reexec.ts";

type Execution = [file: string, args: readonly string[], env: NodeJS.ProcessEnv];

const SETTINGS = {
  MIMALLOC_PURGE_DELAY: "10000",
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000",
  BUN_JSC_forceCodeBlockLiveness: "true",
};

const INTEL = () => "processor\t: 0\nvendor_id\t: GenuineIntel\n";
const AMD = () => "processor\t: 0\nvendor_id\t: AuthenticAMD\n";

/** Creates a process that records the calls of `execve`. */
function createProcess(env: NodeJS.ProcessEnv, hasExecve = true) {
  const executions: Execution[] = [];
  const execve = hasExecve ? (...execution: Execution) => executions.push(execution) : undefined;
  const argv = ["/bin/bun", "/gateway/src/main.ts", "start"];
  const process = { env, execPath: "/bin/bun", execArgv: ["--smol"], argv, execve };
  return { process: process as unknown as NodeJS.Process, executions };
}

describe("re-execution", () => {
  test("the program executes itself with the same arguments and the settings of the runtime", () => {
    const { process, executions } = createProcess({ HOME: "/root" });
    reexecConfigured(process, false, INTEL);
    const command = ["/bin/bun", "--smol", "/gateway/src/main.ts", "start"];
    expect(executions).toEqual([["/bin/bun", command, { HOME: "/root", ...SETTINGS }]]);
  });

  test("a single executable executes itself without the name that its program has inside", () => {
    const { process, executions } = createProcess({});
    const argv = ["bun", "/$bunfs/root/gateway", "start", "--open"];
    reexecConfigured({ ...process, execPath: "/usr/local/bin/gateway", execArgv: [], argv }, true, INTEL);
    const command = ["/usr/local/bin/gateway", "start", "--open"];
    expect(executions).toEqual([["/usr/local/bin/gateway", command, SETTINGS]]);
  });

  test("settings of the environment take precedence over those of a re-execution", () => {
    const { process, executions } = createProcess({ BUN_JSC_forceCodeBlockLiveness: "false" });
    reexecConfigured(process, false, INTEL);
    expect(executions[0]?.[2]).toEqual({ ...SETTINGS, BUN_JSC_forceCodeBlockLiveness: "false" });
  });

  test("on a processor of AMD, glibc gets a setting for copies, unless the environment has one", () => {
    const { process, executions } = createProcess({});
    reexecConfigured(process, false, AMD);
    expect(executions[0]?.[2]).toEqual({ ...SETTINGS, ...COPY_SETTINGS });
    const own = createProcess({ GLIBC_TUNABLES: "glibc.malloc.check=1" });
    reexecConfigured(own.process, false, AMD);
    expect(own.executions[0]?.[2]).toEqual({ ...SETTINGS, GLIBC_TUNABLES: "glibc.malloc.check=1" });
  });

  test("a program whose environment sets the allocator's delay is not re-executed", () => {
    for (const delay of ["-1", "10", ""]) {
      const { process, executions } = createProcess({ MIMALLOC_PURGE_DELAY: delay });
      reexecConfigured(process);
      expect(executions).toEqual([]);
    }
  });

  test("a program on a system without execve continues unchanged", () => {
    const { process, executions } = createProcess({}, false);
    reexecConfigured(process);
    expect(executions).toEqual([]);
  });

  test("the runtime knows its settings, and does not start with one that it does not know", () => {
    const start = (env: Readonly<Record<string, string>>) =>
      Bun.spawnSync([process.execPath, "-e", "console.log('started')"], { env }).stdout.toString();
    expect(start(RUNTIME_SETTINGS)).toBe("started\n");
    expect(start({ BUN_JSC_unknown: "true" })).toBe("");
  });
});
