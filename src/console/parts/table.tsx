import { Component, type ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** The width in pixels; absent: a share of what is left. */
  readonly width?: number;
  readonly isNumber?: boolean;
  cell(row: Row): ComponentChildren;
}

/** What a table shows. */
export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  rowKey(row: Row): string;
  /** Opens a row, by a click or by Enter. */
  readonly onOpen?: (row: Row) => void;
  /** The key of the row that the keyboard is at; null for none. */
  readonly selected?: string | null;
  readonly foot?: ComponentChildren;
  /** The smallest width in pixels before the table scrolls sideways. */
  readonly minWidth?: number;
}

/** The width below which a column without a width is not squeezed. */
const FLEXIBLE_WIDTH = 140;

/** A dense table with a header that stays in view. Rows that have not changed are not drawn again. */
export function Table<Row>(props: TableProps<Row>) {
  const { columns, rows, rowKey, onOpen, selected } = props;
  const minWidth = props.minWidth ?? columns.reduce((sum, { width }) => sum + (width ?? FLEXIBLE_WIDTH), 0);
  return (
    <table class="table" aria-label={props.label} style={{ minWidth: `${minWidth}px` }}>
      <colgroup>
        {columns.map(({ id, width }) => (
          <col key={id} style={width === undefined ? {} : { width: `${width}px` }} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {columns.map(({ id, title, isNumber }) => (
            <th key={id} scope="col" class={isNumber ? "number" : undefined} title={title}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <TableRow
            key={rowKey(row)}
            row={row}
            columns={columns as readonly Column<unknown>[]}
            onOpen={onOpen as ((row: unknown) => void) | undefined}
            isSelected={selected === rowKey(row)}
          />
        ))}
      </tbody>
      {props.foot === undefined ? null : <tfoot>{props.foot}</tfoot>}
    </table>
  );
}

interface RowProps {
  readonly row: unknown;
  readonly columns: readonly Column<unknown>[];
  readonly onOpen: ((row: unknown) => void) | undefined;
  readonly isSelected: boolean;
}

class TableRow extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { row, columns, isSelected } = this.props;
    return next.row !== row || next.columns !== columns || next.isSelected !== isSelected;
  }

  open = (event: MouseEvent) => {
    const { row, onOpen } = this.props;
    // A link or a button in the row does what it says, and a selection of text is none.
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
          <td key={column.id} class={column.isNumber ? "number" : undefined}>
            {column.cell(row)}
          </td>
        ))}
      </tr>
    );
  }
}

/** Calls functions for keys without modifiers, except while a field has the focus or a dialog is open. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target as Element;
      if (target.closest("input, textarea, select, dialog, [role=listbox]")) return;
      if (event.key === "Enter" && target.closest("a, button")) return;
      const action = latest.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
