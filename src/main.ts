import packageJson from "../package.json" with { type: "json" };
import { reexecConfigured } from "./cli/start/reexec.ts";

const args = process.argv.slice(2);
if (args[0] === "start") reexecConfigured(process);
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  // Scripts ask for the version often, and loading all commands takes most of the time of a short one.
  console.log(packageJson.version);
} else {
  // Imported late, because a program that is re-executed does not need it.
  void import("./cli/run-cli.ts").then(async ({ runCli }) => {
    process.exitCode = await runCli(args);
  });
}
