/** The order of a table: the id of a column, with a minus for descending order. */
export type SortOrder = string;

type SortValue = number | string | null | undefined;

/** Returns the rows in the order of a column's values. Missing values come last in both directions; equal rows keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  valueFrom: (row: Row) => SortValue,
  isDescending: boolean,
): readonly Row[] {
  const sign = isDescending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [valueFrom(a) ?? null, valueFrom(b) ?? null];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), "en");
  });
}

/** Returns the column of an order, and whether it is descending. */
export function parseOrder(order: SortOrder): { readonly column: string; readonly isDescending: boolean } {
  const isDescending = order.startsWith("-");
  return { column: isDescending ? order.slice(1) : order, isDescending };
}

/** Returns the order after a press on a column's title: its first direction, then the other one. */
export function nextOrder(order: SortOrder, column: string, isNumber: boolean): SortOrder {
  const now = parseOrder(order);
  const isDescending = now.column === column ? !now.isDescending : isNumber;
  return isDescending ? `-${column}` : column;
}
