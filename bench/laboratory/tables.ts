import type { PartName } from "./plan.ts";
import { type LabResults, type PartResult, type Summary, summarize, summarizeAdded } from "./results.ts";

interface Column {
  readonly figure: string;
  readonly label: string;
  readonly decimals: number;
  /** The variant whose figure of the same round is subtracted. */
  readonly base?: string;
  /** Factor for display, such as 100 for a share in percent. */
  readonly factor?: number;
  /** The share of its core that the variant used. Below nine tenths the load generator was the limit, and the figure is "at least". */
  readonly busy?: string;
}

interface Table {
  readonly title: string;
  readonly part: PartName;
  readonly columns: readonly Column[];
}

const LEAST_BUSY = 0.9;

const SHAPES = [
  ["small.16", "small"],
  ["small.1", "small, 1 connection"],
  ["small.64", "small, 64"],
  ["24kB.16", "24 kB"],
  ["200kB.16", "200 kB"],
  ["stream.16", "stream of 100"],
] as const;

const TABLES: readonly Table[] = [
  {
    title: "Processor time of a request, µs",
    part: "loops",
    columns: SHAPES.map(([cell, label]) => ({ figure: `${cell}.cpu`, label, decimals: 0 })),
  },
  {
    title: "Requests a second on one core",
    part: "loops",
    columns: SHAPES.map(([cell, label]) => ({
      figure: `${cell}.rps`,
      label,
      decimals: 0,
      busy: `${cell}.busy`,
    })),
  },
  {
    title: "Share of its core that the variant used meanwhile, %",
    part: "loops",
    columns: SHAPES.map(([cell, label]) => ({ figure: `${cell}.busy`, label, decimals: 0, factor: 100 })),
  },
  {
    title: "Processor time of a chat request that is translated for Anthropic, µs",
    part: "translation",
    columns: [
      { figure: "anthropic.small.16.cpu", label: "small", decimals: 0 },
      { figure: "anthropic.200kB.16.cpu", label: "200 kB", decimals: 0 },
    ],
  },
  {
    title: "Time of a small answer at 200 requests a second, µs",
    part: "latency",
    columns: [
      { figure: "latency.p50", label: "p50", decimals: 0 },
      { figure: "latency.p99", label: "p99", decimals: 0 },
      { figure: "latency.p50", label: "added, p50", decimals: 0, base: "direct" },
      { figure: "latency.p99", label: "added, p99", decimals: 0, base: "direct" },
    ],
  },
  {
    title: "2,000 streams of 64 events, 20 ms apart, opened at once",
    part: "streams",
    columns: [
      { figure: "streams.seconds", label: "until all have ended, s", decimals: 2 },
      { figure: "streams.cpu", label: "processor time of an event, µs", decimals: 1 },
    ],
  },
  {
    title: "1,500 bodies of 150 kB at once, held for 3 s",
    part: "burst",
    columns: [
      { figure: "burst.idle", label: "resident before, MB", decimals: 0 },
      { figure: "burst.peak", label: "peak, MB", decimals: 0 },
      { figure: "burst.after", label: "30 s after, MB", decimals: 0 },
      { figure: "burst.answered", label: "answered", decimals: 0 },
      { figure: "burst.seconds", label: "until the last answer, s", decimals: 1 },
    ],
  },
  {
    title: "From the start of the process to the first answer, ms",
    part: "start",
    columns: [{ figure: "start.ms", label: "ms", decimals: 0 }],
  },
  {
    title: "Features of this gateway, each alone: processor time of a small request, µs",
    part: "features",
    columns: [
      { figure: "features.cpu", label: "in total", decimals: 0 },
      { figure: "features.cpu", label: "added", decimals: 0, base: "none" },
    ],
  },
];

/** Returns all tables of which something was measured, in Markdown. A cell is the median, with the lowest and highest round. */
export function renderTables({ labels, parts }: LabResults): string {
  return TABLES.flatMap((table) => {
    const part = parts[table.part];
    return part === undefined ? [] : [renderTable(table, part, labels)];
  }).join("\n");
}

function renderTable({ title, columns }: Table, part: PartResult, labels: LabResults["labels"]): string {
  const measured = part.figures.map(({ subject }) => subject);
  const known = [...Object.keys(labels), ...measured];
  const subjects = [...new Set(known)].filter((subject) => measured.includes(subject));
  const rows = subjects.map((subject) => {
    const cells = columns.map((column) => renderCell(part, column, subject));
    return `| ${[labels[subject] ?? subject, ...cells].join(" | ")} |`;
  });
  return [
    `### ${title}`,
    "",
    `| | ${columns.map(({ label }) => label).join(" | ")} |`,
    `|---|${"---:|".repeat(columns.length)}`,
    ...rows,
    "",
    describeOrigin(part, labels),
    "",
  ].join("\n");
}

function renderCell(part: PartResult, column: Column, subject: string): string {
  const { figure, base, decimals, factor = 1 } = column;
  if (base === subject) return "–";
  const summary =
    base === undefined ? summarize(part, figure, subject) : summarizeAdded(part, figure, { subject, base });
  if (summary === null) return "–";
  const busy = column.busy === undefined ? null : summarize(part, column.busy, subject);
  const prefix = busy !== null && busy.median < LEAST_BUSY ? "≥ " : "";
  return prefix + formatSummary(summary, decimals, factor);
}

/** Returns the median, and the range if the rounds differ by what is shown. */
export function formatSummary({ median, lowest, highest }: Summary, decimals: number, factor = 1): string {
  const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const [middle, from, to] = [median, lowest, highest].map((value) =>
    (value * factor).toLocaleString("en-US", options),
  );
  return from === to ? `${middle}` : `${middle} (${from} to ${to})`;
}

function describeOrigin(part: PartResult, labels: LabResults["labels"]): string {
  const { rounds, disturbance, absent } = part;
  const least = Math.max(0, ...warm(part).map(([, count]) => count));
  const cold = warm(part).filter(([, count]) => count < least);
  const warmed = cold.map(
    ([subject, count]) => `${labels[subject] ?? subject} ${count.toLocaleString("en-US")}`,
  );
  const steal = (100 * disturbance.steal).toFixed(1);
  const missing = absent.map(({ subject, cell, reason }) =>
    [labels[subject] ?? subject, cell, reason].filter(Boolean).join(", "),
  );
  return [
    `${part.measuredAt.slice(0, 16).replace("T", " ")} UTC, commit ${part.commit ?? "unknown"}, ${part.machine}.`,
    `Rounds kept: ${rounds.kept}; thrown away: ${rounds.discarded}. At most ${steal} % of a kept round was stolen by the host, and`,
    `${disturbance.others.toFixed(2)} cores were busy with other programs.`,
    ...(least === 0
      ? []
      : [
          `Warmed up with ${least.toLocaleString("en-US")} requests${warmed.length === 0 ? "" : `, except ${warmed.join(", ")}, which did not manage more in the time`}.`,
        ]),
    ...(missing.length === 0 ? [] : [`Not measured: ${missing.join("; ")}.`]),
  ].join(" ");
}

/** Returns how many requests each variant was warmed up with before the first measurement of a part. */
function warm({ figures }: PartResult): (readonly [string, number])[] {
  const first = figures.find(({ figure }) => figure.endsWith(".warm"))?.figure;
  return figures.flatMap(({ figure, subject, values }) =>
    figure === first ? [[subject, values[0] ?? 0] as const] : [],
  );
}
