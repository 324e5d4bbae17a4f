import type { SettingsStore } from "../../core/settings/settings-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { sql } from "./statements/statement.ts";

/** Settings by their names. */
export class SqlSettingsStore implements SettingsStore {
  constructor(private readonly database: SqlDatabase) {}

  async findSetting(name: string) {
    const find = sql<{ value: string }>`SELECT value FROM settings WHERE name = ${name}`;
    const [row] = await this.database.run(find);
    return row?.value ?? null;
  }

  async addSetting(name: string, value: string) {
    const added = await this.database.run(
      sql`INSERT INTO settings (name, value) VALUES (${name}, ${value}) ON CONFLICT DO NOTHING RETURNING name`,
    );
    return added.length === 1;
  }

  async putSetting(name: string, value: string) {
    await this.database.run(
      sql`INSERT INTO settings (name, value) VALUES (${name}, ${value})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    );
  }
}
