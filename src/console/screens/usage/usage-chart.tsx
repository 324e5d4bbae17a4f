import { useMemo } from "preact/hooks";
import { formatAxisMoney } from "../../parts/axis-money.ts";
import { Chart } from "../../parts/chart.tsx";
import type { ChartSeries } from "../../parts/chart-data.ts";
import { Select } from "../../parts/field.tsx";
import { formatShare, formatShortCount } from "../../parts/format.ts";
import { Segments } from "../../parts/segments.tsx";
import { setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { type UsageLine, valuesByDay, valuesByGroup } from "./usage-lines.ts";
import { listDays, METRICS, type Metric, previousDays, type UsageView } from "./usage-view.ts";

const FORMATS: Readonly<Record<Metric, (value: number) => string>> = {
  cost: formatAxisMoney,
  requests: formatShortCount,
  errors: formatShortCount,
  tokens: formatShortCount,
  cached: formatShare,
};

/** A metric by day, and that of the period before as a dashed line under it. */
export function UsageChart(props: {
  view: UsageView;
  days: readonly UsageLine[];
  daysBefore: readonly UsageLine[] | null;
  cells: readonly UsageLine[] | null;
}) {
  const { view, days, daysBefore, cells } = props;
  const { metric, by } = view;
  const isSplit = view.isSplit && cells !== null;
  const { from, to } = view.days;
  const { times, series } = useMemo(
    () => (isSplit ? drawnByGroup(view, cells) : drawn(view, days, daysBefore)),
    [from, to, metric, by, days, daysBefore, cells, isSplit],
  );
  return (
    <Chart
      title={text.usage.chartTitle(text.usage.metrics[metric])}
      controls={
        <>
          <Select
            label={text.usage.metric}
            hidesLabel
            value={metric}
            choices={METRICS.map((value) => ({ value, label: text.usage.metrics[value] }))}
            onChange={(value) => setQuery({ metric: value })}
          />
          {cells === null ? null : (
            <Segments
              label={text.usage.lines}
              value={isSplit ? "yes" : "no"}
              choices={[
                { value: "no", label: text.usage.linesTotal },
                { value: "yes", label: text.usage.linesBy(text.usage.dimensions[by]) },
              ]}
              onChange={(split) => setQuery({ split: split === "yes" ? split : null })}
            />
          )}
        </>
      }
      times={times}
      series={series}
      isDaily
      format={FORMATS[metric]}
    />
  );
}

function drawn(
  { metric, days: range }: UsageView,
  days: readonly UsageLine[],
  daysBefore: readonly UsageLine[] | null,
): { readonly times: readonly number[]; readonly series: readonly ChartSeries[] } {
  const shown = listDays(range);
  const now = { id: "now", label: text.usage.thisPeriod, style: 1, values: valuesByDay(days, shown, metric) };
  const times = shown.map((day) => Date.parse(day));
  if (daysBefore === null) return { times, series: [now] };
  const values = valuesByDay(daysBefore, listDays(previousDays(range)), metric);
  return { times, series: [{ id: "before", label: text.usage.periodBefore, style: 0, values }, now] };
}

/** The styles of the largest groups. The first style has a filled area, which is for a single line. */
const GROUP_STYLES = [2, 3, 4, 5, 7];
const REST_STYLE = 6;

/** A line for each of the largest groups, and one for the rest. */
function drawnByGroup({ metric, by, days: range }: UsageView, cells: readonly UsageLine[]) {
  const shown = listDays(range);
  const groups = valuesByGroup(cells, shown, { by, metric });
  const series = groups.map(({ id, name, isRest, values }, i) => ({
    id: isRest ? "rest" : `group ${id}`,
    label: isRest ? text.usage.rest : id === null ? text.usage.none[by] : (name ?? id),
    style: isRest ? REST_STYLE : (GROUP_STYLES[i] ?? REST_STYLE),
    values,
  }));
  return { times: shown.map((day) => Date.parse(day)), series };
}
