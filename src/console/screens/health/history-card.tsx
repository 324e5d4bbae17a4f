import { call } from "../../api/client.ts";
import type { ProviderHealth } from "../../api/schema.ts";
import { Segments } from "../../parts/controls/segments.tsx";
import { ErrorBox, RowsSkeleton } from "../../parts/layout/states.tsx";
import { formatAxisTime, formatCount } from "../../parts/values/format.ts";
import { type Loaded, useLoad } from "../../state/load.ts";
import { query, setQuery } from "../../state/location.ts";
import { useRefresh } from "../../state/refresh.ts";
import { text } from "../../text/text.ts";
import { type History, type HistoryRange, listHistoryRows, printSucceeded } from "./history-rows.ts";
import { OutcomeStrip } from "./outcome-strip.tsx";

const words = text.health.history;

const RANGES: readonly HistoryRange[] = ["hour", "day", "week"];

/** How often the history is loaded again while it is visible. Milliseconds. */
const REFRESH_MS = 15_000;

/** Loads the history of the range that the address names. */
export function useHistory(): Loaded<History> {
  const range = readRange();
  const loaded = useLoad(`history ${range}`, (signal) =>
    call("GET /api/admin/health/history", { query: { range }, signal }),
  );
  useRefresh(loaded, REFRESH_MS);
  // The numbers of another range are never shown under this one.
  return loaded.data?.range === range ? loaded : { ...loaded, data: null };
}

/** Returns the range that the address names. */
export function readRange(): HistoryRange {
  return RANGES.find((range) => range === query.value["range"]) ?? "day";
}

/** The outcomes of all providers over an hour, a day or a week. */
export function HistoryCard({
  shown,
  loaded,
}: {
  shown: readonly ProviderHealth[];
  loaded: Loaded<History>;
}) {
  const { data, error, reload } = loaded;
  return (
    <section class="card">
      <div class="card-head">
        <h2>{words.title}</h2>
        <Legend />
        <span class="grow" />
        <RangeChoice />
      </div>
      {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
      {data !== null ? (
        <Rows shown={shown} history={data} />
      ) : error === null ? (
        <RowsSkeleton rows={Math.max(1, shown.length)} />
      ) : null}
    </section>
  );
}

function RangeChoice() {
  return (
    <Segments
      label={words.range}
      value={readRange()}
      choices={RANGES.map((value) => ({ value, label: words.ranges[value] }))}
      onChange={(range) => setQuery({ range: range === "day" ? null : range })}
    />
  );
}

function Legend() {
  return (
    <span class="strip-legend quiet">
      {(["good", "warn", "bad"] as const).map((tone) => (
        <span key={tone} class={`strip-sample is-${tone}`}>
          {words.legend[tone]}
        </span>
      ))}
    </span>
  );
}

function Rows({ shown, history }: { shown: readonly ProviderHealth[]; history: History }) {
  const { from, to, bucket_s, bucket_count } = history;
  const rangeMs = bucket_s * bucket_count * 1_000;
  return (
    <div class="strips">
      {listHistoryRows(shown, history).map((row) => (
        <div key={row.provider} class="strip-row">
          <span class="cut strip-name" title={row.provider}>
            {row.name}
          </span>
          <OutcomeStrip row={row} history={history} />
          <span class="strip-sum">
            {printSucceeded(row.outcomes)}{" "}
            <span class="quiet">
              {row.outcomes === null
                ? words.none
                : words.ofAttempts(formatCount(row.outcomes.total.attempts))}
            </span>
          </span>
        </div>
      ))}
      <div class="strip-row strip-axis faint" aria-hidden="true">
        <span />
        <span class="row">
          <span>{formatAxisTime(Date.parse(from), rangeMs)}</span>
          <span class="grow" />
          <span>{formatAxisTime(Date.parse(to), 0)}</span>
        </span>
        <span />
      </div>
    </div>
  );
}

/** The outcomes of one provider, with the choice of the range. */
export function ProviderHistory({ row, loaded }: { row: ProviderHealth; loaded: Loaded<History> }) {
  const { data } = loaded;
  return data === null ? <RowsSkeleton rows={1} /> : <Rows shown={[row]} history={onlyOf(data, row)} />;
}

function onlyOf(history: History, { provider }: ProviderHealth): History {
  return { ...history, data: history.data.filter((one) => one.provider === provider) };
}
