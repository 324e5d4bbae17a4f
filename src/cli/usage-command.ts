import { type Command, InvalidArgumentError, Option } from "commander";
import type { Stores } from "../app/stores.ts";
import { formatDollars } from "../base/money.ts";
import { addPercentiles, type TimedUsageSum } from "../core/usage/add-percentiles.ts";
import { findUsageNames, presentUsageLine, printUsageCsv } from "../core/usage/present-usage.ts";
import {
  formatRange,
  readGroups,
  readRange,
  requireLines,
  USAGE_GROUPS,
  type UsageGroup,
} from "../core/usage/report.ts";
import { type FittingColumn, fitTable } from "./fit-table.ts";
import { resolveScope } from "./named-resources.ts";
import { addExamples, addJsonOption, type JsonOption } from "./read-options.ts";
import { withStores } from "./with-stores.ts";

interface UsageOptions extends JsonOption {
  readonly from?: string;
  readonly to?: string;
  readonly by: readonly UsageGroup[];
  readonly account?: string;
  readonly key?: string;
  readonly user?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly tag?: string;
  readonly csv?: boolean;
}

/** `gateway usage`: usage and cost. */
export function addUsageCommand(program: Command): void {
  const command = program
    .command("usage")
    .description("Report usage and cost")
    .option(
      "--from <day>",
      "First day (UTC), such as 2027-01-31, or hour, such as 2027-01-31T13:00:00Z (default: the last 30 days; by hour: 24 hours)",
    )
    .option("--to <day>", "Last day (UTC), or the hour before which the report ends (default: now)")
    .addOption(
      new Option(
        "--by <groups>",
        `Group rows by ${USAGE_GROUPS.join(", ")}, or by up to three of them: hour,provider`,
      )
        .argParser(parseGroups)
        .default(["day"] satisfies UsageGroup[], "day"),
    )
    .option("--account <account>", "Only usage of this account")
    .option("--key <key>", "Only usage of this API key")
    .option("--user <user>", "Only usage of this user's keys")
    .option("--model <id>", "Only usage of this model")
    .option("--provider <slug>", "Only usage of this provider")
    .option("--tag <tag>", "Only usage of requests with this tag")
    .addOption(new Option("--csv", "Print CSV").conflicts("json"));
  addExamples(command, [
    "gateway usage --by model",
    "gateway usage --by day,model --account Acme",
    "gateway usage --by hour,outcome --provider openai",
    "gateway usage --by tag,model --from 2027-01-01",
    "gateway usage --from 2027-01-01 --to 2027-01-31 --by account --csv > january.csv",
  ]);
  addJsonOption(command).action((options: UsageOptions) => withStores((stores) => report(stores, options)));
}

function parseGroups(text: string): readonly UsageGroup[] {
  try {
    return readGroups(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message.replace("group_by", "It"));
  }
}

async function report(stores: Stores, options: UsageOptions): Promise<string> {
  const { csv, json, by: groups } = options;
  const range = readRange(options, { groups }, stores.clock.now());
  const { model = null, provider = null, tag = null } = options;
  const query = { groups, ...range, ...(await resolveScope(stores, options)), model, provider, tag };
  const sums = await stores.usage.sumUsage(query);
  requireLines(sums, query);
  const dimensions = { groups, names: await findUsageNames(stores, query, sums) };
  const lines = await addPercentiles(stores.usage, query, sums);
  if (csv) return printUsageCsv(lines, dimensions).trimEnd();
  if (json) return JSON.stringify({ data: lines.map((line) => presentUsageLine(line, dimensions)) });
  const { from, to } = formatRange(range);
  if (lines.length === 0) return `No usage from ${from} to ${to}.`;
  return fitTable(listColumns(groups, lines), process.stdout.isTTY ? process.stdout.columns : null);
}

/** The columns of a table, and which of them a narrow terminal does without. */
function listColumns(
  groups: readonly UsageGroup[],
  lines: readonly TimedUsageSum[],
): readonly FittingColumn[] {
  const names = groups.map((name, at): FittingColumn => {
    const cells = lines.map((line) => printGroup(name, line.groups[at] ?? null));
    return { title: name, cells, kind: "name", rank: 0 };
  });
  const number = (title: string, rank: number, print: (line: TimedUsageSum) => string): FittingColumn => {
    return { title, cells: lines.map(print), kind: "number", rank };
  };
  const seconds = (ms: number | undefined): string =>
    ms === undefined ? "–" : `${(ms / 1_000).toFixed(2)}s`;
  return [
    ...names,
    number("requests", 0, ({ requests }) => String(requests)),
    number("errors", 0, ({ errors }) => String(errors)),
    number("tokens in", 3, ({ promptTokens }) => String(promptTokens)),
    number("tokens out", 3, ({ completionTokens }) => String(completionTokens)),
    number("TTFT p50", 2, ({ latency }) => seconds(latency?.p50)),
    number("p90", 4, ({ latency }) => seconds(latency?.p90)),
    number("p99", 2, ({ latency }) => seconds(latency?.p99)),
    number("took p50", 5, ({ duration }) => seconds(duration?.p50)),
    number("p90", 6, ({ duration }) => seconds(duration?.p90)),
    number("p99", 5, ({ duration }) => seconds(duration?.p99)),
    number("dollars", 0, ({ cost }) => formatDollars(cost)),
  ];
}

/** Hours without their minutes and seconds, which are 0. */
function printGroup(name: UsageGroup, value: string | null): string {
  if (value === null) return "–";
  return name === "hour" ? `${value.slice(0, "YYYY-MM-DDTHH:MM".length).replace("T", " ")}Z` : value;
}
