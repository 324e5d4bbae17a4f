import { type Command, InvalidArgumentError, Option } from "commander";
import type { Stores } from "../app/stores.ts";
import { formatDollars } from "../base/money.ts";
import { formatDay } from "../base/time.ts";
import { findUsageNames, presentUsageLine, printUsageCsv } from "../core/usage/present-usage.ts";
import { readDays, readGroups, requireLines, USAGE_GROUPS, type UsageQuery } from "../core/usage/report.ts";
import { formatTable } from "./format-table.ts";
import { addExamples, addJsonOption, type JsonOption } from "./read-options.ts";
import { withStores } from "./with-stores.ts";

type Groups = Pick<UsageQuery, "groupBy" | "thenBy">;

interface UsageOptions extends JsonOption {
  readonly from?: string;
  readonly to?: string;
  readonly by: Groups;
  readonly account?: string;
  readonly key?: string;
  readonly user?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly csv?: boolean;
}

/** `gateway usage`: usage and cost. */
export function addUsageCommand(program: Command): void {
  const command = program
    .command("usage")
    .description("Report usage and cost")
    .option("--from <day>", "First day (UTC), such as 2027-01-31 (default: the last 30 days)")
    .option("--to <day>", "Last day (UTC) (default: today)")
    .addOption(
      new Option("--by <groups>", `Group rows by ${USAGE_GROUPS.join(", ")}, or by two of them: day,model`)
        .argParser(parseGroups)
        .default({ groupBy: "day", thenBy: null } satisfies Groups, "day"),
    )
    .option("--account <id>", "Only usage of this account")
    .option("--key <id>", "Only usage of this API key")
    .option("--user <id>", "Only usage of this user's keys")
    .option("--model <id>", "Only usage of this model")
    .option("--provider <slug>", "Only usage of this provider")
    .addOption(new Option("--csv", "Print CSV").conflicts("json"));
  addExamples(command, [
    "gateway usage --by model",
    "gateway usage --by day,model --account user_01jd…",
    "gateway usage --from 2027-01-01 --to 2027-01-31 --by account --csv > january.csv",
  ]);
  addJsonOption(command).action((options: UsageOptions) => withStores((stores) => report(stores, options)));
}

function parseGroups(text: string): Groups {
  try {
    return readGroups(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message.replace("group_by", "It"));
  }
}

async function report(stores: Stores, options: UsageOptions): Promise<string> {
  const { csv, json } = options;
  const days = readDays(options, stores.clock.now());
  const groups = options.by;
  const sums = await stores.usage.sumUsage({ ...groups, ...days, ...scopeOf(options) });
  requireLines(sums, groups);
  const dimensions = { ...groups, names: await findUsageNames(stores, groups, sums) };
  if (csv) return printUsageCsv(sums, dimensions).trimEnd();
  if (json) return JSON.stringify({ data: sums.map((sum) => presentUsageLine(sum, dimensions)) });
  if (sums.length === 0) return `No usage from ${formatDay(days.fromDay)} to ${formatDay(days.toDay)}.`;
  const { groupBy, thenBy } = groups;
  const rows = sums.map((sum) => [
    sum.group ?? "–",
    ...(thenBy == null ? [] : [sum.subgroup ?? "–"]),
    String(sum.requests),
    String(sum.errors),
    String(sum.promptTokens),
    String(sum.completionTokens),
    formatDollars(sum.cost),
  ]);
  const names = thenBy == null ? [groupBy] : [groupBy, thenBy];
  return formatTable([...names, "requests", "errors", "prompt tokens", "completion tokens", "dollars"], rows);
}

function scopeOf({ account, key, user, model, provider }: UsageOptions) {
  return {
    accountId: account ?? null,
    userId: user ?? null,
    keyId: key ?? null,
    model: model ?? null,
    provider: provider ?? null,
  };
}
