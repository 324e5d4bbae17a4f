import { useMemo } from "preact/hooks";
import { formatAxisMoney } from "../../parts/axis-money.ts";
import { Chart } from "../../parts/chart.tsx";
import type { ChartSeries } from "../../parts/chart-data.ts";
import { Select } from "../../parts/field.tsx";
import { formatShare, formatShortCount } from "../../parts/format.ts";
import { setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { type UsageLine, valuesByDay } from "./usage-lines.ts";
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
}) {
  const { view, days, daysBefore } = props;
  const { metric } = view;
  const { from, to } = view.days;
  const { times, series } = useMemo(
    () => drawn(view, days, daysBefore),
    [from, to, metric, days, daysBefore],
  );
  return (
    <Chart
      title={text.usage.chartTitle(text.usage.metrics[metric])}
      controls={
        <Select
          label={text.usage.metric}
          hidesLabel
          value={metric}
          choices={METRICS.map((value) => ({ value, label: text.usage.metrics[value] }))}
          onChange={(value) => setQuery({ metric: value })}
        />
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
