import { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { ConfigError } from "../app/load-config.ts";
import { addAccountCommands } from "./account-commands.ts";
import { addAuditCommands } from "./audit-log-commands.ts";
import { addBackupCommands } from "./backup-commands.ts";
import { addBudgetCommands } from "./budget-commands.ts";
import { addCatalogCommands } from "./catalog-commands.ts";
import { addConfigCommands } from "./config-commands.ts";
import { addConsoleCommand } from "./console-command.ts";
import { addCreditCommands } from "./credit-commands.ts";
import { addDoctorCommand } from "./doctor-command.ts";
import { addDrainCommands } from "./drain-commands.ts";
import { limitTables } from "./format-table.ts";
import { addGatewayCommands } from "./gateway-commands.ts";
import { addHealthCommands } from "./health-commands.ts";
import { addIdentityCommands } from "./identity-commands.ts";
import { addImportCommands } from "./import-commands.ts";
import { addKeyCommands } from "./key-commands.ts";
import { addLedgerCommands } from "./ledger-commands.ts";
import { addMemberCommands } from "./member-commands.ts";
import { addMigrateCommand } from "./migrate-command.ts";
import { addNamedRouteCommands } from "./named-route-commands.ts";
import { addPromptLogCommand } from "./prompt-log-command.ts";
import { addProviderKeyCommands } from "./provider-key-commands.ts";
import { addReadyCommand } from "./ready-command.ts";
import { addReloadCommand } from "./reload-command.ts";
import { addRequestCommands } from "./request-commands.ts";
import { addSecretsCommands } from "./secrets-commands.ts";
import { addSessionCommands } from "./session-commands.ts";
import { addStartCommand } from "./start-command.ts";
import { addStorageCommands } from "./storage-commands.ts";
import { addTierCommands } from "./tier-commands.ts";
import { addUsageCommand } from "./usage-command.ts";
import { addWebhookCommands } from "./webhook-commands.ts";

/** Runs the `gateway` command. Returns the exit code: 0 for success, 1 for a failure, 2 for invalid arguments. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program: Command = new Command("gateway")
    .description("An AI gateway: one OpenAI-compatible HTTP API in front of many model providers.")
    .version(packageJson.version, "-V, --version", "Show the version")
    .helpOption("-h, --help", "Show the help")
    .option("--wide", "Do not cut tables to the width of the terminal")
    .hook("preAction", () => {
      const isCut = process.stdout.isTTY && program.opts<{ readonly wide?: true }>().wide !== true;
      limitTables(isCut ? process.stdout.columns : null);
    })
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  addCommands(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return reportError(error);
  }
}

/** Adds all commands. The help lists them in this order, by group. */
function addCommands(program: Command): void {
  program.commandsGroup("Gateway:");
  addStartCommand(program);
  addConsoleCommand(program);
  addHealthCommands(program);
  addDrainCommands(program);
  addWebhookCommands(program);
  addConfigCommands(program);
  addImportCommands(program);
  addReadyCommand(program);
  addDoctorCommand(program);
  addReloadCommand(program);
  addMigrateCommand(program);
  addCatalogCommands(program);
  addTierCommands(program);
  addNamedRouteCommands(program);
  addGatewayCommands(program);
  addStorageCommands(program);
  addBackupCommands(program);
  program.commandsGroup("Accounts and keys:");
  addKeyCommands(program);
  addAccountCommands(program, "user");
  addAccountCommands(program, "organization");
  addMemberCommands(program);
  addBudgetCommands(program);
  addProviderKeyCommands(program);
  addSecretsCommands(program);
  addSessionCommands(program);
  addIdentityCommands(program);
  program.commandsGroup("Credits and usage:");
  addCreditCommands(program);
  addLedgerCommands(program);
  addRequestCommands(program);
  addUsageCommand(program);
  program.commandsGroup("Logs:");
  addPromptLogCommand(program);
  addAuditCommands(program);
  program.commandsGroup("Help:").helpCommand("help [command]", "Show the help of a command");
}

function reportError(error: unknown): number {
  if (error instanceof Error && "exitCode" in error && "code" in error) {
    // Exit code 0 is --help and --version. Commander has printed what is wrong with the arguments otherwise.
    return error.exitCode === 0 ? 0 : 2;
  }
  const problems = error instanceof Error ? error.message : String(error);
  const heading = error instanceof ConfigError ? "Invalid configuration:\n" : "";
  console.error(`${heading}${problems}`);
  return 1;
}
