import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { migrateDataDir } from "../../../src/storage/sqlite/connection/database.ts";
import { makeTempFolder } from "../temp-folder.ts";

const FILE = "gateway.db";

/** Made by the first test of a file that needs it, and removed with its other folders. */
let template: string | null = null;

/**
 * Puts an empty database with all tables into a data directory that has none, as a copy of one that was migrated once. Gateways that
 * start on it find nothing to migrate, and tests start a gateway each.
 */
export function copyMigratedDatabase(dataDir: string): void {
  const file = join(dataDir, FILE);
  if (existsSync(file)) return;
  if (template === null || !existsSync(template)) {
    const folder = makeTempFolder("gateway-template-");
    migrateDataDir(folder);
    template = join(folder, FILE);
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  copyFileSync(template, file);
}
