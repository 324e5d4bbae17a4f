import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "../../test/support/servers/free-port.ts";
import type { Contestant } from "./contestant.ts";
import { find, INSTALLED, runStep, SOURCES, startProgram } from "./programs.ts";

const COMPILE_MS = 60_000;
const source = join(SOURCES, "byte-relay.c");
const program = join(INSTALLED, "byte-relay");

/** A relay in C that copies bytes and reads none of them: the least that a process in between can cost. */
export const byteRelay: Contestant = {
  name: "byte-relay",
  label: "byte relay in C",
  async prepare() {
    if (existsSync(program) && statSync(program).mtimeMs > statSync(source).mtimeMs) return;
    const compiler = find("cc", "install a C compiler (Debian: apt-get install gcc)");
    await runStep([compiler, "-O2", "-o", program, source], SOURCES, COMPILE_MS);
  },
  async start(upstreamPort) {
    const port = await findFreePort();
    const command = [program, String(port), String(upstreamPort)];
    // It forwards the question whether it is ready; the upstream has one path that it answers.
    return startProgram({ name: "byte-relay", command, port, readyPath: "/v1/models" });
  },
};
