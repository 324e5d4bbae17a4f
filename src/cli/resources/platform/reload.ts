import type { Command } from "commander";
import { reloadSettings } from "../../../http/routes/platform/admin-settings.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommand } from "../../endpoint/declare-command.ts";
import { showChanges } from "./show-changes.ts";

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
      show: ({ data: { applied, changes } }) => showChanges(changes, applied ? "in force" : "on reload"),
    }),
  );
}
