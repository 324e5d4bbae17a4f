/** Formats rows under headings, with two spaces between columns. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return alignColumns([headings, ...rows]);
}

/** Formats an object, one line per field. Null becomes a dash; list items are separated by spaces. */
export function formatFields(fields: Readonly<Record<string, unknown>>): string {
  return alignColumns(listFields(fields));
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
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
