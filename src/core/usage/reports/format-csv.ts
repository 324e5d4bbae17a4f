import { escapeControls } from "../../../base/text/plain-text.ts";

/**
 * Formats rows as CSV (RFC 4180). Text that a spreadsheet would evaluate as a formula gets a leading apostrophe, which spreadsheets read as
 * a mark of text. Numbers stay numbers. Characters that control a terminal are written as codes.
 */
export function formatCsv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(formatCell).join(",")}\r\n`).join("");
}

function formatCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = escapeControls(value);
  const harmless = /^[=+\-@\t\r\n]/.test(value) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
