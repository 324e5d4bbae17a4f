import { Component, type ComponentChildren } from "preact";
import { text } from "../../text/text.ts";
import { ScrollBox } from "./scroll-box.tsx";
import { nextOrder, parseOrder, type SortOrder, sortRows } from "./sort-rows.ts";

/** A column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** Whether values are numbers: right-aligned, and sorted from the largest at first. */
  readonly isNumber?: boolean;
  /** Width in pixels. Columns without one share what is left. */
  readonly width?: number;
  /** The smallest width of a column without a width, in pixels. */
  readonly minWidth?: number;
  cell(row: Row): ComponentChildren;
  /** Whether a long value wraps in place of being cut. */
  readonly wraps?: boolean;
  /**
   * Where a card of a narrow window shows the value: as the card's title, to the right of the title, or below them. By default it is below
   * them, behind the title of the column.
   */
  readonly onCard?: "title" | "aside" | "plain";
  /** The text that is shown on hover over a cell, such as the full text of a shortened one. */
  hint?(row: Row): string | undefined;
  /** The value to sort by; a column without it cannot be sorted. */
  sortBy?(row: Row): number | string | null | undefined;
  /** The text of the last line, such as a sum. */
  readonly foot?: ComponentChildren;
}

/** What a table shows. */
interface TableProps<Row> {
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
  /** Opens a row, by a click or by Enter. */
  readonly onOpen?: (row: Row) => void;
  /** The key of the row that the keyboard has selected; null for none. */
  readonly selected?: string | null;
  /** The smallest width in pixels before the table scrolls sideways; absent: the sum of the widths of its columns. */
  readonly minWidth?: number;
  /** Whether a narrow window shows rows as cards. Without it the table scrolls sideways there. */
  readonly hasCards?: boolean;
}

/** The smallest width of a column that names none. Pixels. */
const FLEXIBLE_WIDTH = 160;

/** A dense table that scrolls in a box of its own. */
export function Table<Row>({ kind, ...props }: TableProps<Row> & { kind?: "card" | "fill" }) {
  return (
    <ScrollBox label={props.label} kind={kind}>
      <BareTable {...props} />
    </ScrollBox>
  );
}

/**
 * A table without a box, for a page that scrolls it together with other content. The titles of columns sort it, and stay in view.
 * Rows that have not changed are not drawn again.
 */
export function BareTable<Row>(props: TableProps<Row>) {
  const { columns, rows, order, keyOf, selected } = props;
  const sorted = order === undefined ? rows : sortBy(columns, rows, order);
  const minWidth =
    props.minWidth ??
    columns.reduce((sum, { width, minWidth = FLEXIBLE_WIDTH }) => sum + (width ?? minWidth), 0);
  return (
    <table
      class={props.hasCards ? "table cards" : "table"}
      aria-label={props.label}
      style={{ "--table-width": `${minWidth}px` }}
    >
      <colgroup>
        {columns.map(({ id, width }) => (
          <col key={id} style={width === undefined ? undefined : { width: `${width}px` }} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map((column) => (
            <Title key={column.id} column={column} order={order} onOrder={props.onOrder} />
          ))}
        </tr>
      </thead>
      <tbody>
        {sorted.map((row) => (
          <TableRow
            key={keyOf(row)}
            row={row}
            columns={columns as readonly Column<unknown>[]}
            onOpen={props.onOpen as ((row: unknown) => void) | undefined}
            isSelected={selected === keyOf(row)}
          />
        ))}
      </tbody>
      {props.footTitle === undefined ? null : <Foot columns={columns} title={props.footTitle} />}
    </table>
  );
}

function sortBy<Row>(columns: readonly Column<Row>[], rows: readonly Row[], order: SortOrder) {
  const { column, isDescending } = parseOrder(order);
  const found = columns.find(({ id }) => id === column)?.sortBy;
  return found === undefined ? rows : sortRows(rows, found, isDescending);
}

function classOf({ isNumber, wraps, onCard }: Column<never>): string | undefined {
  const names = [
    isNumber ? "number" : "",
    wraps ? "wraps" : "",
    onCard === undefined ? "" : `card-${onCard}`,
  ];
  return names.filter(Boolean).join(" ") || undefined;
}

interface RowProps {
  readonly row: unknown;
  readonly columns: readonly Column<unknown>[];
  readonly onOpen: ((row: unknown) => void) | undefined;
  readonly isSelected: boolean;
}

class TableRow extends Component<RowProps> {
  // A signal that a cell reads, such as the names of accounts, arrives as a new state.
  override shouldComponentUpdate(next: RowProps, nextState: object): boolean {
    const { row, columns, isSelected } = this.props;
    const isSame = next.row === row && next.columns === columns && next.isSelected === isSelected;
    return !isSame || nextState !== this.state;
  }

  open = (event: MouseEvent) => {
    const { row, onOpen } = this.props;
    // Links and buttons in the row keep their own action, and a click that ends a text selection opens nothing.
    if ((event.target as Element).closest("a, button, input") || getSelection()?.toString()) return;
    onOpen?.(row);
  };

  render() {
    const { row, columns, onOpen, isSelected } = this.props;
    return (
      <tr
        class={onOpen ? "clickable" : undefined}
        onClick={onOpen ? this.open : undefined}
        aria-selected={onOpen ? isSelected : undefined}
      >
        {columns.map((column) => (
          <td
            key={column.id}
            class={classOf(column)}
            data-title={column.onCard === undefined ? column.title : undefined}
            title={column.hint?.(row)}
          >
            {column.cell(row)}
          </td>
        ))}
      </tr>
    );
  }
}

type TitleProps<Row> = { column: Column<Row> } & Pick<TableProps<Row>, "order" | "onOrder">;

function Title<Row>({ column, order, onOrder }: TitleProps<Row>) {
  const { id, title, isNumber = false, sortBy } = column;
  const now = parseOrder(order ?? "");
  const isSorted = now.column === id;
  const className = isNumber ? "number" : undefined;
  if (sortBy === undefined || onOrder === undefined)
    return (
      <th scope="col" class={className} title={title}>
        {title}
      </th>
    );
  return (
    <th
      scope="col"
      class={className}
      aria-sort={isSorted ? (now.isDescending ? "descending" : "ascending") : undefined}
    >
      <button
        type="button"
        class="sort-title"
        title={text.charts.sortBy(title)}
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
        {columns.map((column, i) => (
          <td
            key={column.id}
            class={classOf(column)}
            data-title={column.onCard === undefined ? column.title : undefined}
          >
            {i === 0 ? title : column.foot}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}
