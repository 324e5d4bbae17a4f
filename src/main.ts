import { keepPages } from "./cli/keep-pages.ts";

const words = process.argv.slice(2);
if (words[0] === "start") keepPages(process);
// Only now, for none of it is of use to a program that is about to be replaced.
const { runCli } = await import("./cli/run-cli.ts");
process.exitCode = await runCli(words);
