import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { type Bar, Bars } from "../../parts/charts/bars.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatAxisTime, formatCount, formatExactTime } from "../../parts/values/format.ts";
import { type Filters, isLive, toApiQuery } from "../../state/filters.ts";
import { useLoad } from "../../state/load.ts";
import { readStored, store } from "../../state/stored.ts";
import { text } from "../../text/text.ts";
import { applyFilters } from "./filter-bar.tsx";

type Answer = Operations["GET /api/admin/generations/histogram"]["response"];
type Bucket = Answer["buckets"][number];

const BUCKETS = 96;
/** How often the counts of a range that ends now are read again. Milliseconds. */
const REFRESH_MS = 15_000;
const words = text.requests;

/** Whether there are counts of what is listed. Rejected requests are not counted by time. */
function isCounted({ id, fields }: Filters): boolean {
  return id === null && fields.outcome !== "rejected";
}

/** The number of generations over time by outcome. Dragging over it chooses a range. */
export function Histogram({ filters }: { filters: Filters }) {
  const key = JSON.stringify(filters);
  const { data, error, reload } = useLoad(isCounted(filters) ? key : null, (signal) =>
    call("GET /api/admin/generations/histogram", {
      query: { ...toApiQuery(filters, Date.now()), buckets: BUCKETS },
      signal,
    }),
  );
  const refreshes = isLive(filters);
  useEffect(() => {
    if (!refreshes) return;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [refreshes, reload]);
  if (!isCounted(filters) || error !== null) return null;
  return (
    <div class="histogram">
      {data === null ? (
        <div class="bars" style={{ height: "56px" }} />
      ) : (
        <Chart answer={data} filters={filters} />
      )}
    </div>
  );
}

/** The key of the choice between bars and table in the browser's storage. */
const VIEW = "requests.histogram";

function Chart({ answer, filters }: { answer: Answer; filters: Filters }) {
  const { buckets, bucket_ms } = answer;
  const [from, to] = [Date.parse(answer.from), Date.parse(answer.to)];
  const sum = (name: "completed" | "failed" | "cancelled" | "open") =>
    buckets.reduce((total, bucket) => total + bucket[name], 0);
  const total = sum("completed") + sum("failed") + sum("cancelled") + sum("open");
  const choose = (first: number, last: number) =>
    applyFilters({ ...filters, time: { from: from + first * bucket_ms, to: from + (last + 1) * bucket_ms } });
  const about = answer.is_exact ? "" : words.estimated;
  const [isTable, setTable] = useState(() => readStored(VIEW) === "table");
  const toggle = () => {
    store(VIEW, isTable ? null : "table");
    setTable(!isTable);
  };
  return (
    <>
      {isTable ? (
        <CountTable buckets={buckets} />
      ) : (
        <Bars
          label={words.histogram(formatCount(total), formatCount(sum("failed")))}
          bars={buckets.map(toBar)}
          onChoose={choose}
        />
      )}
      <div class="bars-axis">
        <span>{formatAxisTime(from, to - from)}</span>
        <span>
          <span class="strong">{formatCount(total)}</span> {words.requests}
          {sum("failed") > 0 ? (
            <>
              {", "}
              <span class="bad">
                {formatCount(sum("failed"))} {text.outcomes.failed.toLowerCase()}
              </span>
            </>
          ) : null}
          {about}
        </span>
        <span class="row">
          {formatAxisTime(to, to - from)}
          <Button
            kind="bare"
            size="small"
            icon={isTable ? "chart" : "list"}
            label={isTable ? words.showBars : words.showTable}
            onClick={toggle}
          />
        </span>
      </div>
    </>
  );
}

const COUNT_COLUMNS: readonly Column<Bucket>[] = [
  { id: "at", title: words.from, cell: formatBegin },
  ...(["completed", "failed", "cancelled", "open"] as const).map((name) => ({
    id: name,
    title: text.outcomes[name],
    width: 110,
    isNumber: true,
    cell: (bucket: Bucket) => formatCount(bucket[name]),
  })),
];

/** The numbers of the bars. Times without requests are left out. */
function CountTable({ buckets }: { buckets: readonly Bucket[] }) {
  const rows = buckets.filter(
    ({ completed, failed, cancelled, open }) => completed + failed + cancelled + open > 0,
  );
  return <Table label={words.histogramTable} columns={COUNT_COLUMNS} rows={rows} keyOf={({ at }) => at} />;
}

function formatBegin({ at }: Bucket): string {
  return formatExactTime(Date.parse(at)).replace(/\.\d+$/, "");
}

function toBar(bucket: Bucket): Bar {
  const { completed, failed, cancelled, open } = bucket;
  return {
    title: formatBegin(bucket),
    parts: [
      { name: text.outcomes.failed, value: failed, tone: "bad" },
      { name: text.outcomes.cancelled, value: cancelled, tone: "other" },
      { name: text.outcomes.completed, value: completed + open, tone: "good" },
    ],
  };
}
