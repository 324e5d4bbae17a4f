import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../../parts/controls/button.tsx";
import { useKeys } from "../../parts/controls/use-keys.ts";
import { Empty, ErrorBox, RowsSkeleton } from "../../parts/layout/states.tsx";
import { BareTable } from "../../parts/lists/table.tsx";
import { type Filters, hasFields } from "../../state/filters.ts";
import { navigate } from "../../state/location.ts";
import { zone } from "../../state/time-zone.ts";
import { text } from "../../text/text.ts";
import { COLUMNS, pathOf, withZone } from "./columns.tsx";
import { applyFilters } from "./filter-bar.tsx";
import type { RequestList } from "./use-requests.ts";

const words = text.requests;

function openRow({ id }: { readonly id: string }): void {
  navigate(pathOf(id));
}

interface RowsProps {
  readonly list: RequestList;
  readonly filters: Filters;
  readonly columns: readonly string[];
  /** Called with whether new rows must wait, because the list is being read. */
  readonly onHold: (isHeld: boolean) => void;
}

/** The rows of the list. New ones wait while the pointer is over them, while they are scrolled, and while one is selected. */
export function Rows({ list, filters, columns, onHold }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const isOver = useRef(false);
  const hold = () => onHold(isOver.current || (box.current?.scrollTop ?? 0) > 0);
  const [selected, setSelected] = useSelection({ list, box, onHold, hold });
  const shown = useMemo(
    () => withZone(COLUMNS.filter(({ id }) => columns.includes(id))),
    [columns, zone.value],
  );
  const { rows, isStale } = list;
  // The same element again is not compared with its rows: most batches of a busy feed only change how many rows wait.
  const table = useMemo(
    () => (
      <BareTable
        label={words.title}
        columns={shown}
        rows={rows}
        keyOf={({ id }) => id}
        selected={selected}
        onOpen={openRow}
        hasCards
      />
    ),
    [shown, rows, selected],
  );
  const point = (isPointedAt: boolean) => () => {
    isOver.current = isPointedAt;
    hold();
  };
  const showNew = () => {
    list.showWaiting();
    setSelected(null);
    box.current?.scrollTo({ top: 0 });
  };
  if (list.error !== null && rows.length === 0)
    return (
      <div class="page-body">
        <ErrorBox error={list.error} onRetry={list.reload} />
      </div>
    );
  return (
    <section
      ref={box}
      class={isStale ? "table-box fill stale" : "table-box fill"}
      aria-busy={isStale}
      tabIndex={0}
      aria-label={words.title}
      onScroll={hold}
      onMouseEnter={point(true)}
      onMouseLeave={point(false)}
    >
      <NewRows count={list.waiting.length} onShow={showNew} />
      {rows.length === 0 ? <NoRows list={list} filters={filters} /> : table}
      <More list={list} />
    </section>
  );
}

interface SelectionParts extends Pick<RowsProps, "list" | "onHold"> {
  readonly box: RefObject<HTMLDivElement | null>;
  /** Holds new rows back only if the list is being read for another reason than the selection. */
  readonly hold: () => void;
}

/** Returns the id of the selected row, which keys move and open, and the function that changes it. */
function useSelection({ list: { rows }, box, onHold, hold }: SelectionParts) {
  const [selected, setSelected] = useState<string | null>(null);
  const move = (step: number) => {
    const at = rows.findIndex(({ id }) => id === selected);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (next === undefined) return;
    setSelected(next.id);
    onHold(true);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => selected !== null && navigate(pathOf(selected)),
    Escape: () => {
      setSelected(null);
      hold();
    },
  });
  useEffect(() => {
    if (selected !== null)
      box.current?.querySelector("tr[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [selected, box]);
  return [selected, setSelected] as const;
}

/** The button that shows the rows that wait. */
function NewRows({ count, onShow }: { count: number; onShow: () => void }) {
  if (count === 0) return null;
  return (
    <button type="button" class="new-pill" onClick={onShow}>
      {words.newRows(count)}
    </button>
  );
}

function NoRows({ list, filters }: Pick<RowsProps, "list" | "filters">) {
  if (list.isLoading) return <RowsSkeleton rows={16} />;
  if (list.hasMore) return null;
  if (!hasFields(filters))
    return (
      <Empty title={words.none}>
        <p>{words.noneAbout}</p>
        <a class="button" href="/console/welcome">
          {text.welcome.title}
        </a>
      </Empty>
    );
  return (
    <Empty title={words.noMatch}>
      <p>{words.noMatchAbout}</p>
      <Button onClick={() => applyFilters({ time: { last: "30d" }, fields: {}, id: null })}>
        {text.filters.clear}
      </Button>
    </Empty>
  );
}

/** Loads the next page when the end of the list comes into view. A page may be empty and still have a next one. */
function More({ list }: { list: RequestList }) {
  const end = useRef<HTMLDivElement>(null);
  const { hasMore, isLoading, loadMore, rows } = list;
  useEffect(() => {
    if (!hasMore || isLoading || end.current === null) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) loadMore();
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [hasMore, isLoading, loadMore, rows.length]);
  if (list.error !== null)
    return (
      <div class="list-end">
        <ErrorBox error={list.error} onRetry={hasMore ? loadMore : list.reload} />
      </div>
    );
  if (!hasMore) return null;
  return (
    <div ref={end} class="list-end">
      <Button kind="bare" isBusy={isLoading} onClick={loadMore}>
        {isLoading ? text.states.loading : words.more}
      </Button>
    </div>
  );
}
