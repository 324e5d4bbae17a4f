import type { Command } from "commander";
import { loadConfig } from "../../app/config/load-config.ts";
import { migrateStores, type StoreMigration } from "../../app/stores/open-stores.ts";
import { systemClock } from "../../base/time/clock.ts";
import { print } from "../render/print.ts";

/** `gateway migrate`: creates or changes the tables of the database. Gateways may be running on it. */
export function declareMigrateCommand(command: Command): void {
  command.action(async () => {
    const config = loadConfig(process.env);
    print(formatMigration(await migrateStores(config, { clock: systemClock })));
  });
}

function formatMigration({ applied, location }: StoreMigration): string {
  if (applied.length === 0) return `${location} has all tables of this version: nothing to apply.`;
  return [`Applied to ${location}:`, ...applied.map((step) => `  ${step}`)].join("\n");
}
