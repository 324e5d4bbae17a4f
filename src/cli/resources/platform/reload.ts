import type { Command } from "commander";
import { reloadSettings } from "../../../http/routes/platform/admin-settings.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommand } from "../../endpoint/declare-command.ts";
import { tableOf } from "../../render/columns.ts";

/** A reload waits for all processes of the gateway. Milliseconds. */
const TIMEOUT_MS = 120_000;

/** `gateway reload`: puts the changes of the configuration file in force at the running gateway. */
export function declareReloadCommand(command: Command): void {
  declareCommand(
    command,
    defineCommand({
      name: "reload",
      endpoint: reloadSettings,
      options: [
        { flags: "--dry-run", help: "Show what would change, without changing it", field: "dry_run" },
      ],
      examples: ["gateway reload --dry-run", "gateway reload"],
      timeoutMs: TIMEOUT_MS,
      show: ({ data: { applied, changes } }) =>
        tableOf(
          [
            ["setting", "name"],
            ["before", "before", (value, change) => printValue(value, change["is_secret"] === true)],
            ["after", "after", (value, change) => printAfter(value, change["is_secret"] === true)],
            [
              "takes effect",
              "needs_restart",
              (waits) => (waits === true ? "after a restart" : applied ? "in force" : "on reload"),
            ],
          ],
          "The configuration has not changed.",
        )({ data: changes }),
    }),
  );
}

function printValue(value: unknown, isSecret: boolean): string {
  if (value === null) return "–";
  return isSecret ? "a secret" : JSON.stringify(value);
}

function printAfter(value: unknown, isSecret: boolean): string {
  return isSecret ? `${printValue(value, true)} (changed)` : printValue(value, false);
}
