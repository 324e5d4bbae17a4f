/** Characters with which spreadsheets begin a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Returns a table as CSV (RFC 4180). Texts that a spreadsheet would run as a formula get an apostrophe before them. */
export function printCsv(
  head: readonly string[],
  rows: readonly (readonly (string | number | boolean | null)[])[],
): string {
  return [head, ...rows].map((row) => `${row.map(printCell).join(",")}\r\n`).join("");
}

function printCell(value: string | number | boolean | null): string {
  if (value === null) return "";
  const text = typeof value === "string" && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
