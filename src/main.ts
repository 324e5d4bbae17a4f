import { reexecKeepingPages } from "./cli/reexec.ts";

const args = process.argv.slice(2);
if (args[0] === "start") reexecKeepingPages(process);
// Imported late, because a program that is re-executed does not need it.
const { runCli } = await import("./cli/run-cli.ts");
process.exitCode = await runCli(args);
