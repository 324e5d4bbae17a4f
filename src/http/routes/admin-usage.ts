import { z } from "zod";
import { formatDay } from "../../base/time.ts";
import { IdInput } from "../../core/accounts/resource-fields.ts";
import { findUsageNames, presentUsageLine, printUsageCsv } from "../../core/usage/present-usage.ts";
import { readDays, readGroups, requireLines, USAGE_GROUPS } from "../../core/usage/report.ts";
import { ACCOUNT_MEMBERS, listedAccountOf, listedUserOf } from "../api/access.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import { UsageLine } from "../api/usage-view.ts";

const name = z.string().min(1).max(200).optional();

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
      .string()
      .max(40)
      .default("day")
      .describe(
        `What to group by: ${USAGE_GROUPS.map((group) => `\`${group}\``).join(", ")}, or two of them with a comma, such as \`day,model\`. The report has one line per group; by two dimensions at most 10,000.`,
      ),
    account_id: z.string().optional().describe("Only the usage of this account."),
    key_id: IdInput.optional().describe("Only the usage of this API key."),
    user_id: IdInput.optional().describe("Only the usage of this user's keys."),
    model: name.describe("Only the usage of the model with this id."),
    provider: name.describe("Only the usage of the provider with this slug."),
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
    const groups = readGroups(query.group_by);
    await deps.generation.recorder.drain();
    const sums = await deps.usage.sumUsage({
      ...groups,
      ...range,
      accountId,
      userId: listedUserOf(principal, query.user_id),
      keyId: query.key_id ?? null,
      model: query.model ?? null,
      provider: query.provider ?? null,
    });
    requireLines(sums, groups);
    const dimensions = { ...groups, names: await findUsageNames(deps.keyStores, groups, sums) };
    const format = query.format ?? (wantsCsv(headers) ? "csv" : "json");
    const [from, to] = [formatDay(range.fromDay), formatDay(range.toDay)];
    if (format === "json") return { data: sums.map((sum) => presentUsageLine(sum, dimensions)), from, to };
    return new Response(printUsageCsv(sums, dimensions), {
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="usage-by-${query.group_by.replace(",", "-and-")}-${from}-${to}.csv"`,
        "x-content-type-options": "nosniff",
      },
    });
  },
});

function wantsCsv(headers: Headers): boolean {
  return /(^|[\s,])text\/csv\b/i.test(headers.get("accept") ?? "");
}
