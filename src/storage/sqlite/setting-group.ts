import type { Database } from "bun:sqlite";

/** Where the settings of a group are. */
export interface SettingGroupNames {
  /** The beginning of their names, which ends with a space. */
  readonly prefix: string;
  /** The name of the setting that counts the changes of the group. */
  readonly revision: string;
}

/** Settings whose names have the same beginning. Every change raises their revision in the same transaction. */
export class SettingGroup {
  private readonly findRevision;
  /** The names of the group sort before it: `!` follows the space at the end of their beginning. */
  private readonly after: string;

  constructor(
    private readonly database: Database,
    private readonly names: SettingGroupNames,
  ) {
    this.findRevision = database.query<{ value: string }, [string]>(
      "SELECT value FROM settings WHERE name = ?",
    );
    this.after = `${names.prefix.slice(0, -1)}!`;
  }

  revision(): number {
    return Number(this.findRevision.get(this.names.revision)?.value ?? 0);
  }

  /** Returns the values in the order of their names. */
  list(): readonly string[] {
    return this.database
      .query<{ value: string }, [string, string]>(
        "SELECT value FROM settings WHERE name >= ? AND name < ? ORDER BY name",
      )
      .all(this.names.prefix, this.after)
      .map(({ value }) => value);
  }

  put(name: string, value: string): void {
    this.change(() => this.database.query(PUT).run(this.names.prefix + name, value));
  }

  /** Returns false if there was no such setting. */
  delete(name: string): boolean {
    return this.change(() => this.database.query(DELETE).run(this.names.prefix + name)).changes === 1;
  }

  private change<Result>(work: () => Result): Result {
    const change = this.database.transaction(() => {
      this.database.query(RAISE).run(this.names.revision);
      return work();
    });
    return change.immediate();
  }
}

const PUT =
  "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value";
const DELETE = "DELETE FROM settings WHERE name = ?";
const RAISE = "INSERT INTO settings (name, value) VALUES (?, 1) ON CONFLICT DO UPDATE SET value = value + 1";
