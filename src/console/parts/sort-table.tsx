import type { ComponentChildren } from "preact";
import { chartText } from "../text/chart.ts";
import { nextOrder, parseOrder, type SortOrder, sortRows } from "./sort-rows.ts";

/** A column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** Whether values are numbers: right-aligned, and sorted from the largest at first. */
  readonly isNumber?: boolean;
  /** Width in pixels. Columns without one share what is left. */
  readonly width?: number;
  cell(row: Row): ComponentChildren;
  /** The value to sort by; a column without it cannot be sorted. */
  sortBy?(row: Row): number | string | null | undefined;
  /** The text of the last line, such as a sum. */
  readonly foot?: ComponentChildren;
}

/** What a table shows. */
export interface SortTableProps<Row> {
  /** Names the table for assistive technology. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  keyOf(row: Row): string;
  /** The present order; rows keep theirs without one. */
  readonly order?: SortOrder;
  readonly onOrder?: (order: SortOrder) => void;
  /** The title of the last line in the first column; absent without such a line. */
  readonly footTitle?: string;
}

/** A dense table that scrolls in a box of its own; the titles of columns sort it. */
export function SortTable<Row>(props: SortTableProps<Row>) {
  const { columns, rows, order, label } = props;
  const sorted = order === undefined ? rows : sortBy(columns, rows, order);
  const least = columns.reduce((sum, { width = 160 }) => sum + width, 0);
  return (
    <section class="table-box" tabIndex={0} aria-label={label}>
      <table class="table" style={{ minWidth: `${least}px` }}>
        <colgroup>
          {columns.map(({ id, width }) => (
            <col key={id} style={width === undefined ? undefined : { width: `${width}px` }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map((column) => (
              <Title key={column.id} column={column} {...props} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={props.keyOf(row)}>
              {columns.map(({ id, isNumber, cell }) => (
                <td key={id} class={isNumber ? "number" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {props.footTitle === undefined ? null : <Foot columns={columns} title={props.footTitle} />}
      </table>
    </section>
  );
}

function sortBy<Row>(columns: readonly Column<Row>[], rows: readonly Row[], order: SortOrder) {
  const { column, isDescending } = parseOrder(order);
  const found = columns.find(({ id }) => id === column)?.sortBy;
  return found === undefined ? rows : sortRows(rows, found, isDescending);
}

function Title<Row>({
  column,
  order,
  onOrder,
}: { column: Column<Row> } & Pick<SortTableProps<Row>, "order" | "onOrder">) {
  const { id, title, isNumber = false, sortBy } = column;
  const now = parseOrder(order ?? "");
  const isSorted = now.column === id;
  if (sortBy === undefined || onOrder === undefined)
    return <th class={isNumber ? "number" : undefined}>{title}</th>;
  return (
    <th
      class={isNumber ? "number" : undefined}
      aria-sort={isSorted ? (now.isDescending ? "descending" : "ascending") : undefined}
    >
      <button
        type="button"
        class="sort-title"
        title={chartText.sortBy(title)}
        onClick={() => onOrder(nextOrder(order ?? "", id, isNumber))}
      >
        {title}
        <span aria-hidden="true">{isSorted ? (now.isDescending ? " ↓" : " ↑") : ""}</span>
      </button>
    </th>
  );
}

function Foot<Row>({ columns, title }: { columns: readonly Column<Row>[]; title: string }) {
  return (
    <tfoot>
      <tr>
        {columns.map(({ id, isNumber, foot }, i) => (
          <td key={id} class={isNumber ? "number" : undefined}>
            {i === 0 ? title : foot}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}
