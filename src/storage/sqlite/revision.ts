import type { Database } from "bun:sqlite";

/** A number in the settings that rises with every change of some tables, so that other processes notice the change. */
export class Revision {
  private readonly find;
  private readonly increment;

  /** `name` is a setting that a migration has created. */
  constructor(
    database: Database,
    private readonly name:
      | "account_revision"
      | "key_revision"
      | "provider_key_revision"
      | "named_route_revision",
  ) {
    this.find = database.query<{ value: string }, [string]>("SELECT value FROM settings WHERE name = ?");
    this.increment = database.query("UPDATE settings SET value = value + 1 WHERE name = ?");
  }

  read(): number {
    return Number(this.find.get(this.name)?.value);
  }

  /** Raises the revision, in the transaction of the change. */
  raise(): void {
    this.increment.run(this.name);
  }
}
