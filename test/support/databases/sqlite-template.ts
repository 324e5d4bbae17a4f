import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  DATABASE_FILES,
  GATEWAY_FILE,
  migrateDataDir,
} from "../../../src/storage/sqlite/connection/database.ts";
import { makeTempFolder } from "../temp-folder.ts";

/** The folder with the databases. Made by the first test of a file that needs it, and removed with its other folders. */
let template: string | null = null;

/**
 * Puts empty databases with all tables into a data directory that has none, as copies of those that were migrated once. Gateways that
 * start on it find nothing to migrate, and tests start a gateway each.
 */
export function copyMigratedDatabase(dataDir: string): void {
  if (existsSync(join(dataDir, GATEWAY_FILE.name))) return;
  if (template === null || !existsSync(template)) {
    template = makeTempFolder("gateway-template-");
    migrateDataDir(template);
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  for (const { name } of DATABASE_FILES) copyFileSync(join(template, name), join(dataDir, name));
}
