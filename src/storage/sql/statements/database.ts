import type { Sql, Work } from "./statement.ts";

/** The groups of tables that have a revision. */
export type RevisionName =
  | "accounts"
  | "keys"
  | "provider_keys"
  | "catalog"
  | "drains"
  | "named_routes"
  | "config";

/** Revisions that were read for all caches in one call. */
export interface KnownRevisions {
  /** Returns the revision at the last reading; null before the first. */
  revisionOf(name: RevisionName): number | null;
}

/** The columns of a list that a statement reads as a table, with their PostgreSQL types. */
type ListColumns = Readonly<Record<string, "text" | "integer" | "bigint">>;

/** The differences between the databases in the statements that they share. */
export interface SqlTraits {
  /**
   * Whether several gateways may change the database at the same time. If so, a change locks what it reads, changed rows are recorded
   * (`changed_rows`), and gateways of older versions may read what is written. A transaction of SQLite excludes every other change.
   */
  readonly isShared: boolean;
  /** Names that differ, because the tables of SQLite are older than those of PostgreSQL. */
  readonly names: {
    readonly storedResponses: Sql;
    readonly providerKeySecret: Sql;
    readonly providerKeyOrder: Sql;
    readonly begunChanges: Sql;
    readonly begunChangeId: Sql;
    readonly revisions: Sql;
    readonly revision: Sql;
  };
  /** Returns the name of a revision in the table of revisions. */
  nameRevision(name: RevisionName): string;
  /** Returns rows as a table `name` of a FROM clause, with their positions from 1 on as the column `place`. */
  listAs(name: string, columns: ListColumns, rows: readonly (readonly (string | number | null)[])[]): Sql;
  /** Returns the condition that a column has one of some texts. The rows are found by an index, whatever the sizes of tables are. */
  isOneOf(column: string, texts: readonly string[]): Sql;
  /** Returns the form of a text as it is read back after storing it. */
  toStored(text: string): string;
}

/** A database whose stores are written once. */
export interface SqlDatabase {
  readonly traits: SqlTraits;
  /** Provides the revisions of the database, if a process reads all of them in one call. */
  readonly known: KnownRevisions | undefined;
  /** Runs one statement and returns its rows. Rejects if it fails. */
  run<Row extends object>(statement: Sql<Row>): Promise<readonly Row[]>;
  /**
   * Runs work in one transaction, which is rolled back if the work throws. A failed commit may have been committed, so the work must be
   * safe to repeat. SQLite runs all statements in one go, so that no other statement of the thread comes in between.
   */
  transaction<Result>(work: () => Work<Result>): Promise<Result>;
}
