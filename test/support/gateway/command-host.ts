/**
 * Runs `gateway` commands one after another in a process that is started once, because loading the program takes longer than
 * nearly all commands. The parent sends the command and its environment, and receives the result (`run-gateway.ts`).
 */
import { runCli } from "../../../src/cli/run-cli.ts";
import type { CommandRun, HostedCommand } from "./run-gateway.ts";

/** Runs one command as if the process were its own. */
async function runHosted({ args, folder, environment }: HostedCommand): Promise<CommandRun> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(folder);
  process.exitCode = 0;
  const printed = { stdout: "", stderr: "" };
  const writer = (stream: keyof typeof printed) => (text: string | Uint8Array) => {
    printed[stream] += typeof text === "string" ? text : Buffer.from(text).toString("utf8");
    return true;
  };
  process.stdout.write = writer("stdout");
  process.stderr.write = writer("stderr");
  console.log = (text: string) => void process.stdout.write(`${text}\n`);
  console.error = (text: string) => void process.stderr.write(`${text}\n`);
  return { exitCode: await runCli(args), ...printed };
}

let last: Promise<void> = Promise.resolve();
process.on("message", (command: HostedCommand) => {
  last = last.then(async () => void process.send?.(await runHosted(command)));
});
process.on("disconnect", () => process.exit(0));
