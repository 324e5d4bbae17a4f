import { useMemo, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { UsageLine } from "../../api/schema.ts";
import { formatAxisMoney } from "../../parts/charts/axis-money.ts";
import { Chart } from "../../parts/charts/chart.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import { ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { formatShortCount } from "../../parts/values/format.ts";
import { useLoad } from "../../state/load.ts";
import { now } from "../../state/now.ts";
import { text } from "../../text/text.ts";
import { valuesByStep } from "./usage-lines.ts";
import { listSteps, type Period, periodOf } from "./usage-view.ts";

const METRICS = ["cost", "requests", "errors", "tokens"] as const;
type PanelMetric = (typeof METRICS)[number];

/** Whose usage a panel shows: of an account, or of a key, a user or a team in it. */
export type UsageOf = {
  readonly account_id?: string;
  readonly key_id?: string;
  readonly user_id?: string;
  readonly team_id?: string;
};

/** Loads the usage of the last 30 days by day; null loads nothing. */
export function useDailyUsage(of: UsageOf | null) {
  const [period] = useState(() => periodOf("30d", now.peek()));
  const { from, to } = period;
  const loaded = useLoad(of === null ? null : JSON.stringify([of, from, to]), async (signal) => {
    return (await call("GET /api/admin/usage", { query: { from, to, group_by: "day", ...of }, signal })).data;
  });
  return { ...loaded, period };
}

/** The usage of the last 30 days as a chart by day. */
export function UsagePanel({ usage }: { usage: ReturnType<typeof useDailyUsage> }) {
  const { data, error, period, reload } = usage;
  if (error !== null) return <ErrorBox error={error} onRetry={reload} />;
  if (data === null) return <Skeleton lines={6} />;
  return <DailyChart lines={data} period={period} />;
}

function DailyChart({ lines, period }: { lines: readonly UsageLine[]; period: Period }) {
  const [metric, setMetric] = useState<PanelMetric>("cost");
  const { times, series } = useMemo(() => {
    const steps = listSteps(period);
    const values = valuesByStep(lines, steps, metric);
    const drawn = { id: metric, label: text.usage.metrics[metric], style: 1, values };
    return { times: steps.map((step) => Date.parse(step)), series: [drawn] };
  }, [lines, period, metric]);
  return (
    <Chart
      title={text.usage.chartTitle(text.usage.metrics[metric], "day")}
      controls={
        <Segments<PanelMetric>
          label={text.usage.metric}
          value={metric}
          choices={METRICS.map((value) => ({ value, label: text.usage.metrics[value] }))}
          onChange={setMetric}
        />
      }
      times={times}
      series={series}
      isDaily
      // The range ends with the present day.
      isRunning
      format={metric === "cost" ? formatAxisMoney : formatShortCount}
    />
  );
}
