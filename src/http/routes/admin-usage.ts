import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { describeUsage, printUsageCsv } from "../../core/usage/describe-usage.ts";
import { USAGE_GROUPS } from "../../core/usage/report.ts";
import { requireOwnAccount } from "../api/api-caller.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";

const DAY_MS = 86_400_000;
/** Days of a report that does not say which. */
export const USUAL_DAYS = 30;
const MOST_DAYS = 366;

/** Today, counted in days (UTC) from the epoch. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** `GET /api/admin/usage`: what was used and what it cost, by day, model, provider, key, user or account. */
export const getUsage = defineEndpoint({
  method: "GET",
  path: "/api/admin/usage",
  tag: "Usage",
  summary:
    "What was used and what it cost, as JSON or CSV; of all accounts for the operator, else of the own",
  access: { kind: "account", roles: ["owner", "admin", "billing"] },
  params: NOTHING,
  query: z.strictObject({
    from: z.iso.date().optional().describe("First day, UTC"),
    to: z.iso.date().optional().describe("Last day, UTC"),
    group_by: z.enum(USAGE_GROUPS).default("day"),
    account_id: z.string().optional(),
    format: z.enum(["json", "csv"]).optional(),
  }),
  body: NOTHING,
  response: z.object({ data: z.array(z.record(z.string(), z.unknown())), from: z.string(), to: z.string() }),
  async handle({ query, caller, headers, deps }) {
    const range = readRange(query, dayOf(deps.clock.now()));
    const accountId =
      query.account_id === undefined ? caller.accountId : requireOwnAccount(caller, query.account_id);
    const groupBy = query.group_by;
    await deps.generation.recorder.drain();
    const sums = await deps.usage.sumUsage({ groupBy, ...range, accountId, userId: null, keyId: null });
    const format = query.format ?? (wantsCsv(headers) ? "csv" : "json");
    const [from, to] = [nameOfDay(range.fromDay), nameOfDay(range.toDay)];
    if (format === "json") return { data: sums.map((sum) => describeUsage(groupBy, sum)), from, to };
    return new Response(printUsageCsv(groupBy, sums), {
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="usage-by-${groupBy}-${from}-${to}.csv"`,
        "x-content-type-options": "nosniff",
      },
    });
  },
});

function readRange(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  today: number,
): { readonly fromDay: number; readonly toDay: number } {
  const toDay = to === undefined ? today : dayOf(Date.parse(to));
  const fromDay = from === undefined ? toDay - USUAL_DAYS + 1 : dayOf(Date.parse(from));
  if (fromDay > toDay) refuseFrom("must not be later than to");
  if (toDay - fromDay >= MOST_DAYS) refuseFrom(`must be at most ${MOST_DAYS} days before to`);
  return { fromDay, toDay };
}

function refuseFrom(problem: string): never {
  return fail("invalid_request", `from ${problem}.`, { metadata: { field: "from" } });
}

function wantsCsv(headers: Headers): boolean {
  return /(^|[\s,])text\/csv\b/i.test(headers.get("accept") ?? "");
}

function nameOfDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
}
