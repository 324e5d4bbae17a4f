import type { SettingsStore } from "../../core/settings/settings-store.ts";
import type { SqlRunner } from "./client.ts";

/** Settings in PostgreSQL. */
export class PostgresSettingsStore implements SettingsStore {
  constructor(private readonly database: SqlRunner) {}

  async findSetting(name: string) {
    const [row] = await this.database.run<{ value: string }>("SELECT value FROM settings WHERE name = $1", [
      name,
    ]);
    return row?.value ?? null;
  }

  async addSetting(name: string, value: string) {
    const added = await this.database.run(
      "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING name",
      [name, value],
    );
    return added.length === 1;
  }

  async putSetting(name: string, value: string) {
    await this.database.run(
      "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      [name, value],
    );
  }
}
