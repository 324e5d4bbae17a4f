import { formatDollars } from "../../base/numbers/money.ts";
import { formatTable } from "./format-table.ts";

/** A row of a list, as an endpoint answers it. */
export type Row = Readonly<Record<string, unknown>>;

/** Formats the value of a field; the row has the others. */
type Format = (value: unknown, row: Row) => string;

/** A column of a table: the field that it shows, which decides heading and format, or all three. */
export type Column = string | readonly [heading: string, field: string, format?: Format];

/** Returns heading, field and format of a column: `created_at` is a time under `created`, `account_id` a text under `account`. */
function readColumn(column: Column): readonly [heading: string, field: string, format: Format] {
  const [heading, field, format] =
    typeof column === "string" ? ([nameField(column), column] as const) : column;
  return [heading, field, format ?? (field.endsWith("_at") ? printTime : printText)];
}

function nameField(field: string): string {
  return field.replace(/(?<=.)_(id|at)$/, "").replaceAll("_", " ");
}

/** Returns what formats the rows of an answer as a table. `empty` is the sentence without rows; absent: the headings alone. */
export function tableOf(columns: readonly Column[], empty?: string) {
  return ({ data }: { readonly data: readonly unknown[] }): string => {
    if (data.length === 0 && empty !== undefined) return empty;
    const read = columns.map(readColumn);
    const rows = (data as readonly Row[]).map((row) =>
      read.map(([, field, format]) => format(row[field], row)),
    );
    return formatTable(
      read.map(([heading]) => heading),
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

const HOUR_MS = 3_600_000;

/** Prints the hour in which a resource was last used, such as `2027-01-31T14:00–15:00`. Minutes are not recorded. */
export function printHourOfUse(value: unknown): string {
  if (value === null) return "never";
  const end = new Date(Date.parse(String(value)) + HOUR_MS).toISOString();
  return `${printText(value).slice(0, "YYYY-MM-DDTHH:MM".length)}–${end.slice("YYYY-MM-DDT".length, "YYYY-MM-DDTHH:MM".length)}`;
}

/** Prints a limit in US dollars; `none` without one. */
export function printLimit(value: unknown): string {
  return value === null ? "none" : `$${printDollars(value)}`;
}

const NANODOLLARS = 1e9;

/** Prints an amount of US dollars with all its digits, without an exponent. */
function printDollars(value: unknown): string {
  return formatDollars(Math.round(Number(value) * NANODOLLARS));
}

/** Prints a list; null as `all`. */
export function printList(value: unknown): string {
  return value === null ? "all" : (value as readonly unknown[]).join(" ");
}

/** Returns a function that prints that a resource was changed: `Updated key_… (laptop).` */
export function showChange(verb: string) {
  return ({ data }: { readonly data: { readonly id: unknown; readonly name?: unknown } }): string =>
    `${verb} ${data.id}${data.name === undefined ? "" : ` (${data.name})`}.`;
}
