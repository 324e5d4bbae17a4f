import { useEffect, useRef, useState } from "preact/hooks";
import type { CatalogModel } from "../../api/schema.ts";
import { ScrollBox } from "../../parts/lists/scroll-box.tsx";
import { Icon } from "../../parts/values/icon.tsx";
import { text } from "../../text/text.ts";
import { MAX_COMPARED, type ModelFilters, modelPath, nextSort, SORTS, type Sort } from "./model-filters.ts";
import { printAbilities, printTokens } from "./model-format.ts";
import { Price, ServedText } from "./model-values.tsx";

const words = text.models;
/** The height of a row in CSS pixels, in a wide and in a narrow window, as in the style sheet. */
const ROW_HEIGHTS = { wide: 44, narrow: 64 };
const NARROW = "(max-width: 760px)";
/** The rows that are drawn beyond the visible ones. */
const MARGIN = 12;
/** The rows that are drawn before the height of the box is known. */
const FIRST_ROWS = 60;

type Column = keyof typeof words.columns;
const COLUMNS: readonly { readonly name: Column; readonly isNumber: boolean }[] = [
  { name: "name", isNumber: false },
  { name: "context", isNumber: true },
  { name: "input", isNumber: true },
  { name: "output", isNumber: true },
  { name: "cache", isNumber: true },
  { name: "can", isNumber: false },
  { name: "providers", isNumber: true },
  { name: "status", isNumber: false },
  { name: "released", isNumber: true },
];

interface TableProps {
  readonly models: readonly CatalogModel[];
  readonly filters: ModelFilters;
  readonly selected: ReadonlySet<string>;
  readonly onSort: (order: Pick<ModelFilters, "sort" | "isDescending">) => void;
  readonly onSelect: (id: string) => void;
}

/** The list of models. Only the rows in view are in the document, so that typing and scrolling stay quick. */
export function ModelsTable(props: TableProps) {
  const { models, filters } = props;
  const box = useRef<HTMLElement>(null);
  const rowHeight = useRowHeight();
  const { first, last } = useVisibleRows(box, models, rowHeight);
  const order = `${filters.sort} ${filters.isDescending}`;
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = 0;
  }, [order]);
  return (
    <ScrollBox kind="fill" box={box} label={words.title}>
      <table class="table models-table" aria-rowcount={models.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th class="col-select">
              <span class="visually-hidden">{words.compare}</span>
            </th>
            {COLUMNS.map((column) => (
              <ColumnHead key={column.name} {...column} {...props} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={first * rowHeight} />
          {models.slice(first, last).map((model, i) => (
            <ModelRow
              key={model.id}
              model={model}
              index={first + i + 2}
              isSelected={props.selected.has(model.id)}
              isFull={props.selected.size >= MAX_COMPARED}
              onSelect={props.onSelect}
            />
          ))}
          <Spacer height={(models.length - last) * rowHeight} />
        </tbody>
      </table>
    </ScrollBox>
  );
}

/** Returns the height of a row, which is larger in a narrow window. */
function useRowHeight(): number {
  const [media] = useState(() => window.matchMedia(NARROW));
  const [isNarrow, setNarrow] = useState(media.matches);
  useEffect(() => {
    const read = () => setNarrow(media.matches);
    media.addEventListener("change", read);
    return () => media.removeEventListener("change", read);
  }, [media]);
  return isNarrow ? ROW_HEIGHTS.narrow : ROW_HEIGHTS.wide;
}

/** Follows the position of a box that scrolls, and returns the range of rows to draw. */
function useVisibleRows(
  box: { current: HTMLElement | null },
  models: readonly CatalogModel[],
  rowHeight: number,
) {
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(FIRST_ROWS * ROW_HEIGHTS.wide);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const read = () => setTop(Math.floor(element.scrollTop / rowHeight));
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, [box, rowHeight]);
  const rows = Math.ceil(height / rowHeight) + 2 * MARGIN;
  const first = Math.max(0, Math.min(top - MARGIN, models.length - rows));
  return { first, last: Math.min(models.length, first + rows) };
}

function Spacer({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr class="spacer">
      <td style={{ height: `${height}px` }} />
    </tr>
  );
}

function ColumnHead({ name, isNumber, filters, onSort }: (typeof COLUMNS)[number] & TableProps) {
  const column = SORTS.find((sort) => sort === name);
  const isSorted = filters.sort === name;
  const order = filters.isDescending ? "descending" : "ascending";
  const classes = `col-${name}${isNumber ? " number" : ""}`;
  if (column === undefined) return <th class={classes}>{words.columns[name]}</th>;
  return (
    <th class={classes} aria-sort={isSorted ? order : undefined}>
      <SortButton column={column} isSorted={isSorted} filters={filters} onSort={onSort} />
    </th>
  );
}

function SortButton(props: {
  column: Sort;
  isSorted: boolean;
  filters: ModelFilters;
  onSort: TableProps["onSort"];
}) {
  const { column, isSorted, filters, onSort } = props;
  return (
    <button type="button" class="sort" onClick={() => onSort(nextSort(filters, column))}>
      {words.columns[column]}
      {isSorted ? (
        <span class={filters.isDescending ? "sort-mark" : "sort-mark up"}>
          <Icon name="down" size={12} />
        </span>
      ) : null}
    </button>
  );
}

interface RowProps {
  readonly model: CatalogModel;
  readonly index: number;
  readonly isSelected: boolean;
  readonly isFull: boolean;
  readonly onSelect: (id: string) => void;
}

function SelectCell(props: {
  model: CatalogModel;
  isSelected: boolean;
  isDisabled: boolean;
  onSelect: (id: string) => void;
}) {
  const { model, isSelected, isDisabled, onSelect } = props;
  return (
    <td class="col-select">
      <input
        type="checkbox"
        aria-label={words.select(model.name)}
        title={isDisabled ? words.selectedMost : undefined}
        checked={isSelected}
        disabled={isDisabled}
        onChange={() => onSelect(model.id)}
      />
    </td>
  );
}

function ModelRow({ model, index, isSelected, isFull, onSelect }: RowProps) {
  const { id, name, pricing, is_free } = model;
  return (
    <tr aria-rowindex={index} aria-selected={isSelected}>
      <SelectCell
        model={model}
        isSelected={isSelected}
        isDisabled={isFull && !isSelected}
        onSelect={onSelect}
      />
      <td class="col-name" title={`${name}\n${id}`}>
        <a href={modelPath(id)}>{name}</a>
        <span class="faint mono">{id}</span>
      </td>
      <td class="number col-context">{printTokens(model.context_length)}</td>
      <td class="number col-input">
        <Price value={pricing?.prompt} isFree={is_free} />
      </td>
      <td class="number col-output">
        <Price value={pricing?.completion} isFree={is_free} />
      </td>
      <td class="number col-cache">
        <Price value={pricing?.input_cache_read} isFree={is_free} />
      </td>
      <td class="col-can quiet" title={printAbilities(model)}>
        {printAbilities(model)}
      </td>
      <td class="number col-providers" title={model.providers.join(", ")}>
        {model.served_by.length}
        <span class="faint"> / {model.providers.length}</span>
      </td>
      <td class="col-status">
        <ServedText model={model} />
      </td>
      <td class="number col-released quiet">{model.released ?? "–"}</td>
    </tr>
  );
}
