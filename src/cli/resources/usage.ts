import { type Command, InvalidArgumentError, Option } from "commander";
import type { Stores } from "../../app/stores.ts";
import { formatDollars } from "../../base/money.ts";
import { addPercentiles, type TimedUsageSum } from "../../core/usage/add-percentiles.ts";
import { findUsageNames, presentUsageLines, printUsageCsv } from "../../core/usage/present-usage.ts";
import {
  formatRange,
  INCOMPLETE,
  isOfTags,
  readGroups,
  readRange,
  takeLines,
  USAGE_GROUPS,
  type UsageGroup,
  type UsageQuery,
} from "../../core/usage/report.ts";
import { marginOfSum } from "../../core/usage/usage-sums.ts";
import { withStores } from "../callers/with-stores.ts";
import { resolveScope } from "../endpoint/named-resources.ts";
import { addExamples, addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { type FittingColumn, fitTable } from "../render/fit-table.ts";
import { tell } from "../render/print.ts";
import { findModel } from "./generation-options.ts";

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
export function declareUsageCommand(command: Command): void {
  command
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
  const { tag = null } = options;
  const model = await findModel(stores, options.model);
  const provider = options.provider?.toLowerCase() ?? null;
  const query = { groups, ...range, ...(await resolveScope(stores, options)), model, provider, tag };
  const taken = takeLines(await stores.usage.sumUsage(query), query);
  const { sums } = taken;
  if (!taken.isComplete) tell(INCOMPLETE);
  const view = { groups, names: await findUsageNames(stores, query, sums), isForOperator: true };
  const lines = await addPercentiles(stores.usage, query, taken);
  if (csv) return printUsageCsv(lines, view).trimEnd();
  if (json) return JSON.stringify({ data: await presentUsageLines(lines, view) });
  const { from, to } = formatRange(range);
  if (lines.length === 0) return `No usage from ${from} to ${to}.`;
  return fitTable(listColumns(query, lines), process.stdout.isTTY ? process.stdout.columns : null);
}

/** The columns of a table, and which of them a narrow terminal does without. */
function listColumns(query: UsageQuery, lines: readonly TimedUsageSum[]): readonly FittingColumn[] {
  const names = query.groups.map((name, at): FittingColumn => {
    const cells = lines.map((line) => printGroup(name, line.groups[at] ?? null));
    return { title: name, cells, kind: "name", rank: 0 };
  });
  const number = (title: string, rank: number, print: (line: TimedUsageSum) => string): FittingColumn => {
    return { title, cells: lines.map(print), kind: "number", rank };
  };
  return [
    ...names,
    number("requests", 0, ({ requests }) => String(requests)),
    number("errors", 0, ({ errors }) => String(errors)),
    number("tokens in", 4, ({ promptTokens }) => String(promptTokens)),
    number("tokens out", 4, ({ completionTokens }) => String(completionTokens)),
    ...(isOfTags(query)
      ? []
      : TIMES.map(({ title, rank, read }) => number(title, rank, (line) => printSeconds(read(line))))),
    number("list price", 2, ({ upstreamCost }) => formatDollars(upstreamCost)),
    number("dollars", 0, ({ cost }) => formatDollars(cost)),
    number("margin", 1, (line) => formatDollars(marginOfSum(line))),
  ];
}

/** The columns of percentiles. `read` returns milliseconds. */
const TIMES: readonly {
  readonly title: string;
  readonly rank: number;
  readonly read: (line: TimedUsageSum) => number | undefined;
}[] = [
  { title: "TTFT p50", rank: 3, read: ({ latency }) => latency?.p50 },
  { title: "p90", rank: 5, read: ({ latency }) => latency?.p90 },
  { title: "p99", rank: 3, read: ({ latency }) => latency?.p99 },
  { title: "took p50", rank: 6, read: ({ duration }) => duration?.p50 },
  { title: "p90", rank: 7, read: ({ duration }) => duration?.p90 },
  { title: "p99", rank: 6, read: ({ duration }) => duration?.p99 },
];

function printSeconds(ms: number | undefined): string {
  return ms === undefined ? "–" : `${(ms / 1_000).toFixed(2)}s`;
}

/** Hours without their minutes and seconds, which are 0. */
function printGroup(name: UsageGroup, value: string | null): string {
  if (value === null) return "–";
  return name === "hour" ? `${value.slice(0, "YYYY-MM-DDTHH:MM".length).replace("T", " ")}Z` : value;
}
