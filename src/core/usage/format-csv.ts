/**
 * Rows as CSV (RFC 4180). Text that a spreadsheet would take for a formula gets a quote mark before it, as spreadsheets
 * themselves mark text; numbers stay numbers.
 */
export function formatCsv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(formatCell).join(",")}\r\n`).join("");
}

function formatCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const harmless = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
