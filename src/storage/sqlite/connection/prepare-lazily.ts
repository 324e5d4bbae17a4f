import type { Database, Statement } from "bun:sqlite";

/**
 * Makes a connection prepare each statement when it is first executed. The stores create all of their statements when they open. Preparing
 * them all would take 4 to 7 ms in each thread, mostly for statements that it never executes.
 */
export function prepareLazily(database: Database): Database {
  const prepared = new Map<string, LazyStatement>();
  const prepare = database.query.bind(database);
  const query = (text: string) => {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = new LazyStatement(() => prepare(text));
      prepared.set(text, statement);
    }
    return statement;
  };
  return Object.assign(database, { query });
}

type Bindings = Parameters<Statement["all"]>;

/** The methods of a statement that the stores use. */
class LazyStatement {
  private prepared: Statement | null = null;

  constructor(private readonly prepare: () => Statement) {}

  get(...values: Bindings) {
    return this.statement().get(...values);
  }

  all(...values: Bindings) {
    return this.statement().all(...values);
  }

  run(...values: Bindings) {
    return this.statement().run(...values);
  }

  private statement(): Statement {
    this.prepared ??= this.prepare();
    return this.prepared;
  }
}
