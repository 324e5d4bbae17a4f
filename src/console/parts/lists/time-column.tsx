import { now } from "../../state/now.ts";
import { formatExactTime, formatListTime } from "../values/format.ts";
import type { Column } from "./table.tsx";

/** Returns the column with the time of a row, as a link to the page of the row. */
export function timeColumn<Row extends { readonly id: string; readonly created_at: string }>(
  title: string,
  pathOf: (id: string) => string,
): Column<Row> {
  return {
    id: "time",
    title,
    width: 118,
    onCard: "plain",
    hint: ({ created_at }) => formatExactTime(Date.parse(created_at)),
    cell: ({ id, created_at }) => (
      <a href={pathOf(id)}>{formatListTime(Date.parse(created_at), now.peek())}</a>
    ),
  };
}
