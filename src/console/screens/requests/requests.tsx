import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { Check } from "../../parts/field.tsx";
import { Page } from "../../parts/page.tsx";
import { Popover } from "../../parts/popover.tsx";
import { Empty, ErrorBox, RowsSkeleton } from "../../parts/states.tsx";
import { BareTable } from "../../parts/table.tsx";
import { showToast } from "../../parts/toast.tsx";
import { useKeys } from "../../parts/use-keys.ts";
import { type Filters, hasFields, isLive, readFilters } from "../../state/filters.ts";
import { toApiError } from "../../state/load.ts";
import { navigate, query } from "../../state/location.ts";
import { readStored, store } from "../../state/stored.ts";
import { text } from "../../text/text.ts";
import { COLUMNS, pathOf, readColumns } from "./columns.tsx";
import { exportRequests, MOST_ROWS } from "./export.ts";
import { applyFilters, FilterBar } from "./filter-bar.tsx";
import { Histogram } from "./histogram.tsx";
import { type RequestList, useRequests } from "./use-requests.ts";

const words = text.requests;

/** The list of requests: live, filtered by the address, with a histogram. */
export default function Requests() {
  const filters = readFilters(query.value);
  const [columns, setColumns] = useState(() => readColumns(readStored("requests.columns")));
  const [isPaused, setPaused] = useState(false);
  const [isHeld, setHeld] = useState(false);
  const list = useRequests(filters, isPaused || isHeld);
  const key = JSON.stringify(filters);
  // The same element again is not drawn again: a batch of the feed changes rows only.
  const above = useMemo(() => {
    const same = JSON.parse(key) as Filters;
    return (
      <>
        <FilterBar filters={same} />
        <Histogram filters={same} />
      </>
    );
  }, [key]);
  const choose = (id: string, isChosen: boolean) => {
    const chosen = COLUMNS.map((column) => column.id).filter((one) =>
      one === id ? isChosen : columns.includes(one),
    );
    store("requests.columns", chosen.join(","));
    setColumns(readColumns(chosen.join(",")));
  };
  return (
    <Page
      title={words.title}
      fills
      actions={
        <>
          {isLive(filters) ? (
            <LiveButton list={list} isPaused={isPaused} onToggle={() => setPaused(!isPaused)} />
          ) : null}
          <Popover label={words.chooseColumns} icon="columns">
            <div class="column-choice">
              {COLUMNS.map(({ id, title }) => (
                <Check
                  key={id}
                  label={title}
                  isChecked={columns.includes(id)}
                  onChange={(isChosen) => choose(id, isChosen)}
                />
              ))}
            </div>
          </Popover>
          <ExportButton filters={filters} />
        </>
      }
    >
      {above}
      <Rows list={list} filters={filters} columns={columns} onHold={setHeld} />
    </Page>
  );
}

function LiveButton(props: { list: RequestList; isPaused: boolean; onToggle: () => void }) {
  const { feed, dropped } = props.list;
  const state = props.isPaused ? "paused" : feed;
  return (
    <Button
      icon={props.isPaused ? "play" : "pause"}
      onClick={props.onToggle}
      label={dropped > 0 ? words.dropped(dropped) : words.feedAbout[state]}
    >
      <span class={`live-dot ${state}`} />
      {words.feed[state]}
    </Button>
  );
}

function ExportButton({ filters }: { filters: Filters }) {
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      const count = await exportRequests(filters);
      showToast(count < MOST_ROWS ? words.exported(count) : words.exportedMost(MOST_ROWS));
    } catch (error) {
      showToast(toApiError(error).message, { isError: true });
    }
    setBusy(false);
  };
  return <Button icon="download" label={words.export} isBusy={isBusy} onClick={run} />;
}

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

function Rows({ list, filters, columns, onHold }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const isOver = useRef(false);
  const [selected, setSelected] = useState<string | null>(null);
  const shown = useMemo(() => COLUMNS.filter(({ id }) => columns.includes(id)), [columns]);
  const { rows } = list;
  const hold = () => onHold(isOver.current || (box.current?.scrollTop ?? 0) > 0);
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
  }, [selected]);
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
      />
    ),
    [shown, rows, selected],
  );
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
      class="table-box fill"
      tabIndex={0}
      aria-label={words.title}
      onScroll={hold}
      onMouseEnter={() => {
        isOver.current = true;
        hold();
      }}
      onMouseLeave={() => {
        isOver.current = false;
        hold();
      }}
    >
      {list.waiting.length > 0 ? (
        <button type="button" class="new-pill" onClick={showNew}>
          {words.newRows(list.waiting.length)}
        </button>
      ) : null}
      {rows.length === 0 ? <NoRows list={list} filters={filters} /> : table}
      <More list={list} />
    </section>
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
        {words.clearFilters}
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
  if (!hasMore) return null;
  return (
    <div ref={end} class="list-end">
      {list.error === null ? (
        <Button kind="bare" isBusy={isLoading} onClick={loadMore}>
          {isLoading ? text.states.loading : words.more}
        </Button>
      ) : (
        <ErrorBox error={list.error} onRetry={loadMore} />
      )}
    </div>
  );
}
