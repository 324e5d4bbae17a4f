/** Returns the median; `null` of no values. */
export function medianOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** Formats a ratio: 1/12.5 for small ones, 1.25x for the others. */
export function formatRatio(ratio: number): string {
  if (ratio > 0 && ratio < 0.5) return `1/${(1 / ratio).toFixed(1)}`;
  return `${ratio.toFixed(2)}x`;
}

/** Returns what prints a line of a table on a terminal, with columns of these widths. */
export function tableLine(width: { readonly label: number; readonly column: number }) {
  return (label: string, cells: readonly string[]): string =>
    label.padEnd(width.label) + cells.map((cell) => cell.padStart(width.column)).join("");
}
