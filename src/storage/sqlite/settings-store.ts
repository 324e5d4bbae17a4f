import type { Database } from "bun:sqlite";
import type { SettingsStore } from "../../core/settings/settings-store.ts";

/** Settings in SQLite. */
export function createSqliteSettingsStore(database: Database): SettingsStore {
  const insert = database.query(
    "INSERT INTO settings (name, value) VALUES ($name, $value) ON CONFLICT DO NOTHING",
  );
  const put = database.query(
    "INSERT INTO settings (name, value) VALUES ($name, $value) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const find = database.query<{ value: string }, [string]>("SELECT value FROM settings WHERE name = ?");
  return {
    async findSetting(name) {
      return find.get(name)?.value ?? null;
    },
    async addSetting(name, value) {
      return insert.run({ name, value }).changes === 1;
    },
    async putSetting(name, value) {
      put.run({ name, value });
    },
  };
}
