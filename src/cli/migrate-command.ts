import type { Command } from "commander";
import { loadConfig } from "../app/load-config.ts";
import { migrateStores, type StoreMigration } from "../app/open-stores.ts";
import { systemClock } from "../base/clock.ts";

/** `gateway migrate`: creates or changes the tables of the database. Gateways may be running on it. */
export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description(
      "Create or change the tables of the database as this version needs them. Each start does it as well. Gateways may be running, and several processes may do it at the same time",
    )
    .action(async () => {
      const config = loadConfig(process.env);
      console.log(formatMigration(await migrateStores(config, { clock: systemClock })));
    });
}

function formatMigration({ applied, location }: StoreMigration): string {
  if (applied.length === 0) return `${location} has all tables of this version: nothing to apply.`;
  return [`Applied to ${location}:`, ...applied.map((step) => `  ${step}`)].join("\n");
}
