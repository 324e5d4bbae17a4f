import type { SqlDatabase } from "./database.ts";
import { Revision } from "./revision.ts";
import { sql } from "./statement.ts";

/** Where the settings of a group are. */
interface SettingGroupNames {
  /** The beginning of their names. */
  readonly prefix: string;
  /** The revision of the group, which exists from its first change on. */
  readonly revision: "drains";
}

/** Settings whose names have the same beginning. Every change raises their revision in the same transaction. */
export class SettingGroup {
  private readonly group: Revision;
  private readonly prefix: string;

  constructor(
    private readonly database: SqlDatabase,
    { prefix, revision }: SettingGroupNames,
  ) {
    this.prefix = prefix;
    this.group = new Revision(database, revision);
  }

  revision(): Promise<number> {
    return this.group.read();
  }

  /** Returns the values in the order of their names. */
  async list(): Promise<readonly string[]> {
    const rows = await this.database.run(
      sql<{ name: string; value: string }>`SELECT name, value FROM settings
        WHERE substr(name, 1, ${this.prefix.length}::integer) = ${this.prefix}`,
    );
    return [...rows].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ value }) => value);
  }

  async put(name: string, value: string): Promise<void> {
    const put = sql`INSERT INTO settings (name, value) VALUES (${this.prefix + name}, ${value})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
    await this.group.change(() => put);
  }

  /** Returns false if there was no such setting. */
  async delete(name: string): Promise<boolean> {
    const remove = sql`DELETE FROM settings WHERE name = ${this.prefix + name} RETURNING name`;
    return (await this.group.change(() => remove)).length === 1;
  }
}
