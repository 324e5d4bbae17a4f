import { useMemo } from "preact/hooks";
import type { UsageLine } from "../../api/schema.ts";
import { formatAxisMoney } from "../../parts/charts/axis-money.ts";
import { Chart } from "../../parts/charts/chart.tsx";
import type { ChartSeries } from "../../parts/charts/chart-data.ts";
import { Select } from "../../parts/controls/field.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import { formatDuration, formatShare, formatShortCount } from "../../parts/values/format.ts";
import { setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { PERCENTILES, timeOf, valuesBy, valuesByGroup, valuesByStep } from "./usage-lines.ts";
import {
  isTime,
  listSteps,
  METRICS,
  type Metric,
  previousPeriod,
  type TimeMetric,
  type UsageView,
} from "./usage-view.ts";

const FORMATS: Readonly<Record<Metric, (value: number) => string>> = {
  cost: formatAxisMoney,
  requests: formatShortCount,
  errors: formatShortCount,
  tokens: formatShortCount,
  cached: formatShare,
  latency: formatDuration,
  duration: formatDuration,
};

/** A metric by day or hour, and that of the period before as a dashed line under it; of a time its percentiles. */
export function UsageChart(props: {
  view: UsageView;
  steps: readonly UsageLine[];
  stepsBefore: readonly UsageLine[] | null;
  cells: readonly UsageLine[] | null;
}) {
  const { view, steps, stepsBefore, cells } = props;
  const { metric, by, period } = view;
  const isSplit = view.isSplit && cells !== null;
  const { times, series } = useMemo(() => {
    const shown = listSteps(period);
    const times = shown.map((step) => Date.parse(step));
    if (isSplit) return { times, series: drawnByGroup(view, shown, cells) };
    if (isTime(metric)) return { times, series: drawnTimes(metric, shown, steps) };
    return { times, series: drawn(view, shown, { steps, stepsBefore }) };
  }, [period.from, period.to, metric, by, steps, stepsBefore, cells, isSplit]);
  const title =
    isSplit && isTime(metric)
      ? text.usage.percentileOf(text.usage.metrics[metric])
      : text.usage.metrics[metric];
  return (
    <Chart
      title={text.usage.chartTitle(title, period.step)}
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
      isDaily={period.step === "day"}
      isRunning={view.isRunning}
      format={FORMATS[metric]}
    />
  );
}

interface Drawn {
  readonly steps: readonly UsageLine[];
  readonly stepsBefore: readonly UsageLine[] | null;
}

function drawn(
  { metric, period }: UsageView,
  shown: readonly string[],
  { steps, stepsBefore }: Drawn,
): readonly ChartSeries[] {
  const values = valuesByStep(steps, shown, metric);
  const now = { id: "now", label: text.usage.thisPeriod, style: 1, values };
  if (stepsBefore === null) return [now];
  const before = valuesByStep(stepsBefore, listSteps(previousPeriod(period)), metric);
  return [{ id: "before", label: text.usage.periodBefore, style: 0, values: before }, now];
}

/** The styles of percentiles. The first style has a filled area, which is for a single line. */
const PERCENTILE_STYLES = { p50: 3, p90: 7, p99: 2 } as const;

function drawnTimes(
  metric: TimeMetric,
  shown: readonly string[],
  steps: readonly UsageLine[],
): readonly ChartSeries[] {
  return PERCENTILES.map((percentile) => ({
    id: percentile,
    label: text.usage.percentiles[percentile],
    style: PERCENTILE_STYLES[percentile],
    values: valuesBy(steps, shown, { read: (line) => timeOf(line, metric, percentile), absent: null }),
  }));
}

/** The styles of the largest groups. */
const GROUP_STYLES = [2, 3, 4, 5, 7];
const REST_STYLE = 6;

/** A line for each of the largest groups, and one for the rest. */
function drawnByGroup(
  { metric, by }: UsageView,
  shown: readonly string[],
  cells: readonly UsageLine[],
): readonly ChartSeries[] {
  const groups = valuesByGroup(cells, shown, { by, metric });
  return groups.map(({ id, name, isRest, values }, i) => ({
    id: isRest ? "rest" : `group ${id}`,
    label: isRest ? text.usage.rest : id === null ? text.usage.none[by] : (name ?? id),
    style: isRest ? REST_STYLE : (GROUP_STYLES[i] ?? REST_STYLE),
    values,
  }));
}
