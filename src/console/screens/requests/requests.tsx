import { useMemo, useState } from "preact/hooks";
import { Button } from "../../parts/controls/button.tsx";
import { Check } from "../../parts/controls/field.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Popover } from "../../parts/layout/popover.tsx";
import { showFailure, showToast } from "../../parts/layout/toast.tsx";
import { type Filters, isLive, readFilters } from "../../state/filters.ts";
import { query } from "../../state/location.ts";
import { isOperator } from "../../state/session.ts";
import { readStored, store } from "../../state/stored.ts";
import { text } from "../../text/text.ts";
import { COLUMNS, readColumns } from "./columns.tsx";
import { exportRequests, MAX_ROWS } from "./export.ts";
import { RequestFilters } from "./filter-bar.tsx";
import { Histogram } from "./histogram.tsx";
import { Rows } from "./rows.tsx";
import { type RequestList, useRequests } from "./use-requests.ts";

const words = text.requests;
/** Where the browser keeps the chosen columns. */
const COLUMNS_KEY = "requests.columns";
/** The width of a window from which the account is shown, too. Pixels. */
const WIDE = 1_600;

/** Whether there is room for the account, which only the operator sees several of. */
function isWide(): boolean {
  return isOperator.value && window.innerWidth >= WIDE;
}

/** The list of requests: live, filtered by the address, with a histogram. */
export default function Requests() {
  const filters = readFilters(query.value);
  const [columns, setColumns] = useState(() => readColumns(readStored(COLUMNS_KEY), isWide()));
  const [isPaused, setPaused] = useState(false);
  const [isHeld, setHeld] = useState(false);
  const list = useRequests(filters, isPaused || isHeld);
  const key = JSON.stringify(filters);
  // The same element again is not drawn again: a batch of the feed changes rows only.
  const above = useMemo(() => {
    const same = JSON.parse(key) as Filters;
    return (
      <>
        <RequestFilters filters={same} />
        <Histogram filters={same} />
      </>
    );
  }, [key]);
  return (
    <Page
      title={words.title}
      fills
      actions={
        <>
          {isLive(filters) ? (
            <LiveButton list={list} isPaused={isPaused} onToggle={() => setPaused(!isPaused)} />
          ) : null}
          <ColumnChoice columns={columns} onChange={setColumns} />
          <ExportButton filters={filters} />
        </>
      }
    >
      {above}
      <Rows list={list} filters={filters} columns={columns} onHold={setHeld} />
    </Page>
  );
}

/** The choice of columns, which the browser keeps. */
function ColumnChoice(props: { columns: readonly string[]; onChange: (columns: readonly string[]) => void }) {
  const choose = (id: string, isChosen: boolean) => {
    const chosen = COLUMNS.map((column) => column.id).filter((one) =>
      one === id ? isChosen : props.columns.includes(one),
    );
    store(COLUMNS_KEY, chosen.join(","));
    props.onChange(readColumns(chosen.join(","), isWide()));
  };
  return (
    <Popover label={words.chooseColumns} icon="columns">
      <div class="column-choice">
        {COLUMNS.map(({ id, title }) => (
          <Check
            key={id}
            label={title}
            isChecked={props.columns.includes(id)}
            onChange={(isChosen) => choose(id, isChosen)}
          />
        ))}
      </div>
    </Popover>
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
      showToast(count < MAX_ROWS ? words.exported(count) : words.exportedMost(MAX_ROWS));
    } catch (error) {
      showFailure(error);
    }
    setBusy(false);
  };
  return <Button icon="download" label={words.export} isBusy={isBusy} onClick={run} />;
}
