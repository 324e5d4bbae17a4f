/** Characters with which spreadsheets begin a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Characters that a terminal would obey: controls, separators of lines, and overrides of the direction of writing. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const printCode = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns a table as CSV (RFC 4180). Texts that a spreadsheet would run as a formula get an apostrophe before them. */
export function printCsv(
  head: readonly string[],
  rows: readonly (readonly (string | number | boolean | null)[])[],
): string {
  return [head, ...rows].map((row) => `${row.map(printCell).join(",")}\r\n`).join("");
}

function printCell(value: string | number | boolean | null): string {
  if (value === null) return "";
  const plain = String(value).replace(CONTROLS, printCode);
  const text = typeof value === "string" && FORMULA.test(value) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
