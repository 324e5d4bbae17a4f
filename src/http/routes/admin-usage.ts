import { z } from "zod";
import { formatDay } from "../../base/time.ts";
import { presentUsage, printUsageCsv } from "../../core/usage/present-usage.ts";
import { readDays, USAGE_GROUPS } from "../../core/usage/report.ts";
import { ACCOUNT_MEMBERS, listedAccountOf, ownUserOf } from "../api/access.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { UsageLine } from "../api/usage-view.ts";

/** `GET /api/admin/usage`: usage and cost by day, model, provider, key, user or account. */
export const getUsage = defineEndpoint({
  method: "GET",
  path: "/api/admin/usage",
  tag: "Usage",
  summary:
    "Retrieve usage and cost as JSON or CSV: of all accounts for the operator, otherwise of the key's account",
  access: ACCOUNT_MEMBERS,
  params: NOTHING,
  query: z.strictObject({
    from: z.iso.date().optional().describe("First day (UTC). Default: 29 days before `to`."),
    to: z.iso.date().optional().describe("Last day (UTC). The range has at most 366 days. Default: today."),
    group_by: z
      .enum(USAGE_GROUPS)
      .default("day")
      .describe("What to group by: the report has one line per group."),
    account_id: z.string().optional().describe("Only the usage of this account."),
    format: z
      .enum(["json", "csv"])
      .optional()
      .describe(
        "Format of the report. Default: `csv` if the Accept header asks for `text/csv`, otherwise `json`.",
      ),
  }),
  body: NOTHING,
  response: z.object({ data: z.array(UsageLine), from: z.string(), to: z.string() }),
  csv: true,
  async handle({ query, principal, headers, deps }) {
    const range = readDays(query, deps.clock.now());
    const accountId = listedAccountOf(principal, query.account_id);
    const groupBy = query.group_by;
    await deps.generation.recorder.drain();
    const sums = await deps.usage.sumUsage({
      groupBy,
      ...range,
      accountId,
      userId: ownUserOf(principal),
      keyId: null,
    });
    const format = query.format ?? (wantsCsv(headers) ? "csv" : "json");
    const [from, to] = [formatDay(range.fromDay), formatDay(range.toDay)];
    if (format === "json") return { data: sums.map((sum) => presentUsage(groupBy, sum)), from, to };
    return new Response(printUsageCsv(groupBy, sums), {
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="usage-by-${groupBy}-${from}-${to}.csv"`,
        "x-content-type-options": "nosniff",
      },
    });
  },
});

function wantsCsv(headers: Headers): boolean {
  return /(^|[\s,])text\/csv\b/i.test(headers.get("accept") ?? "");
}
