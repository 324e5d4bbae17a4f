import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../targets.ts";
import { type ChartRow, drawChart } from "./chart.ts";
import type { PartName } from "./plan.ts";
import { type LabResults, type Summary, summarize, summarizeAdded } from "./results.ts";
import { formatSummary, renderTables } from "./tables.ts";

const folder = join(root, "docs", "performance");
const resultsFile = join(folder, "results.json");
const BEGIN = "<!-- begin: written by npm run bench:peers -->";
const END = "<!-- end: written by npm run bench:peers -->";

interface Chart {
  readonly file: string;
  readonly title: string;
  readonly part: PartName;
  readonly figure: string;
  /** The variant whose figure is subtracted. */
  readonly base?: string;
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
    title: "Time added to a small answer at 200 requests a second, p50, µs",
    part: "latency",
    figure: "latency.p50",
    base: "direct",
  },
  {
    file: "memory",
    title: "Memory at 1,500 bodies of 150 kB, peak, MB",
    part: "burst",
    figure: "burst.peak",
  },
  { file: "start", title: "Start to first answer, ms", part: "start", figure: "start.ms" },
];

/** Replaces the results of the measured parts in docs/performance, and writes its tables and charts and the README's table anew. */
export async function publish(measured: LabResults): Promise<void> {
  const earlier: Partial<LabResults> = existsSync(resultsFile)
    ? JSON.parse(readFileSync(resultsFile, "utf8"))
    : {};
  const results = { labels: measured.labels, parts: { ...earlier.parts, ...measured.parts } };
  await Bun.write(resultsFile, `${JSON.stringify(results, null, 1)}\n`);
  const drawn: string[] = [];
  for (const chart of CHARTS) {
    const rows = rowsOf(chart, results);
    if (rows.length === 0) continue;
    await Bun.write(join(folder, `${chart.file}.svg`), drawChart(chart.title, rows));
    drawn.push(`![${chart.title}](performance/${chart.file}.svg)`);
  }
  await replaceBetweenMarks(
    join(root, "docs", "performance.md"),
    `${drawn.join("\n\n")}\n\n${renderTables(results)}`,
  );
  await replaceBetweenMarks(join(root, "README.md"), renderShort(results));
}

function rowsOf({ part, figure, base }: Chart, { labels, parts }: LabResults): ChartRow[] {
  const found = parts[part];
  if (found === undefined) return [];
  return Object.entries(labels).flatMap(([subject, label]) => {
    const summary =
      base === undefined
        ? summarize(found, figure, subject)
        : summarizeAdded(found, figure, { subject, base });
    if (subject === base || summary === null || summary.lowest <= 0) return [];
    return [{ label, summary, isOurs: subject === "gateway" }];
  });
}

const SHORT = [
  { label: "CPU, small request, µs", part: "loops", figure: "small.16.cpu", decimals: 0 },
  { label: "CPU, 200 kB body, µs", part: "loops", figure: "200kB.16.cpu", decimals: 0 },
  { label: "CPU, 100-event stream, µs", part: "loops", figure: "stream.16.cpu", decimals: 0 },
  { label: "added time, p50, µs", part: "latency", figure: "latency.p50", decimals: 0, base: "direct" },
  { label: "memory, 1,500 × 150 kB, MB", part: "burst", figure: "burst.peak", decimals: 0 },
  { label: "start to first answer, ms", part: "start", figure: "start.ms", decimals: 0 },
] as const;

/** Returns the README's table: the medians only. */
export function renderShort({ labels, parts }: LabResults): string {
  const columns = SHORT.filter(({ part }) => parts[part] !== undefined);
  const rows = Object.entries(labels)
    .filter(([subject]) => subject !== "direct")
    .map(([subject, label]) => {
      const cells = columns.map((column) => {
        const part = parts[column.part];
        if (part === undefined) return "–";
        const { figure, decimals } = column;
        const summary =
          "base" in column
            ? summarizeAdded(part, figure, { subject, base: column.base })
            : summarize(part, figure, subject);
        return summary === null ? "–" : formatSummary(onlyMedian(summary), decimals);
      });
      return `| ${label} | ${cells.join(" | ")} |`;
    });
  return [
    `| | ${columns.map(({ label }) => label).join(" | ")} |`,
    `|---|${"---:|".repeat(columns.length)}`,
    ...rows,
  ].join("\n");
}

function onlyMedian({ median }: Summary): Summary {
  return { median, lowest: median, highest: median };
}

/** Replaces what is between the marks of a document. Throws if it has none. */
async function replaceBetweenMarks(file: string, text: string): Promise<void> {
  const old = readFileSync(file, "utf8");
  const from = old.indexOf(BEGIN);
  const to = old.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${file} has no lines "${BEGIN}" and "${END}"`);
  await Bun.write(file, `${old.slice(0, from)}${BEGIN}\n${text.trim()}\n${old.slice(to)}`);
}
