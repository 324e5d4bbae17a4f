import type { Command } from "commander";
import { loadConfig } from "../app/load-config.ts";
import { printConfig } from "../app/print-config.ts";

/** `gateway config print`: what the file and the environment come to. */
export function addConfigCommands(program: Command): void {
  const config = program.command("config").description("look at the configuration");
  config
    .command("print")
    .description("print the configuration in force, secrets masked")
    .action(() => {
      process.stdout.write(printConfig(loadConfig(process.env)));
    });
}
