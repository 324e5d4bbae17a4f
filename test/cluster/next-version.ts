import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIGRATIONS } from "../../src/storage/postgres/migrations/list.ts";
import { MIGRATIONS as SQLITE_MIGRATIONS } from "../../src/storage/sqlite/migrations/list.ts";
import type { SqliteMigration } from "../../src/storage/sqlite/migrations/migration.ts";

/** A copy of this program with a newer schema. */
export interface NextVersion {
  /** The command that operators run. */
  readonly command: readonly string[];
  /** The names of the steps of its schema of PostgreSQL. */
  readonly steps: readonly string[];
  remove(): void;
}

const ROOT = join(import.meta.dir, "../..");
const COPIED = ["bin", "src", "catalog", "package.json", "package-lock.json", "tsconfig.json"];

/**
 * Makes the version that follows this one: the same program with one more migration of each database, which adds columns, a table and an
 * index, as the first step of a change in two steps does. This version works on its tables.
 */
export function makeNextVersion(): NextVersion {
  const dir = mkdtempSync(join(tmpdir(), "gateway-next-version-"));
  for (const name of COPIED) cpSync(join(ROOT, name), join(dir, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(dir, "node_modules"));
  addStep(join(dir, "src/storage/postgres/migrations/list.ts"), NEXT_STEP);
  addStep(join(dir, "src/storage/sqlite/migrations/list.ts"), NEXT_SQLITE_STEP);
  return {
    command: [join(dir, "bin/gateway")],
    steps: [...MIGRATIONS, NEXT_STEP].map(({ name }) => name),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Adds a step to the list at the end of a file. */
function addStep(file: string, step: object): void {
  const text = readFileSync(file, "utf8");
  const changed = text.replace(/,?\s*\];\s*$/, `, ${JSON.stringify(step)}];\n`);
  if (changed === text) throw new Error(`${file} has no list of migrations at its end`);
  writeFileSync(file, changed);
}

const NEXT_SQLITE_STEP: SqliteMigration = {
  oldestVersion: SQLITE_MIGRATIONS.length,
  sql: `
    CREATE TABLE next_version (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
    ALTER TABLE accounts ADD COLUMN next_note TEXT;
    ALTER TABLE api_keys ADD COLUMN next_note TEXT;
    ALTER TABLE generations ADD COLUMN next_note TEXT;
    ALTER TABLE transfers ADD COLUMN next_note TEXT;
    ALTER TABLE usage_sums ADD COLUMN next_sum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE balances ADD COLUMN next_sum INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX accounts_next ON accounts (created_at);`,
};

const NEXT_STEP = {
  name: `${String(MIGRATIONS.length + 1).padStart(4, "0")}-next-version`,
  oldestVersion: MIGRATIONS.length,
  sql: `
    CREATE TABLE next_version (id bigint PRIMARY KEY, name text NOT NULL);
    ALTER TABLE generations ADD COLUMN next_note text;
    ALTER TABLE charges ADD COLUMN next_note text;
    ALTER TABLE balances ADD COLUMN next_sum bigint NOT NULL DEFAULT 0;
    CREATE INDEX spending_next ON spending (leased);`,
};
