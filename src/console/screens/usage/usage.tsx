import { ApiError, callPath, printQuery } from "../../api/client.ts";
import type { UsageLine } from "../../api/schema.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty, ErrorBox, Skeleton } from "../../parts/layout/states.tsx";
import { Icon } from "../../parts/values/icon.tsx";
import { useLoad } from "../../state/load.ts";
import { query } from "../../state/location.ts";
import { now } from "../../state/now.ts";
import { timeZone } from "../../state/time-zone.ts";
import { text } from "../../text/text.ts";
import { ClientVersions } from "./client-versions.tsx";
import { UsageChart } from "./usage-chart.tsx";
import { UsageControls } from "./usage-controls.tsx";
import { sumLines } from "./usage-lines.ts";
import { UsageTable } from "./usage-table.tsx";
import { UsageTotals } from "./usage-totals.tsx";
import { type Period, parseUsageView, previousPeriod, type UsageView } from "./usage-view.ts";

/** The reports of the screen. Those of the period before are null if it is not compared. */
interface Reports {
  /** A line for each day or hour. */
  readonly steps: readonly UsageLine[];
  readonly groups: readonly UsageLine[];
  readonly stepsBefore: readonly UsageLine[] | null;
  /** Whether all days are days of the chosen time zone. Of some the gateway may only have the sum of the day in UTC. */
  readonly areDaysExact: boolean;
  /** A line for each day or hour and group; null if there are more than a report may have. */
  readonly cells: readonly UsageLine[] | null;
}

/** Usage and cost over time and by a dimension. */
export default function Usage() {
  const view = parseUsageView(query.value, now.peek());
  const { period, by, account, isCompared, filters } = view;
  const key = JSON.stringify([period, by, account, isCompared, filters, timeZone()]);
  const { data, error, isLoading, isStale, reload } = useLoad(key, (signal) => loadReports(view, signal));
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
        {data?.areDaysExact === false && !isStale ? <p class="quiet">{text.usage.inexactDays}</p> : null}
        {error === null ? null : <ErrorBox error={error} onRetry={reload} />}
        {error === null || data === null ? null : <p class="quiet">{text.usage.old}</p>}
        {data === null ? (
          error === null ? (
            <Skeleton lines={10} />
          ) : null
        ) : (
          <Content view={view} reports={data} isStale={isLoading || error !== null} />
        )}
      </div>
    </Page>
  );
}

function Content({ view, reports, isStale }: { view: UsageView; reports: Reports; isStale: boolean }) {
  const { steps, groups, stepsBefore, cells } = reports;
  const total = sumLines(steps);
  return (
    <div class={isStale ? "stack stale" : "stack"} aria-busy={isStale}>
      <UsageTotals view={view} steps={steps} before={stepsBefore} />
      {total.requests === 0 ? (
        <Empty title={text.usage.empty}>
          <p>{text.usage.emptyAbout}</p>
        </Empty>
      ) : (
        <>
          <UsageChart view={view} steps={steps} stepsBefore={stepsBefore} cells={cells} />
          <UsageTable view={view} lines={groups} cells={cells} steps={steps} />
          {view.by === "client" ? <ClientVersions view={view} /> : null}
        </>
      )}
    </div>
  );
}

async function loadReports(view: UsageView, signal: AbortSignal): Promise<Reports> {
  const load = async (period: Period, by: string) => {
    const found = await callPath("GET /api/admin/usage", { query: usageQuery(view, period, by), signal });
    return found as { readonly data: readonly UsageLine[]; readonly days_are_exact: boolean };
  };
  const loadLines = async (period: Period, by: string) => (await load(period, by)).data;
  const { period, by, isCompared } = view;
  const { step } = period;
  const [{ data: steps, days_are_exact: areDaysExact }, groups, stepsBefore, cells] = await Promise.all([
    load(period, step),
    loadLines(period, by),
    isCompared ? loadLines(previousPeriod(period), step) : null,
    loadLines(period, `${step},${by}`).catch(ignoreTooMany),
  ]);
  return { steps, groups, stepsBefore, cells, areDaysExact };
}

/** A report of too many lines is refused as a bad request. The screen then has no trends. */
function ignoreTooMany(error: unknown): null {
  if (error instanceof ApiError && error.status === 400) return null;
  throw error;
}

function usageQuery({ account, filters }: UsageView, { step, from, to }: Period, by: string) {
  const timezone = step === "day" ? timeZone() : null;
  return { from, to, timezone, group_by: by, account_id: account, ...filters };
}

function csvLink(view: UsageView): string {
  return `/api/admin/usage${printQuery({ ...usageQuery(view, view.period, view.by), format: "csv" })}`;
}
