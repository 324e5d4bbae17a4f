/** Statements of the stores that SQLite and PostgreSQL share. */

/** A value of a parameter. */
export type SqlValue = string | number | boolean | null | Uint8Array;

type Rows = readonly object[];

/** Statements that run one after another: each is yielded, and its rows are sent back. A single statement is also work. */
export type Work<Result> = Iterable<Sql, Result, Rows>;

/** A statement with the text of PostgreSQL and its values. `sql` writes it; `yield*` in a `Work` runs it and returns its rows. */
export class Sql<Row extends object = object> {
  constructor(
    private readonly texts: readonly string[],
    private readonly parts: readonly (SqlValue | Sql)[],
  ) {}

  *[Symbol.iterator](): Generator<Sql, readonly Row[], Rows> {
    return (yield this) as readonly Row[];
  }

  /** Returns the text, in which `$1` is the first of the values. Parts of other statements become parts of it. */
  render(): { readonly text: string; readonly values: readonly SqlValue[] } {
    const values: SqlValue[] = [];
    return { text: this.write(values), values };
  }

  private write(values: SqlValue[]): string {
    return this.texts.reduce((before, text, index) => {
      const part = this.parts[index - 1] as SqlValue | Sql;
      return before + (part instanceof Sql ? part.write(values) : `$${values.push(part)}`) + text;
    });
  }
}

/**
 * Creates a statement, or a part of one: sql`SELECT * FROM api_keys WHERE id = ${id}`. Each value becomes a parameter. Types of parameters
 * (`::bigint`) and locks of rows (`FOR UPDATE`) are PostgreSQL's; SQLite runs the statement without them.
 */
export function sql<Row extends object = object>(
  texts: TemplateStringsArray,
  ...parts: readonly (SqlValue | Sql)[]
): Sql<Row> {
  return new Sql(texts, parts);
}

/** Returns a part of a statement that has no values, such as the name of a column. Never pass text from outside the program. */
export function raw(text: string): Sql {
  return new Sql([text], []);
}

/** Joins the parts of a statement. `parts` must not be empty. */
export function join(parts: readonly (SqlValue | Sql)[], separator: string): Sql {
  return new Sql(["", ...parts.slice(1).map(() => separator), ""], parts);
}

/** Returns the WHERE clause of the conditions that are not null. */
export function where(...conditions: readonly (Sql | null)[]): Sql {
  const given = conditions.filter((condition) => condition !== null);
  return given.length === 0 ? raw("") : sql`WHERE ${join(given, " AND ")}`;
}
