import { ApiError, callPath, printQuery } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, ErrorBox, Skeleton } from "../../parts/states.tsx";
import { useLoad } from "../../state/load.ts";
import { query } from "../../state/location.ts";
import { now } from "../../state/now.ts";
import { text } from "../../text/text.ts";
import { UsageChart } from "./usage-chart.tsx";
import { UsageControls } from "./usage-controls.tsx";
import type { UsageLine } from "./usage-lines.ts";
import { sumLines } from "./usage-lines.ts";
import { UsageTable } from "./usage-table.tsx";
import { UsageTotals } from "./usage-totals.tsx";
import { type DayRange, parseUsageView, previousDays, type UsageView } from "./usage-view.ts";

/** The reports of the screen. Those of the period before are null if it is not compared. */
interface Reports {
  readonly days: readonly UsageLine[];
  readonly groups: readonly UsageLine[];
  readonly daysBefore: readonly UsageLine[] | null;
  /** A line for each day and group; null if there are more than a report may have. */
  readonly cells: readonly UsageLine[] | null;
}

/** Usage and cost over time and by a dimension. */
export default function Usage() {
  const view = parseUsageView(query.value, now.peek());
  const { days, by, account, isCompared, filters } = view;
  const key = JSON.stringify([days, by, account, isCompared, filters]);
  const { data, error, isLoading, reload } = useLoad(key, (signal) => loadReports(view, signal));
  return (
    <Page
      title={text.usage.title}
      actions={
        <>
          <a class="button" href={csvLink(view)} download title={text.usage.csvHint}>
            <Icon name="download" />
            {text.usage.csv}
          </a>
          <Button
            icon="refresh"
            kind="bare"
            label={text.app.reload}
            isBusy={isLoading && data !== null}
            onClick={reload}
          />
        </>
      }
    >
      <div class="stack">
        <UsageControls view={view} />
        {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
        {data === null ? (
          error === null ? (
            <Skeleton lines={10} />
          ) : null
        ) : (
          <Content view={view} reports={data} isStale={isLoading} />
        )}
      </div>
    </Page>
  );
}

function Content({ view, reports, isStale }: { view: UsageView; reports: Reports; isStale: boolean }) {
  const { days, groups, daysBefore, cells } = reports;
  const total = sumLines(days);
  return (
    <div class={isStale ? "stack stale" : "stack"} aria-busy={isStale}>
      <UsageTotals total={total} before={daysBefore === null ? null : sumLines(daysBefore)} />
      {total.requests === 0 ? (
        <Empty title={text.usage.empty}>
          <p>{text.usage.emptyAbout}</p>
        </Empty>
      ) : (
        <>
          <UsageChart view={view} days={days} daysBefore={daysBefore} cells={cells} />
          <UsageTable view={view} lines={groups} cells={cells} />
        </>
      )}
    </div>
  );
}

async function loadReports(view: UsageView, signal: AbortSignal): Promise<Reports> {
  const load = async (range: DayRange, by: string) => {
    const found = await callPath("GET /api/admin/usage", { query: usageQuery(view, range, by), signal });
    return (found as { readonly data: readonly UsageLine[] }).data;
  };
  const [days, groups, daysBefore, cells] = await Promise.all([
    load(view.days, "day"),
    load(view.days, view.by),
    view.isCompared ? load(previousDays(view.days), "day") : null,
    load(view.days, `day,${view.by}`).catch(ignoreTooMany),
  ]);
  return { days, groups, daysBefore, cells };
}

/** A report of too many lines is refused as a bad request. The screen then has no trends. */
function ignoreTooMany(error: unknown): null {
  if (error instanceof ApiError && error.status === 400) return null;
  throw error;
}

function usageQuery({ account, filters }: UsageView, range: DayRange, by: string) {
  return { from: range.from, to: range.to, group_by: by, account_id: account, ...filters };
}

function csvLink(view: UsageView): string {
  return `/api/admin/usage${printQuery({ ...usageQuery(view, view.days, view.by), format: "csv" })}`;
}
