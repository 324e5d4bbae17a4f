import type { Command } from "commander";
import { getPromptLogEntry } from "../../../http/routes/traffic/admin-prompt-log.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommand } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { formatFields } from "../../render/format-table.ts";

/** `gateway prompt-log <id>`: shows the stored bodies of a generation. */
export function declarePromptLogCommand(command: Command): void {
  declareCommand(
    command,
    defineCommand({
      name: "prompt-log",
      endpoint: getPromptLogEntry,
      args: [ARGUMENTS.generation],
      show: ({ data }) => formatFields(data),
    }),
  );
}
