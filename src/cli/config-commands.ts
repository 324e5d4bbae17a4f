import type { Command } from "commander";
import { loadConfig } from "../app/load-config.ts";
import { printConfig } from "../app/print-config.ts";

/** `gateway config print`: the configuration that results from file and environment. */
export function addConfigCommands(program: Command): void {
  const config = program.command("config").description("Inspect the configuration");
  config
    .command("print")
    .description("Print the configuration in force, with secrets masked")
    .action(() => {
      process.stdout.write(printConfig(loadConfig(process.env)));
    });
}
