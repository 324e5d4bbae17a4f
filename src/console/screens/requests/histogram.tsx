import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Operations } from "../../api/schema.ts";
import { type Bar, Bars } from "../../parts/bars.tsx";
import { formatAxisTime, formatCount, formatExactTime } from "../../parts/format.ts";
import { type Filters, isLive, toApiQuery } from "../../state/filters.ts";
import { useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import { applyFilters } from "./filter-bar.tsx";

type Answer = Operations["GET /api/admin/generations/histogram"]["response"];

const BUCKETS = 96;
/** How often the counts of a range that ends now are read again. Milliseconds. */
const REFRESH_MS = 15_000;
const words = text.requests;

/** The number of generations over time by outcome. Dragging over it chooses a range. */
export function Histogram({ filters }: { filters: Filters }) {
  const key = JSON.stringify(filters);
  const { data, error, reload } = useLoad(filters.id === null ? key : null, (signal) =>
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
  if (filters.id !== null || error !== null) return null;
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

function Chart({ answer, filters }: { answer: Answer; filters: Filters }) {
  const { buckets, bucket_ms } = answer;
  const [from, to] = [Date.parse(answer.from), Date.parse(answer.to)];
  const sum = (name: "completed" | "failed" | "cancelled" | "open") =>
    buckets.reduce((total, bucket) => total + bucket[name], 0);
  const total = sum("completed") + sum("failed") + sum("cancelled") + sum("open");
  const choose = (first: number, last: number) =>
    applyFilters({ ...filters, time: { from: from + first * bucket_ms, to: from + (last + 1) * bucket_ms } });
  const about = answer.is_exact ? "" : words.estimated;
  return (
    <>
      <Bars
        label={words.histogram(formatCount(total), formatCount(sum("failed")))}
        bars={buckets.map(toBar)}
        onChoose={choose}
      />
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
        <span>{formatAxisTime(to, to - from)}</span>
      </div>
    </>
  );
}

function toBar({ at, completed, failed, cancelled, open }: Answer["buckets"][number]): Bar {
  return {
    title: formatExactTime(Date.parse(at)).replace(/\.\d+$/, ""),
    parts: [
      { name: text.outcomes.failed, value: failed, tone: "bad" },
      { name: text.outcomes.cancelled, value: cancelled, tone: "other" },
      { name: text.outcomes.completed, value: completed + open, tone: "good" },
    ],
  };
}
