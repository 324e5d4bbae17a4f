import type { ChangedRows } from "../../../core/accounts/stores/follow-changes.ts";
import type { RevisionName, SqlDatabase, SqlTraits } from "./database.ts";
import { sql, type Work } from "./statement.ts";
import { type Integer, readInteger } from "./values.ts";

/** The maximum number of rows that one reading returns. If more have changed, everything is read again. */
const MAX_CHANGED = 1_000;

/**
 * A number that increases with every change of a group of tables, so that other processes notice the change. Its row is also the lock of
 * the group: no other process changes what a change reads until that ends.
 */
export class Revision {
  constructor(
    private readonly database: SqlDatabase,
    private readonly name: RevisionName,
  ) {}

  async read(): Promise<number> {
    const { known, traits } = this.database;
    // All revisions are read in one call. The catalog's always exists, others begin with their first change.
    if ((known?.revisionOf("catalog") ?? null) !== null) return known?.revisionOf(this.name) ?? 0;
    const { revisions, revision } = traits.names;
    const [row] = await this.database.run(
      sql<{ revision: Integer }>`SELECT ${revision} AS revision FROM ${revisions}
        WHERE name = ${traits.nameRevision(this.name)}`,
    );
    return row === undefined ? 0 : readInteger(row.revision);
  }

  /** Returns which rows of the group have changed since an earlier reading, if the database records it. */
  async listChanged(cursor: string | null): Promise<ChangedRows> {
    if (!this.database.traits.isShared) return { ids: null, cursor: null };
    const rows =
      cursor === null
        ? []
        : await this.database.run(
            sql<{ place: string; id: string }>`SELECT place, id FROM changed_rows
              WHERE name = ${this.name} AND place >= ${cursor}::bigint ORDER BY place LIMIT ${MAX_CHANGED + 2}`,
          );
    const [seen, ...since] = rows;
    // If the last row that was seen is gone, others may be gone too.
    if (seen?.place === cursor && since.length <= MAX_CHANGED)
      return { ids: since.map(({ id }) => id), cursor: since.at(-1)?.place ?? cursor };
    const [last] = await this.database.run(
      sql<{ place: string | null }>`SELECT max(place) AS place FROM changed_rows WHERE name = ${this.name}`,
    );
    return { ids: null, cursor: last?.place ?? null };
  }

  /**
   * Runs work in one transaction, which no other change of the group overlaps. Increments the revision if `hasChanged` returns true for its
   * result, by default always. Returns the result of the work.
   */
  change<Result>(work: () => Work<Result>, hasChanged?: (result: Result) => boolean): Promise<Result> {
    const { traits } = this.database;
    const { name } = this;
    return this.database.transaction(function* () {
      if (hasChanged === undefined) yield* raiseRevision(traits, name);
      else if (traits.isShared) yield* sql`SELECT FROM revisions WHERE name = ${name} FOR UPDATE`;
      const result = yield* work();
      if (hasChanged?.(result) === true) yield* raiseRevision(traits, name);
      return result;
    });
  }
}

/** Raises the revision of a group, in the transaction of its change. */
export function* raiseRevision(traits: SqlTraits, name: RevisionName): Work<void> {
  const { revisions, revision } = traits.names;
  yield* sql`INSERT INTO ${revisions} AS known (name, ${revision}) VALUES (${traits.nameRevision(name)}, 1)
    ON CONFLICT (name) DO UPDATE SET ${revision} = known.${revision} + 1`;
}
