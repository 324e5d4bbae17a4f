import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import type { RevisionName, SqlDatabase, SqlTraits } from "../../sql/statements/database.ts";
import { raw, type Sql, sql, type Work } from "../../sql/statements/statement.ts";

/** The settings that are revisions, by the groups of SQLite. */
const REVISIONS: Readonly<Record<Exclude<RevisionName, "catalog">, string>> = {
  accounts: "account_revision",
  keys: "key_revision",
  provider_keys: "provider_key_revision",
  drains: "drain_revision",
  named_routes: "named_route_revision",
  config: "config_revision",
};

const TRAITS: SqlTraits = {
  isShared: false,
  names: {
    storedResponses: raw("kept_answers"),
    providerKeySecret: raw("box"),
    providerKeyOrder: raw("place"),
    begunChanges: raw("announced_changes"),
    begunChangeId: raw("note"),
    revisions: raw("settings"),
    revision: raw("value"),
  },
  nameRevision: (name) => REVISIONS[name as keyof typeof REVISIONS],
  listAs(name, columns, rows) {
    const fields = Object.keys(columns).map((column, index) => `value ->> ${index} AS ${column}`);
    const list = raw(`${fields.join(", ")}, key + 1 AS place`);
    return sql`(SELECT ${list} FROM json_each(${JSON.stringify(rows)})) AS ${raw(name)}`;
  },
  isOneOf: (column, texts) => sql`${raw(column)} IN (SELECT value FROM json_each(${JSON.stringify(texts)}))`,
  toStored: (text) => text,
};

/** Returns a connection to SQLite as a database whose stores are written once. */
export function createSqliteDatabase(database: Database): SqlDatabase {
  const run = createRunner(database);
  return {
    traits: TRAITS,
    known: undefined,
    async run<Row extends object>(statement: Sql<Row>) {
      return run(statement) as readonly Row[];
    },
    async transaction<Result>(work: () => Work<Result>) {
      // Begins with the write lock, so that no other process changes what the work reads.
      return database.transaction(() => runAtOnce(run, work())).immediate();
    },
  };
}

type Run = (statement: Sql) => readonly object[];

function runAtOnce<Result>(run: Run, work: Work<Result>): Result {
  const steps = work[Symbol.iterator]();
  let step = steps.next([]);
  while (step.done !== true) step = steps.next(run(step.value));
  return step.value;
}

/** Returns a function that runs a statement. Each text is prepared once: the program has few. */
function createRunner(database: Database): Run {
  const prepared = new Map<string, Statement<object, SQLQueryBindings[]>>();
  return (statement) => {
    const { text, values } = statement.render();
    let query = prepared.get(text);
    if (query === undefined) {
      query = database.query<object, SQLQueryBindings[]>(translate(text));
      prepared.set(text, query);
    }
    return query.all(...values);
  };
}

/** The parts that only PostgreSQL reads: `$1` for `?1`, types, and locks of rows. */
const FOREIGN = /\$(\d+)|::[a-z]+|\bFOR UPDATE( OF \w+)?( SKIP LOCKED)?/g;

function translate(text: string): string {
  return text.replace(FOREIGN, (_, number?: string) => (number === undefined ? "" : `?${number}`));
}
