import { type Command, Option } from "commander";
import type { Stores } from "../app/stores.ts";
import { formatDollars } from "../base/money.ts";
import { formatDay } from "../base/time.ts";
import { presentUsage, printUsageCsv } from "../core/usage/present-usage.ts";
import { readDays, USAGE_GROUPS, type UsageGroup } from "../core/usage/report.ts";
import { formatTable } from "./format-table.ts";
import { addExamples, addJsonOption, type JsonOption } from "./read-options.ts";
import { withStores } from "./with-stores.ts";

interface UsageOptions extends JsonOption {
  readonly from?: string;
  readonly to?: string;
  readonly by: UsageGroup;
  readonly account?: string;
  readonly csv?: boolean;
}

/** `gateway usage`: usage and cost. */
export function addUsageCommand(program: Command): void {
  const command = program
    .command("usage")
    .description("Report usage and cost")
    .option("--from <day>", "First day (UTC), such as 2027-01-31 (default: the last 30 days)")
    .option("--to <day>", "Last day (UTC) (default: today)")
    .addOption(new Option("--by <group>", "Group rows by").choices(USAGE_GROUPS).default("day"))
    .option("--account <id>", "Only usage of this account")
    .addOption(new Option("--csv", "Print CSV").conflicts("json"));
  addExamples(command, [
    "gateway usage --by model",
    "gateway usage --from 2027-01-01 --to 2027-01-31 --by account --csv > january.csv",
  ]);
  addJsonOption(command).action((options: UsageOptions) => withStores((stores) => report(stores, options)));
}

async function report(stores: Stores, { from, to, by, account, csv, json }: UsageOptions): Promise<string> {
  const days = readDays({ from, to }, stores.clock.now());
  const whose = { accountId: account ?? null, userId: null, keyId: null };
  const sums = await stores.usage.sumUsage({ groupBy: by, ...days, ...whose });
  if (csv) return printUsageCsv(by, sums).trimEnd();
  if (json) return JSON.stringify({ data: sums.map((sum) => presentUsage(by, sum)) });
  if (sums.length === 0) return `No usage from ${formatDay(days.fromDay)} to ${formatDay(days.toDay)}.`;
  const rows = sums.map((sum) => [
    sum.group ?? "–",
    String(sum.requests),
    String(sum.errors),
    String(sum.promptTokens),
    String(sum.completionTokens),
    formatDollars(sum.cost),
  ]);
  return formatTable([by, "requests", "errors", "prompt tokens", "completion tokens", "dollars"], rows);
}
