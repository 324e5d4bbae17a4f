import { expect, test } from "bun:test";
import { keepPages } from "../../src/cli/keep-pages.ts";

type Replacement = [file: string, args: readonly string[], env: NodeJS.ProcessEnv];

/** A process as `keepPages` sees it, which notes by what it would have been replaced. */
function createProcess(env: NodeJS.ProcessEnv, canReplace = true) {
  const replaced: Replacement[] = [];
  const execve = canReplace ? (...replacement: Replacement) => replaced.push(replacement) : undefined;
  const argv = ["/bin/bun", "/gateway/src/main.ts", "start"];
  const process = { env, execPath: "/bin/bun", execArgv: ["--smol"], argv, execve };
  return { process: process as unknown as NodeJS.Process, replaced };
}

test("the program takes its own place, the allocator told to keep its pages", () => {
  const { process, replaced } = createProcess({ HOME: "/root" });
  keepPages(process);
  const command = ["/bin/bun", "--smol", "/gateway/src/main.ts", "start"];
  expect(replaced).toEqual([["/bin/bun", command, { HOME: "/root", MIMALLOC_PURGE_DELAY: "-1" }]]);
});

test("whoever has set the allocator's delay is left alone, so it happens once", () => {
  for (const delay of ["-1", "10", ""]) {
    const { process, replaced } = createProcess({ MIMALLOC_PURGE_DELAY: delay });
    keepPages(process);
    expect(replaced).toEqual([]);
  }
});

test("a system that cannot replace a program goes on as it is", () => {
  const { process, replaced } = createProcess({}, false);
  keepPages(process);
  expect(replaced).toEqual([]);
});
