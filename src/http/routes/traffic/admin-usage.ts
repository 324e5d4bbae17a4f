import { z } from "zod";
import { dayOf, HOUR_MS } from "../../../base/time/time.ts";
import { IdInput } from "../../../core/accounts/fields/resource-fields.ts";
import { canonicalModel } from "../../../core/catalog/served/catalog.ts";
import { CLIENT_FAMILIES } from "../../../core/usage/clients/client-family.ts";
import { addPercentiles } from "../../../core/usage/reports/add-percentiles.ts";
import {
  findUsageNames,
  hideListPrices,
  presentUsageLines,
  printUsageCsv,
} from "../../../core/usage/reports/present-usage.ts";
import {
  beginOnTheHour,
  type DayOffset,
  formatRange,
  type HourRange,
  INCOMPLETE,
  INEXACT_DAYS,
  listDayOffsets,
  MAX_GROUPS,
  readGroups,
  readRange,
  readZone,
  rejectTagsOfClients,
  takeLines,
  USAGE_GROUPS,
} from "../../../core/usage/reports/report.ts";
import { listedAccountOf, listedOwnersOf, needs, READABLE_TEAM } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { UsageLine } from "../../api/usage-view.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

const name = z.string().min(1).max(200).optional();
const time = z.string().max(40).optional();

/** `GET /api/admin/usage`: usage and cost over time, by model, provider, key, user, team, account or outcome. */
export const getUsage = defineEndpoint({
  method: "GET",
  path: "/api/admin/usage",
  tag: "Usage",
  summary:
    "Retrieve usage and cost as JSON or CSV: of all accounts for the operator, otherwise of the key's account",
  access: needs("own"),
  query: z.strictObject({
    from: time.describe(
      "First day, or a full hour (RFC 3339). Default: 29 days before `to`, or 24 hours if grouped by `hour`.",
    ),
    to: time.describe(
      "Last day, or a full hour (RFC 3339), which is not included. The range has at most 366 days. Default: now.",
    ),
    timezone: z
      .string()
      .max(64)
      .optional()
      .describe(
        "Time zone of days, such as `Europe/Berlin`, in `from`, `to` and the lines by `day`. Usage is summed by hours of UTC, so days are exact in time zones that differ from UTC by whole hours, and as long as hours are stored (`storage.hourly_usage_days`); see `days_are_exact`. Default: UTC.",
      ),
    group_by: z
      .string()
      .max(60)
      .default("day")
      .describe(
        `What to group by: ${USAGE_GROUPS.map((group) => `\`${group}\``).join(", ")}, or up to ${MAX_GROUPS} of them separated by commas, such as \`hour,provider\`, but not both \`client\` and \`tag\`. The report has one line per combination, at most 10,000. A longer report by one dimension has the lines with the highest cost; by several dimensions, it is rejected.`,
      ),
    account_id: z.string().optional().describe("Only the usage of this account."),
    key_id: IdInput.optional().describe("Only the usage of this API key."),
    user_id: IdInput.optional().describe("Only the usage of this user's keys."),
    team_id: IdInput.optional().describe(`Only the usage of this team's keys. ${READABLE_TEAM}`),
    model: name.describe("Only the usage of the model with this id."),
    provider: name.describe("Only the usage of the provider with this slug."),
    client: z
      .enum(CLIENT_FAMILIES)
      .optional()
      .describe("Only the usage of this family of clients, which is read from the `User-Agent`."),
    tag: name.describe(
      "Only the usage of requests with this tag. `(other)` stands for the tags of an hour that are not counted separately.",
    ),
    format: z
      .enum(["json", "csv"])
      .optional()
      .describe(
        "Format of the report. Default: `csv` if the Accept header asks for `text/csv`, otherwise `json`.",
      ),
  }),
  response: z.object({
    data: z.array(UsageLine),
    from: z.string(),
    to: z.string(),
    timezone: z.string().describe("Time zone of days."),
    days_are_exact: z
      .boolean()
      .describe(
        "Whether each day has exactly the requests of that day in the time zone. `false` if hours of some days are no longer stored, which count for the day with the same date in UTC, or if the time zone does not differ from UTC by whole hours; an hour of UTC then counts for the day in which it begins.",
      ),
    is_complete: z
      .boolean()
      .describe("Whether these are all lines. A report has at most 10,000: those with the highest cost."),
  }),
  csv: true,
  async handle({ query, principal, headers, deps }) {
    const groups = readGroups(query.group_by);
    const zone = readZone(query.timezone);
    const range = readRange(query, { groups, zone, now: deps.clock.now() });
    const dayOffsets = listDayOffsets(zone, range);
    const report = {
      groups,
      ...range,
      ...(dayOffsets === null ? {} : { dayOffsets }),
      accountId: listedAccountOf(principal, query.account_id),
      ...listedOwnersOf(principal, query),
      keyId: query.key_id ?? null,
      model:
        query.model === undefined ? null : canonicalModel(deps.generation.serving().catalog, query.model),
      provider: query.provider?.toLowerCase() ?? null,
      client: query.client ?? null,
      tag: query.tag ?? null,
    };
    rejectTagsOfClients(report);
    await deps.generation.recorder.drain();
    await deps.reports.usageTimes.flush();
    const { sums, isComplete } = takeLines(await deps.reports.usage.sumUsage(report), report);
    const isForOperator = principal.kind === "operator";
    const view = {
      groups,
      names: await findUsageNames(deps.resources.keyStores, report, sums),
      isForOperator,
    };
    const shown = isForOperator ? sums : hideListPrices(sums, deps.generation.settings.pricing);
    const lines = await addPercentiles(deps.reports.usage, report, { sums: shown, isComplete });
    const format = query.format ?? (wantsCsv(headers) ? "csv" : "json");
    const { from, to } = formatRange(range, zone);
    const daysAreExact = dayOffsets === null || (await areDaysExact(deps.reports, range, dayOffsets));
    if (format === "json")
      return {
        data: await presentUsageLines(lines, view),
        from,
        to,
        timezone: zone.name,
        days_are_exact: daysAreExact,
        is_complete: isComplete,
      };
    const warnings = [...(isComplete ? [] : [INCOMPLETE]), ...(daysAreExact ? [] : [INEXACT_DAYS])];
    const name = `usage-by-${groups.join("-and-")}-${from}-${to}.csv`.replaceAll(":", "");
    return new Response(printUsageCsv(lines, view), {
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="${name}"`,
        "x-content-type-options": "nosniff",
        ...(warnings.length === 0 ? {} : { "x-gateway-warning": warnings.join(" ") }),
      },
    });
  },
});

/** Returns whether the days of a report are exactly those of its time zone. */
async function areDaysExact(
  { usage }: StoreDeps["reports"],
  { fromHour, toHour, wholeDays }: HourRange,
  offsets: readonly DayOffset[],
): Promise<boolean> {
  if (!beginOnTheHour(offsets)) return false;
  const [first, last] = [dayOf(fromHour * HOUR_MS), dayOf(toHour * HOUR_MS)];
  return !(await usage.hasWholeDays({
    from: Math.min(first, wholeDays?.from ?? first),
    to: Math.max(last, wholeDays?.to ?? last),
  }));
}

function wantsCsv(headers: Headers): boolean {
  return /(^|[\s,])text\/csv\b/i.test(headers.get("accept") ?? "");
}
