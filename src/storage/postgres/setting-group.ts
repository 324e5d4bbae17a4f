import type { Postgres, SqlRunner } from "./client.ts";
import type { KnownRevisions } from "./revision.ts";
import { readInteger } from "./values.ts";

/** Where the settings of a group are. */
export interface SettingGroupNames {
  /** The beginning of their names. */
  readonly prefix: string;
  /** The revision of the group, which exists from its first change on. */
  readonly revision: "tiers" | "drains";
}

/** Settings whose names have the same beginning. Every change raises their revision in the same transaction. */
export class SettingGroup {
  /** `known` answers for the database, if a process reads all revisions at once. */
  constructor(
    private readonly database: Postgres,
    private readonly names: SettingGroupNames,
    private readonly known?: KnownRevisions,
  ) {}

  async revision(): Promise<number> {
    // All revisions are read at once, and that of the catalog always exists.
    if ((this.known?.revisionOf("catalog") ?? null) !== null)
      return this.known?.revisionOf(this.names.revision) ?? 0;
    const [row] = await this.database.run<{ revision: string }>(
      "SELECT revision FROM revisions WHERE name = $1",
      [this.names.revision],
    );
    return row === undefined ? 0 : readInteger(row.revision);
  }

  /** Returns the values in the order of their names. */
  async list(): Promise<readonly string[]> {
    const rows = await this.database.run<{ value: string }>(
      `SELECT value FROM settings WHERE starts_with(name, $1) ORDER BY name COLLATE "C"`,
      [this.names.prefix],
    );
    return rows.map(({ value }) => value);
  }

  async put(name: string, value: string): Promise<void> {
    await this.change((sql) =>
      sql.run(
        "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [this.names.prefix + name, value],
      ),
    );
  }

  /** Returns false if there was no such setting. */
  async delete(name: string): Promise<boolean> {
    const rows = await this.change((sql) =>
      sql.run("DELETE FROM settings WHERE name = $1 RETURNING name", [this.names.prefix + name]),
    );
    return rows.length === 1;
  }

  private change<Result>(work: (sql: SqlRunner) => Promise<Result>): Promise<Result> {
    return this.database.transaction(async (sql) => {
      await sql.run(
        "INSERT INTO revisions (name, revision) VALUES ($1, 1) ON CONFLICT (name) DO UPDATE SET revision = revisions.revision + 1",
        [this.names.revision],
      );
      return work(sql);
    });
  }
}
