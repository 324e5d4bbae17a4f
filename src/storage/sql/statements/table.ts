import { join, raw, type Sql, type SqlValue, sql } from "./statement.ts";
import { type Integer, readInteger } from "./values.ts";

/** How the values of a field are stored. `read` gets what a database returns. */
interface Column<Value> {
  /** Default: the name of the field in snake case. */
  readonly name?: string;
  read(stored: never): Value;
  write(value: Value): SqlValue;
}

// A column of each kind may be null if the field may. The type of the field decides, which the compiler compares with `write`.

export const text = {
  read: (stored: never): never => stored,
  write: (value: string | null) => value,
};

export const integer = {
  read: (stored: Integer | null) => (stored === null ? null : readInteger(stored)) as never,
  write: (value: number | null) => value,
};

export const bytes = {
  read: (stored: Uint8Array) => stored as never,
  write: (value: Uint8Array) => value,
};

/** SQLite stores 0 or 1. */
export const flag = {
  read: (stored: boolean | Integer) => (stored === true || Number(stored) === 1) as never,
  write: (value: boolean) => value,
};

export const json = {
  read: (stored: string | null) => (stored === null ? null : JSON.parse(stored)) as never,
  write: (value: object | null) => (value === null ? null : JSON.stringify(value)),
};

/** Returns a column whose name is not that of its field. */
export function named<Kind extends object>(name: string, kind: Kind): Kind & { readonly name: string } {
  return { ...kind, name };
}

/** The columns of a table, by the fields of its records. */
type Columns<Row extends object> = { readonly [Field in keyof Row & string]-?: Column<Row[Field]> };

/** A table whose rows are records. Statements on it, and the reading of its rows, derive from its columns. */
export class Table<Row extends object> {
  private readonly columns: readonly NamedColumn<Row>[];
  private readonly names: Sql;

  constructor(
    private readonly name: string,
    columns: Columns<Row>,
  ) {
    const fields = Object.keys(columns) as (keyof Row & string)[];
    this.columns = fields.map((field) => ({ ...columns[field], field, name: nameOf(field, columns[field]) }));
    this.names = raw(this.columns.map((column) => column.name).join(", "));
  }

  /** Returns a statement that reads rows. `rest` begins with WHERE or ORDER BY. */
  select(rest: Sql): Sql {
    return sql`SELECT * FROM ${raw(this.name)} ${rest}`;
  }

  /** Returns a statement that inserts a record. */
  insert(record: Row): Sql {
    return sql`INSERT INTO ${raw(this.name)} (${this.names}) VALUES ${this.valuesOf(record)}`;
  }

  /** Returns a statement that inserts records, of which there must be one, and keeps existing ones. */
  insertNew(records: readonly Row[]): Sql {
    const rows = records.map((record) => this.valuesOf(record));
    return sql`INSERT INTO ${raw(this.name)} (${this.names}) VALUES ${join(rows, ", ")} ON CONFLICT DO NOTHING`;
  }

  /** Returns the columns for the list of a SELECT, of the table with an alias. */
  columnsOf(alias: string): Sql {
    return raw(this.columns.map(({ name }) => `${alias}.${name}`).join(", "));
  }

  /** Returns the SET clause that gives columns the values of a record. */
  set<Field extends keyof Row & string>(record: Pick<Row, Field>, fields: readonly Field[]): Sql {
    const wanted: readonly string[] = fields;
    const changed = this.columns.filter(({ field }) => wanted.includes(field));
    const pairs = changed.map(
      ({ field, name, write }) => sql`${raw(name)} = ${write((record as Row)[field])}`,
    );
    return sql`SET ${join(pairs, ", ")}`;
  }

  private valuesOf(record: Row): Sql {
    const values = this.columns.map(({ field, write }) => write(record[field]));
    return sql`(${join(values, ", ")})`;
  }

  /** Reads a row. */
  readonly read = (row: object): Row => {
    const record: Record<string, unknown> = {};
    for (const { field, name, read } of this.columns) record[field] = read((row as Stored)[name] as never);
    return record as Row;
  };

  /** Reads the first of rows; null if there is none. */
  readFirst([row]: readonly object[]): Row | null {
    return row === undefined ? null : this.read(row);
  }
}

type Stored = Readonly<Record<string, unknown>>;

interface NamedColumn<Row> extends Column<Row[keyof Row & string]> {
  readonly field: keyof Row & string;
  readonly name: string;
}

function nameOf(field: string, { name }: { readonly name?: string }): string {
  return name ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
