import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { type Bar, type BarPart, Bars } from "../../parts/charts/bars.tsx";
import { roundUpCount } from "../../parts/charts/chart-data.ts";
import { Button } from "../../parts/controls/button.tsx";
import { ErrorBox } from "../../parts/layout/states.tsx";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { formatAxisTime, formatCount, formatShortCount, formatSpan } from "../../parts/values/format.ts";
import { ZoneSwitch } from "../../parts/values/zone.tsx";
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
/** The height of the bars. Pixels. */
const HEIGHT = 72;
/** Where the scale of times has labels, as shares of its length. */
const LABELS = [0, 0.25, 0.5, 0.75, 1];
const words = text.requests;

/** Whether there are counts of what is listed. Rejected requests are not counted by time. */
function isCounted({ id, fields }: Filters): boolean {
  return id === null && fields.outcome !== "rejected";
}

/** The outcomes that bars consist of, from bottom to top, with their colours. */
const PARTS = [
  { outcome: "failed", tone: "bad" },
  { outcome: "cancelled", tone: "other" },
  { outcome: "open", tone: "open" },
  { outcome: "cached", tone: "cached" },
  { outcome: "completed", tone: "good" },
] as const satisfies readonly { outcome: keyof Bucket; tone: BarPart["tone"] }[];

/** The number of generations over time by outcome. Dragging over it chooses a range. */
export function Histogram({ filters }: { filters: Filters }) {
  const key = JSON.stringify(filters);
  const { data, error, isStale, reload } = useLoad(isCounted(filters) ? key : null, (signal) =>
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
  if (!isCounted(filters)) return null;
  return (
    <div class={isStale ? "histogram stale" : "histogram"}>
      {error !== null ? (
        <ErrorBox error={error} onRetry={reload} />
      ) : data === null ? (
        <div class="histogram-space" />
      ) : (
        <Counts answer={data} filters={filters} />
      )}
    </div>
  );
}

/** The key of the choice between bars and table in the browser's storage. */
const VIEW = "requests.histogram";

function Counts({ answer, filters }: { answer: Answer; filters: Filters }) {
  const { buckets } = answer;
  const [at, setAt] = useState<number | null>(null);
  const [isTable, setTable] = useState(() => readStored(VIEW) === "table");
  const toggle = () => {
    store(VIEW, isTable ? null : "table");
    setTable(!isTable);
  };
  return (
    <>
      <div class="legend histogram-legend">
        <Legend answer={answer} bucket={at === null ? undefined : buckets[at]} />
        <ZoneSwitch kind="short" />
        <Button
          kind="bare"
          size="small"
          icon={isTable ? "chart" : "list"}
          label={isTable ? words.showBars : words.showTable}
          onClick={toggle}
        />
      </div>
      {isTable ? (
        <CountTable answer={answer} />
      ) : (
        <Plot answer={answer} filters={filters} at={at} onPoint={setAt} />
      )}
    </>
  );
}

function sumOf(buckets: readonly Bucket[], outcome: (typeof PARTS)[number]["outcome"]): number {
  return buckets.reduce((sum, bucket) => sum + bucket[outcome], 0);
}

/** The colours of the outcomes with their counts: of all periods, or of the one under the cursor. */
function Legend({ answer, bucket }: { answer: Answer; bucket: Bucket | undefined }) {
  const { buckets, is_exact } = answer;
  const counted = bucket === undefined ? buckets : [bucket];
  const shown = PARTS.toReversed().filter(
    ({ outcome }) => outcome === "completed" || sumOf(buckets, outcome) > 0,
  );
  const total = PARTS.reduce((sum, { outcome }) => sum + sumOf(counted, outcome), 0);
  return (
    <>
      <span>
        <strong>{formatCount(total)}</strong> {words.requests}
        {is_exact ? "" : words.estimated}
      </span>
      {shown.map(({ outcome, tone }) => (
        <span key={outcome} class="legend-item" title={words.outcomeHints[outcome]}>
          <svg width="10" height="10" aria-hidden="true">
            <rect class={`bar-${tone}`} width="10" height="10" rx="2" />
          </svg>
          {text.outcomes[outcome]} <strong>{formatCount(sumOf(counted, outcome))}</strong>
        </span>
      ))}
      <span class="grow faint">{bucket === undefined ? "" : printSpan(bucket, answer)}</span>
    </>
  );
}

interface PlotProps {
  readonly answer: Answer;
  readonly filters: Filters;
  readonly at: number | null;
  readonly onPoint: (index: number | null) => void;
}

/** The bars between a scale of counts and one of times. */
function Plot({ answer, filters, at, onPoint }: PlotProps) {
  const { buckets, bucket_ms } = answer;
  const [from, to] = [Date.parse(answer.from), Date.parse(answer.to)];
  const choose = (first: number, last: number) =>
    applyFilters({ ...filters, time: { from: from + first * bucket_ms, to: from + (last + 1) * bucket_ms } });
  const bars = buckets.map((bucket) => toBar(bucket, answer));
  const most = Math.max(...bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0)), 0);
  const top = roundUpCount(most);
  const all = PARTS.reduce((sum, { outcome }) => sum + sumOf(buckets, outcome), 0);
  return (
    <div class="histogram-plot">
      <div class="histogram-scale" style={{ height: `${HEIGHT}px` }} aria-hidden="true">
        <span>{formatShortCount(top)}</span>
        {top === 1 ? null : <span>{formatShortCount(top / 2)}</span>}
        <span>0</span>
      </div>
      <Bars
        label={words.histogram(formatCount(all), formatCount(sumOf(buckets, "failed")))}
        cursorLabel={words.histogramCursor}
        bars={bars}
        top={top}
        height={HEIGHT}
        at={at}
        onPoint={onPoint}
        onChoose={choose}
      />
      <div class="histogram-times" aria-hidden="true">
        {LABELS.map((share) => (
          <span key={share}>
            {formatAxisTime(from + Math.round(share * buckets.length) * bucket_ms, to - from)}
          </span>
        ))}
      </div>
    </div>
  );
}

function printSpan({ at }: Bucket, { bucket_ms, to }: Answer): string {
  const from = Date.parse(at);
  return formatSpan(from, Math.min(from + bucket_ms, Date.parse(to)));
}

function toBar(bucket: Bucket, answer: Answer): Bar {
  return {
    title: printSpan(bucket, answer),
    isRunning: Date.parse(bucket.at) + answer.bucket_ms > Date.now(),
    parts: PARTS.map(({ outcome, tone }) => ({ name: text.outcomes[outcome], value: bucket[outcome], tone })),
  };
}

/** The numbers of the bars. Times without requests are left out. */
function CountTable({ answer }: { answer: Answer }) {
  const columns: readonly Column<Bucket>[] = [
    { id: "at", title: words.columns.time, cell: (bucket) => printSpan(bucket, answer) },
    ...PARTS.toReversed().map(({ outcome }) => ({
      id: outcome,
      title: text.outcomes[outcome],
      width: 110,
      isNumber: true,
      cell: (bucket: Bucket) => formatCount(bucket[outcome]),
    })),
  ];
  const rows = answer.buckets.filter((bucket) => PARTS.some(({ outcome }) => bucket[outcome] > 0));
  return <Table label={words.histogramTable} columns={columns} rows={rows} keyOf={({ at }) => at} />;
}
