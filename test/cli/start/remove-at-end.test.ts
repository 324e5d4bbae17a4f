import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { removeAtEnd } from "../../../src/cli/operate/remove-at-end.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";

const MODULE = join(import.meta.dir, "../../../src/cli/operate/remove-at-end.ts");
let child: Bun.Subprocess | null = null;
afterEach(() => child?.kill("SIGKILL"));

function makeFolder(): string {
  const folder = join(makeTempFolder("gateway-end-"), "partial");
  mkdirSync(join(folder, "journal"), { recursive: true });
  return folder;
}

test("the folder of a command is removed when the command ends, and when it fails", async () => {
  const folder = makeFolder();
  expect(await removeAtEnd(folder, async () => "result")).toBe("result");
  expect(existsSync(folder)).toBe(false);
  mkdirSync(folder);
  await expect(removeAtEnd(folder, () => Promise.reject(new Error("full disk")))).rejects.toThrow(
    "full disk",
  );
  expect(existsSync(folder)).toBe(false);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "%s removes the folder of a running command, which ends with exit code %d",
  async (signal, exitCode) => {
    const folder = makeFolder();
    const script = `import { removeAtEnd } from ${JSON.stringify(MODULE)};
    removeAtEnd(${JSON.stringify(folder)}, () => {
      console.log("running");
      return new Promise((resolve) => setTimeout(resolve, 60_000));
    });`;
    const running = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
    child = running;
    await running.stdout.getReader().read();
    running.kill(signal);
    expect([await running.exited, existsSync(folder)]).toEqual([exitCode, false]);
  },
);
