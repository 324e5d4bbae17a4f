import { Command, Help } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { ConfigError } from "../app/config/config-error.ts";
import { COMMAND_GROUPS, type ListedCommand } from "./commands.ts";
import { EXIT_CODES } from "./render/exit-codes.ts";
import { limitTables } from "./render/format-table.ts";
import { printProblem, write, writeResult } from "./render/print.ts";

/** Runs the `gateway` command. Returns its exit code (`EXIT_CODES`). */
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
    .configureOutput({
      writeOut: writeResult,
      writeErr: (text) => write(text),
    })
    .exitOverride();
  try {
    await addCommands(program, nameCommand(args));
    await program.parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? EXIT_CODES.done);
  } catch (error) {
    return reportError(error);
  }
}

/** Returns the name of the command that runs, or whose help is shown. The options before it have no values. */
function nameCommand(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((word) => !word.startsWith("-"));
  return first === "help" ? second : first;
}

/**
 * Adds all commands in the order of the help. Loads only the code of the command `name`, because loading all of them takes longer than most
 * commands.
 */
async function addCommands(program: Command, name: string | undefined): Promise<void> {
  const terms = new Map<Command, string>();
  program.configureHelp({
    showGlobalOptions: true,
    subcommandTerm: (command) => terms.get(command) ?? Help.prototype.subcommandTerm(command),
  });
  for (const { heading, commands } of COMMAND_GROUPS) {
    program.commandsGroup(heading);
    for (const listed of commands) {
      const command = program.command(nameOf(listed)).description(listed.description);
      terms.set(command, listed.term);
      if (command.name() === name) (await listed.load())(command);
    }
  }
  program.commandsGroup("Help:").helpCommand("help [command]", "Show the help of a command");
}

function nameOf({ term }: ListedCommand): string {
  return term.split(" ", 1).join();
}

function reportError(error: unknown): number {
  if (error instanceof Error && "exitCode" in error && "code" in error) {
    // Exit code 0 is --help and --version. Commander has printed what is wrong with the arguments otherwise.
    return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.invalidArguments;
  }
  const problems = error instanceof Error ? error.message : String(error);
  const heading = error instanceof ConfigError ? "Invalid configuration:\n" : "";
  printProblem(`${heading}${problems}`);
  return EXIT_CODES.failed;
}
