import { formatTable } from "./format-table.ts";

/** A column of a table that fits into a terminal. */
export interface FittingColumn {
  readonly title: string;
  readonly cells: readonly string[];
  /** Names are on the left and may be cut; numbers are on the right. */
  readonly kind: "name" | "number";
  /** Columns with the highest number are left out first; 0: never. */
  readonly rank: number;
}

/** Names are cut to no fewer characters. */
const MIN_NAME = 12;
const GAP = 2;

/** Formats columns as a table of at most `width` characters. Leaves out columns first, then cuts long names. Null: no limit. */
export function fitTable(columns: readonly FittingColumn[], width: number | null): string {
  const shown = cutNames(leaveOut(columns, width), width).map(align);
  const rows = (shown[0]?.cells ?? []).map((_, row) => shown.map(({ cells }) => cells[row] ?? ""));
  const titles = shown.map(({ title }) => title);
  return formatTable(titles, rows);
}

function leaveOut(columns: readonly FittingColumn[], width: number | null): readonly FittingColumn[] {
  let shown = columns;
  for (;;) {
    const last = Math.max(...shown.map(({ rank }) => rank));
    if (width === null || last <= 0 || totalOf(shown) <= width) return shown;
    shown = shown.filter(({ rank }) => rank < last);
  }
}

function cutNames(columns: readonly FittingColumn[], width: number | null): readonly FittingColumn[] {
  let excess = width === null ? 0 : totalOf(columns) - width;
  // The last dimension is cut first, because it is the most repetitive.
  return columns
    .toReversed()
    .map((column) => {
      const own = widthOf(column);
      const target = Math.max(MIN_NAME, column.title.length, own - excess);
      if (excess <= 0 || column.kind !== "name" || target >= own) return column;
      excess -= own - target;
      const cells = column.cells.map((cell) =>
        cell.length <= target ? cell : `${cell.slice(0, target - 1)}…`,
      );
      return { ...column, cells };
    })
    .toReversed();
}

function align(column: FittingColumn): FittingColumn {
  if (column.kind === "name") return column;
  const width = widthOf(column);
  return {
    ...column,
    title: column.title.padStart(width),
    cells: column.cells.map((cell) => cell.padStart(width)),
  };
}

function totalOf(columns: readonly FittingColumn[]): number {
  return columns.reduce((sum, column) => sum + widthOf(column) + GAP, -GAP);
}

function widthOf({ title, cells }: FittingColumn): number {
  return cells.reduce((most, cell) => Math.max(most, cell.length), title.length);
}
