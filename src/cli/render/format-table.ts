import { escapeControls } from "../../base/text/plain-text.ts";

/** The width of the tables of this command; null for no limit. A process runs one command. */
let tableWidth: number | null = null;

/** Sets the width of all tables of this command: the width of the terminal, or null for tables that are not cut. */
export function limitTables(width: number | null): void {
  tableWidth = width;
}

/** Formats rows under headings, with two spaces between columns. Long cells are cut if the table is wider than the terminal. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = [headings, ...rows.map((row) => row.map(escapeControls))];
  return alignColumns(tableWidth === null ? table : fitTable(table, tableWidth));
}

/** No column is cut to fewer characters. */
const MIN_WIDTH = 8;
const GAP = 2;

/** Cuts the longest columns as far as needed and possible, so that a table fits the width. The first row has the headings. */
export function fitTable(
  rows: readonly (readonly string[])[],
  width: number,
): readonly (readonly string[])[] {
  const widths = widthsOf(rows);
  const least = (rows[0] ?? []).map((heading) => Math.max(heading.length, MIN_WIDTH));
  let excess = widths.reduce((sum, one) => sum + one, 0) + GAP * (widths.length - 1) - width;
  while (excess > 0) {
    const room = widths.map((one, column) => (one > (least[column] as number) ? one : 0));
    const longest = Math.max(...room);
    if (longest === 0) break;
    const column = room.indexOf(longest);
    widths[column] = longest - 1;
    excess -= 1;
  }
  return rows.map((row) => row.map((cell, column) => shorten(cell, widths[column] as number)));
}

/** Shortens a text to some characters: a name or id in the middle, because ids begin and secrets' hints end alike; a sentence at its end. */
function shorten(text: string, width: number): string {
  if (text.length <= width) return text;
  if (text.includes(" ")) return `${text.slice(0, width - 1)}…`;
  const end = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - end)}…${text.slice(text.length - end)}`;
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  return (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
}

/** Formats an object, one line per field. Null becomes a dash; list items are separated by spaces. */
export function formatFields(fields: Readonly<Record<string, unknown>>): string {
  return alignColumns(listFields(fields).map((row) => row.map(escapeControls)));
}

/** Lists fields with their values; nested fields as `outer.inner`. */
function listFields(fields: Readonly<Record<string, unknown>>, within = ""): string[][] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject
      ? listFields(value as Readonly<Record<string, unknown>>, `${within}${name}.`)
      : [[within + name, printValue(value)]];
  });
}

function printValue(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (!Array.isArray(value)) return String(value);
  const items = value.map((item) => (typeof item === "object" ? JSON.stringify(item) : String(item)));
  return items.length === 0 ? "–" : items.join(" ");
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = widthsOf(rows);
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
