import { Command } from "commander";
import { COMMAND_GROUPS } from "../../src/cli/commands.ts";
import { EXIT_CODES } from "../../src/cli/render/exit-codes.ts";
import type { Entry } from "./entry.ts";

/** Lists every command with its arguments and options, and the exit codes of the program. */
export async function listCommands(): Promise<readonly Entry[]> {
  const entries: Entry[] = Object.entries(EXIT_CODES).map(([meaning, code]) => ({
    path: [`exit code ${code}`],
    value: meaning,
  }));
  for (const { commands } of COMMAND_GROUPS)
    for (const { term, load } of commands) {
      const command = new Command(term.split(" ", 1).join());
      (await load())(command);
      entries.push(...listCommand(command, []));
    }
  return entries;
}

function* listCommand(command: Command, parents: readonly string[]): Generator<Entry> {
  const names = [...parents, command.name()];
  const name = names.join(" ");
  if (command.commands.length === 0) {
    yield { path: [name], value: command.registeredArguments.map(formatArgument).join(" ") };
    for (const option of command.options) {
      const { flags, mandatory, defaultValue, argChoices } = option;
      const details = [
        ...(mandatory ? ["required"] : []),
        ...(argChoices === undefined ? [] : [`one of ${argChoices.join(", ")}`]),
        ...(defaultValue === undefined ? [] : [`default ${JSON.stringify(defaultValue)}`]),
      ];
      yield { path: [name, flags], value: details.join(", ") };
    }
  }
  for (const part of command.commands) yield* listCommand(part, names);
}

function formatArgument(argument: {
  name(): string;
  readonly required: boolean;
  readonly variadic: boolean;
}) {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}
