import { formatDollars } from "../../base/money.ts";
import { formatTable } from "./format-table.ts";

/** A row of a list, as an endpoint answers it. */
export type Row = Readonly<Record<string, unknown>>;

/** A column of a table: its heading, the field that it shows, and how. By default the text of the field; null and absent are empty. */
export type Column = readonly [heading: string, field: string, format?: (value: unknown, row: Row) => string];

/** Returns what formats the rows of an answer as a table. `empty` is the sentence without rows; absent: the headings alone. */
export function tableOf(columns: readonly Column[], empty?: string) {
  return ({ data }: { readonly data: readonly unknown[] }): string => {
    if (data.length === 0 && empty !== undefined) return empty;
    const rows = (data as readonly Row[]).map((row) =>
      columns.map(([, field, format = printText]) => format(row[field], row)),
    );
    return formatTable(
      columns.map(([heading]) => heading),
      rows,
    );
  };
}

/** Prints a value; null and absent are empty. */
export function printText(value: unknown): string {
  return value === null || value === undefined ? "" : String(value);
}

/** Prints the day of a time (RFC 3339). */
export function printDay(value: unknown): string {
  return printText(value).slice(0, "YYYY-MM-DD".length);
}

/** Prints a time (RFC 3339) to the second, such as `2027-01-31T12:00:00`. */
export function printTime(value: unknown): string {
  return printText(value).slice(0, "YYYY-MM-DDTHH:MM:SS".length);
}

/** Prints the last use of a resource. */
export function printUse(value: unknown): string {
  return value === null ? "never" : printTime(value);
}

/** Prints a limit in US dollars; `none` without one. */
export function printLimit(value: unknown): string {
  return value === null ? "none" : `$${printDollars(value)}`;
}

const NANODOLLARS = 1e9;

/** Prints an amount of US dollars with all its digits, without an exponent. */
export function printDollars(value: unknown): string {
  return formatDollars(Math.round(Number(value) * NANODOLLARS));
}

/** Prints a list; null as `all`. */
export function printList(value: unknown): string {
  return value === null ? "all" : (value as readonly unknown[]).join(" ");
}
