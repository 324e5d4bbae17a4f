import type { KnownRevisions, SqlDatabase, SqlTraits } from "../../sql/statements/database.ts";
import { join, raw, type Sql, sql, type Work } from "../../sql/statements/statement.ts";
import { cleanText } from "../../sql/statements/values.ts";
import { encodeList, type Postgres, type SqlRunner } from "./client.ts";

const TRAITS: SqlTraits = {
  isShared: true,
  names: {
    storedResponses: raw("stored_responses"),
    providerKeySecret: raw("ciphertext"),
    providerKeyOrder: raw("position"),
    begunChanges: raw("begun_changes"),
    begunChangeId: raw("id"),
    revisions: raw("revisions"),
    revision: raw("revision"),
  },
  nameRevision: (name) => name,
  listAs(name, columns, rows) {
    const lists = Object.values(columns).map((type, index) => {
      const list = encodeList(rows.map((row) => row[index] ?? null));
      return sql`${list}::text::${raw(type)}[]`;
    });
    const names = raw(`${name} (${[...Object.keys(columns), "place"].join(", ")})`);
    return sql`unnest(${join(lists, ", ")}) WITH ORDINALITY AS ${names}`;
  },
  isOneOf: (column, texts) => sql`${raw(column)} = ANY (${encodeList(texts)}::text::text[])`,
  toStored: cleanText,
};

/** Returns connections to PostgreSQL as a database whose stores are written once. */
export function createPostgresDatabase(database: Postgres, known?: KnownRevisions): SqlDatabase {
  return {
    traits: TRAITS,
    known,
    run: (statement) => run(database, statement),
    transaction: (work) => database.transaction((connection) => runInTurn(connection, work())),
  };
}

function run<Row extends object>(runner: SqlRunner, statement: Sql<Row>): Promise<readonly Row[]> {
  const { text, values } = statement.render();
  return runner.run<Row>(text, values);
}

async function runInTurn<Result>(connection: SqlRunner, work: Work<Result>): Promise<Result> {
  const steps = work[Symbol.iterator]();
  let step = steps.next([]);
  while (step.done !== true) step = steps.next(await run(connection, step.value));
  return step.value;
}
