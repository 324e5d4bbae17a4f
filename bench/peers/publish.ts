import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isFloor } from "../targets/contestant.ts";
import { type ChartRow, drawChart } from "./chart.ts";
import type { PartName } from "./plan.ts";
import type { LabResults, Summary } from "./results.ts";
import { formatSummary, formatTable, readColumn, renderTables } from "./tables.ts";

/** What a run writes stands between these lines. */
export const BEGIN = "<!-- begin: written by npm run bench -- peers -->";
export const END = "<!-- end: written by npm run bench -- peers -->";

interface Chart {
  readonly file: string;
  readonly title: string;
  readonly part: PartName;
  readonly figure: string;
}

const CHARTS: readonly Chart[] = [
  { file: "small", title: "Processor time of a small request, µs", part: "loops", figure: "small.16.cpu" },
  {
    file: "large",
    title: "Processor time of a request of 200 kB, µs",
    part: "loops",
    figure: "200kB.16.cpu",
  },
  {
    file: "stream",
    title: "Processor time of a stream of 100 events, µs",
    part: "loops",
    figure: "stream.16.cpu",
  },
  {
    file: "latency",
    title: "Time of an answer at 200 requests a second, p50, µs",
    part: "latency",
    figure: "latency.p50",
  },
  {
    file: "memory",
    title: "Memory at 1,500 bodies of 150 kB, peak, MB",
    part: "burst",
    figure: "burst.peak",
  },
  { file: "start", title: "Start to first answer, ms", part: "start", figure: "start.ms" },
];

/**
 * Replaces the results of the measured parts in docs/performance below `root`, and writes its tables and charts and the README's table
 * anew. A part of which no round was kept does not replace earlier results. Throws if a document has no place for them, before anything is written.
 */
export async function publish(measured: LabResults, root: string): Promise<void> {
  const folder = join(root, "docs", "performance");
  const resultsFile = join(folder, "results.json");
  const earlier: Partial<LabResults> = existsSync(resultsFile)
    ? JSON.parse(readFileSync(resultsFile, "utf8"))
    : {};
  const kept = Object.entries(measured.parts).filter(([, { rounds }]) => rounds.kept > 0);
  if (kept.length === 0) return;
  const results = { ...measured, parts: { ...earlier.parts, ...Object.fromEntries(kept) } };
  const charts = CHARTS.map((chart) => ({ ...chart, rows: rowsOf(chart, results) })).filter(
    ({ rows }) => rows.length > 0,
  );
  const pictures = charts.map(({ title, file }) => `![${title}](performance/${file}.svg)`);
  const page = join(root, "docs", "performance.md");
  const readme = join(root, "README.md");
  const files = [
    [page, placeBetweenMarks(page, [...pictures, renderTables(results)].join("\n\n"))],
    [readme, placeBetweenMarks(readme, renderShort(results))],
    [resultsFile, `${JSON.stringify(results, null, 1)}\n`],
    ...charts.map(({ file, title, rows }) => [join(folder, `${file}.svg`), drawChart(title, rows)] as const),
  ] as const;
  for (const [file, text] of files) await Bun.write(file, text);
}

function rowsOf(chart: Chart, { labels, parts }: LabResults): ChartRow[] {
  const part = parts[chart.part];
  if (part === undefined) return [];
  return Object.entries(labels).flatMap(([subject, label]) => {
    const summary = readColumn(part, chart, subject);
    return summary === null ? [] : [{ label, summary, isOurs: subject === "gateway" }];
  });
}

const SHORT = [
  { label: "CPU, small request, µs", part: "loops", figure: "small.16.cpu" },
  { label: "CPU, 200 kB body, µs", part: "loops", figure: "200kB.16.cpu" },
  { label: "CPU, 100-event stream, µs", part: "loops", figure: "stream.16.cpu" },
  { label: "added time, p50, µs", part: "latency", figure: "latency.p50", base: "direct" },
  { label: "memory, 1,500 × 150 kB, MB", part: "burst", figure: "burst.peak" },
  { label: "start to first answer, ms", part: "start", figure: "start.ms" },
] as const;

/** Returns the README's table: the medians only, of what could stand in this gateway's place. */
function renderShort({ labels, parts }: LabResults): string {
  const columns = SHORT.filter(({ part }) => parts[part] !== undefined);
  const rows = Object.entries(labels)
    .filter(([subject]) => subject !== "direct" && !isFloor(subject))
    .map(([subject, label]) => {
      const summaries = columns.map((column) => {
        const part = parts[column.part];
        return part === undefined ? null : readColumn(part, column, subject);
      });
      return [label, ...summaries.map(formatMedian)];
    });
  return formatTable(
    columns.map(({ label }) => label),
    rows,
  );
}

function formatMedian(summary: Summary | null): string {
  if (summary === null) return "–";
  const { median } = summary;
  return formatSummary({ median, lowest: median, highest: median }, 0);
}

/** Returns the document with another text between its marks. Throws if it has none. */
function placeBetweenMarks(file: string, text: string): string {
  const old = readFileSync(file, "utf8");
  const from = old.indexOf(BEGIN);
  const to = old.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${file} has no lines "${BEGIN}" and "${END}"`);
  return `${old.slice(0, from)}${BEGIN}\n${text.trim()}\n${old.slice(to)}`;
}
