import { type Command, InvalidArgumentError } from "commander";
import { formatDollars } from "../../../base/numbers/money.ts";
import {
  hasTimes,
  INCOMPLETE,
  INEXACT_DAYS,
  readGroups,
  USAGE_GROUPS,
  type UsageGroup,
} from "../../../core/usage/reports/report.ts";
import { getUsage } from "../../../http/routes/traffic/admin-usage.ts";
import { type AnswerOf, type CommandRun, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommand } from "../../endpoint/declare-command.ts";
import { labelOf } from "../../endpoint/resolve-name.ts";
import { type FittingColumn, fitTable } from "../../render/fit-table.ts";
import { tell } from "../../render/print.ts";

type Report = AnswerOf<typeof getUsage>;
type Line = Report["data"][number];

/** `gateway usage`: usage and cost. */
export function declareUsageCommand(command: Command): void {
  declareCommand(
    command,
    defineCommand({
      name: "usage",
      description: "Report usage and cost",
      endpoint: getUsage,
      options: [
        {
          flags: "--from <day>",
          help: "First day, such as 2027-01-31, or hour, such as 2027-01-31T13:00:00Z (default: the last 30 days; by hour: 24 hours)",
          field: "from",
        },
        {
          flags: "--to <day>",
          help: "Last day, or the hour before which the report ends (default: now)",
          field: "to",
        },
        {
          flags: "--by <groups>",
          help: `Group rows by ${USAGE_GROUPS.join(", ")}, or by up to three of them: hour,provider`,
          field: "group_by",
          read: parseGroups,
          initial: ["day"],
        },
        {
          flags: "--csv",
          help: "Print CSV",
          field: "format",
          read: () => "csv",
          conflicts: "json",
        },
      ],
      examples: [
        "gateway usage --by model",
        "gateway usage --by day,model --account Acme",
        "gateway usage --by hour,outcome --provider openai",
        "gateway usage --by tag,model --from 2027-01-01",
        "gateway usage --by team,user --account Acme",
        "gateway usage --by client --timezone Europe/Berlin",
        "gateway usage --from 2027-01-01 --to 2027-01-31 --by account --csv > january.csv",
      ],
      complete: async ({ query }) => ({ query: { ...query, group_by: String(query["group_by"]) } }),
      show: (report, run) =>
        typeof report === "string" ? String(report).trimEnd() : formatReport(report, run),
      json(report) {
        tellIncomplete(report);
        return { data: report.data };
      },
    }),
  );
}

function parseGroups(text: string): readonly UsageGroup[] {
  try {
    return readGroups(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message.replace("group_by", "It"));
  }
}

function tellIncomplete({ is_complete, days_are_exact }: Report): void {
  if (!is_complete) tell(INCOMPLETE);
  if (!days_are_exact) tell(INEXACT_DAYS);
}

function formatReport(report: Report, { options }: CommandRun): string {
  tellIncomplete(report);
  const { data, from, to } = report;
  if (data.length === 0) return `No usage from ${from} to ${to}.`;
  const groups = options["by"] as readonly UsageGroup[];
  const of = (name: string) => (options[name] as string | undefined) ?? null;
  const columns = listColumns(groups, data, hasTimes({ groups, tag: of("tag"), client: of("client") }));
  return fitTable(columns, process.stdout.isTTY ? process.stdout.columns : null);
}

/** The columns of a table, and which of them a narrow terminal omits. */
function listColumns(
  groups: readonly UsageGroup[],
  lines: readonly Line[],
  withTimes: boolean,
): readonly FittingColumn[] {
  const names = groups.map((name): FittingColumn => {
    const cells = lines.map((line) => printGroup(name, line));
    return { title: name, cells, kind: "name", rank: 0 };
  });
  const number = (title: string, rank: number, print: (line: Line) => string): FittingColumn => {
    return { title, cells: lines.map(print), kind: "number", rank };
  };
  return [
    ...names,
    number("requests", 0, ({ requests }) => String(requests)),
    number("errors", 0, ({ errors }) => String(errors)),
    number("tokens in", 4, ({ tokens_prompt }) => String(tokens_prompt)),
    number("tokens out", 4, ({ tokens_completion }) => String(tokens_completion)),
    ...(withTimes
      ? TIMES.map(({ title, rank, read }) => number(title, rank, (line) => printSeconds(read(line))))
      : []),
    number("list price", 2, ({ upstream_cost_nanodollars }) => formatDollars(upstream_cost_nanodollars)),
    number("dollars", 0, ({ cost_nanodollars }) => formatDollars(cost_nanodollars)),
    number("margin", 1, ({ margin_nanodollars }) => formatDollars(margin_nanodollars ?? 0)),
  ];
}

/** The columns of percentiles. `read` returns milliseconds. */
const TIMES: readonly {
  readonly title: string;
  readonly rank: number;
  readonly read: (line: Line) => number | undefined;
}[] = [
  { title: "TTFT p50", rank: 3, read: ({ latency_ms }) => latency_ms?.p50 },
  { title: "p90", rank: 5, read: ({ latency_ms }) => latency_ms?.p90 },
  { title: "p99", rank: 3, read: ({ latency_ms }) => latency_ms?.p99 },
  { title: "took p50", rank: 6, read: ({ duration_ms }) => duration_ms?.p50 },
  { title: "p90", rank: 7, read: ({ duration_ms }) => duration_ms?.p90 },
  { title: "p99", rank: 6, read: ({ duration_ms }) => duration_ms?.p99 },
];

function printSeconds(ms: number | undefined): string {
  return ms === undefined ? "–" : `${(ms / 1_000).toFixed(2)}s`;
}

/** Hours without their minutes and seconds, which are 0, and teams with their names. */
function printGroup(name: UsageGroup, line: Line): string {
  const value = line[name] ?? null;
  if (value === null) return "–";
  if (name === "team") return labelOf({ id: value, name: line.team_name ?? value });
  return name === "hour" ? `${value.slice(0, "YYYY-MM-DDTHH:MM".length).replace("T", " ")}Z` : value;
}
