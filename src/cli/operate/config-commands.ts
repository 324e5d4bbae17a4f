import type { Command } from "commander";
import { loadConfig } from "../../app/config/load-config.ts";
import { printConfig } from "../../app/config/print-config.ts";
import { print } from "../render/print.ts";
import { declareStoredConfigCommands } from "../resources/platform/stored-config.ts";
import { addConfigCheck } from "./config-check.ts";

/** `gateway config`: what is stored, and what results from file and environment. */
export function declareConfigCommands(config: Command): void {
  declareStoredConfigCommands(config);
  addConfigCheck(config);
  config
    .command("print")
    .description("Print the configuration of file and environment, with secrets masked")
    .action(() => {
      print(printConfig(loadConfig(process.env)).trimEnd());
    });
}
