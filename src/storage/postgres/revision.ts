import type { ChangedRows } from "../../core/accounts/stores/follow-changes.ts";
import type { Postgres, SqlRunner } from "./client.ts";
import { readInteger } from "./values.ts";

/** Rows that one reading returns. If more have changed, everything is read again. */
const MAX_CHANGED = 1_000;

const LIST_CHANGED = `SELECT place, id FROM changed_rows WHERE name = $1 AND place >= $2::bigint
  ORDER BY place LIMIT ${MAX_CHANGED + 2}`;

interface ChangedRow {
  readonly place: string;
  readonly id: string;
}

/** The groups of tables that have a revision. */
export type RevisionName =
  | "accounts"
  | "keys"
  | "provider_keys"
  | "catalog"
  | "tiers"
  | "drains"
  | "named_routes";

/** Revisions that were read for all caches at once. */
export interface KnownRevisions {
  /** Returns the revision at the last reading; null before the first. */
  revisionOf(name: RevisionName): number | null;
}

/**
 * A number that rises with every change of a group of tables, so that other processes notice the change. Its row is also the lock
 * of the group: what a change reads, no other process changes until it ends, as with the write lock of SQLite.
 */
export class Revision {
  /** `known` answers for the database, if a process reads all revisions at once. */
  constructor(
    private readonly database: Postgres,
    private readonly name: RevisionName,
    private readonly known?: KnownRevisions,
  ) {}

  async read(): Promise<number> {
    const known = this.known?.revisionOf(this.name) ?? null;
    if (known !== null) return known;
    const [row] = await this.database.run<{ revision: string }>(
      "SELECT revision FROM revisions WHERE name = $1",
      [this.name],
    );
    return readInteger(row?.revision ?? "");
  }

  /** Returns which rows of the group have changed since an earlier reading. */
  async listChanged(cursor: string | null): Promise<ChangedRows> {
    const rows =
      cursor === null ? [] : await this.database.run<ChangedRow>(LIST_CHANGED, [this.name, cursor]);
    const [seen, ...since] = rows;
    // Without the row that was seen last, others may be gone too.
    if (seen?.place === cursor && since.length <= MAX_CHANGED)
      return { ids: since.map(({ id }) => id), cursor: since.at(-1)?.place ?? cursor };
    const [last] = await this.database.run<{ place: string | null }>(
      "SELECT max(place) AS place FROM changed_rows WHERE name = $1",
      [this.name],
    );
    return { ids: null, cursor: last?.place ?? null };
  }

  /**
   * Runs `work` in one transaction, which no other change of the group overlaps, and raises the revision if `hasChanged` of its
   * result, by default always. Returns what `work` returns.
   */
  change<Result>(
    work: (sql: SqlRunner) => Promise<Result>,
    hasChanged?: (result: Result) => boolean,
  ): Promise<Result> {
    return this.database.transaction(async (sql) => {
      if (hasChanged === undefined) {
        await this.raise(sql);
        return work(sql);
      }
      await sql.run("SELECT FROM revisions WHERE name = $1 FOR UPDATE", [this.name]);
      const result = await work(sql);
      if (hasChanged(result)) await this.raise(sql);
      return result;
    });
  }

  private async raise(sql: SqlRunner): Promise<void> {
    await sql.run("UPDATE revisions SET revision = revision + 1 WHERE name = $1", [this.name]);
  }
}
