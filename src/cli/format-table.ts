/** Rows under headings, columns two spaces apart. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return alignColumns([headings, ...rows]);
}

/** One thing, a line for each of its fields. Null is a dash, a list stands between spaces. */
export function formatFields(fields: Readonly<Record<string, unknown>>): string {
  return alignColumns(listFields(fields));
}

/** Fields of fields stand with a dot. */
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
