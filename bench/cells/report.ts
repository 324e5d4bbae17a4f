import { formatRatio, tableLine } from "../report/figures.ts";
import { figureOf, LANES, LOADS } from "../targets/lanes.ts";
import { checkGoals, type Verdict } from "./aims.ts";
import type { Findings } from "./findings.ts";
import { SOAK_SLICES } from "./memory.ts";
import type { Plan } from "./plan.ts";
import type { TargetName } from "./targets.ts";

interface Row {
  readonly figure: string;
  readonly label: string;
  readonly decimals: number;
}

interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

const SECTIONS: readonly Section[] = [
  {
    title: "CPU time of the target (16 connections; less is better)",
    rows: [
      { figure: "small.cpu", label: "small request, µs", decimals: 0 },
      { figure: "small.database", label: "its database's, µs", decimals: 0 },
      { figure: "large.cpu", label: "200 kB body, µs", decimals: 0 },
      { figure: "stream.cpu", label: "100-event stream, µs", decimals: 0 },
      { figure: "stream.base", label: "1-event stream, µs", decimals: 0 },
      { figure: "stream.event", label: "an event in a burst, µs", decimals: 2 },
      { figure: "memory.event", label: "an event alone, µs", decimals: 1 },
    ],
  },
  {
    title: "Requests per second (more is better)",
    rows: [
      { figure: "small.rps.1", label: "small, 1 connection", decimals: 0 },
      { figure: "small.rps.16", label: "small, 16 connections", decimals: 0 },
      { figure: "small.rps.64", label: "small, 64 connections", decimals: 0 },
      { figure: "large.rps.16", label: "200 kB, 16 connections", decimals: 0 },
      { figure: "stream.rps.16", label: "100-event streams, 16", decimals: 0 },
    ],
  },
  {
    title: "Time of an answer, ms (200 small requests a second)",
    rows: [
      { figure: "latency.answer.p50", label: "p50", decimals: 2 },
      { figure: "latency.answer.p99", label: "p99", decimals: 2 },
      { figure: "latency.answer.added.p50", label: "added to direct, p50", decimals: 2 },
      { figure: "latency.answer.added.p99", label: "added to direct, p99", decimals: 2 },
    ],
  },
  {
    title: "Time to first token, ms (50 streams a second)",
    rows: [
      { figure: "latency.first-token.p50", label: "p50", decimals: 2 },
      { figure: "latency.first-token.p99", label: "p99", decimals: 2 },
      { figure: "latency.first-token.added.p50", label: "added to direct, p50", decimals: 2 },
      { figure: "latency.first-token.added.p99", label: "added to direct, p99", decimals: 2 },
    ],
  },
  {
    title: "Planning, in the bench's own process",
    rows: [{ figure: "planning.cpu", label: "a plan, 20 candidates, µs", decimals: 1 }],
  },
  {
    title: "Resident memory, MB",
    rows: [
      { figure: "memory.idle", label: "idle", decimals: 0 },
      { figure: "memory.streams", label: "most, %streams slow streams", decimals: 0 },
      { figure: "memory.after", label: "after them", decimals: 0 },
      ...Array.from({ length: SOAK_SLICES }, (_, i) => ({
        figure: `soak.${i + 1}`,
        label: `long run, ${i + 1}/${SOAK_SLICES}`,
        decimals: 0,
      })),
    ],
  },
];

const line = tableLine({ label: 28, column: 11 });

/** Two columns that are divided. */
interface Ratio {
  readonly head: string;
  readonly of: TargetName;
  readonly by: TargetName;
}

const RATIOS: readonly Ratio[] = [
  { head: "gw/portkey", of: "gateway", by: "portkey" },
  { head: "gw/relay", of: "gateway", by: "relay" },
  { head: "gw/before", of: "gateway", by: "before" },
  { head: "pg/gw", of: "postgres", by: "gateway" },
];

/** Returns the whole report as text. */
export function renderReport(findings: Findings, plan: Plan): string {
  const { targets } = plan;
  const ratios = RATIOS.filter(({ of, by }) => targets.includes(of) && targets.includes(by));
  const heads = [...targets, ...ratios.map(({ head }) => head)];
  const lines = ["", line("", heads)];
  for (const { title, rows } of SECTIONS) {
    const filled = rows.filter((row) => targets.some((name) => findings.median(row.figure, name) !== null));
    if (filled.length > 0)
      lines.push("", title, ...filled.map((row) => renderRow(findings, plan, ratios, row)));
  }
  lines.push(...renderLanes(findings));
  return [...lines, ...renderFailures(findings), ...renderVerdicts(checkGoals(findings)), ""].join("\n");
}

function renderRow(findings: Findings, plan: Plan, ratios: readonly Ratio[], row: Row): string {
  const values = plan.targets.map((name) => findings.median(row.figure, name));
  const quotients = ratios.map(({ of, by }) =>
    renderQuotient(findings.median(row.figure, of), findings.median(row.figure, by)),
  );
  const label = row.label.replace("%streams", plan.slowStreams.count.toLocaleString("en-US"));
  return line(`  ${label}`, [...values.map((value) => renderValue(value, row.decimals)), ...quotients]);
}

/** Translation has its own table, because it compares formats instead of targets. */
function renderLanes(findings: Findings): string[] {
  const [chat] = LANES;
  const rows = LANES.map(({ name }) => {
    const values = LOADS.map((load) => findings.median(figureOf(load.name, name), "gateway"));
    const bases = LOADS.map((load) => findings.median(figureOf(load.name, chat.name), "gateway"));
    const quotients = values.map((value, i) => renderQuotient(value, bases[i] ?? null));
    return { values, cells: [...values.map((value) => renderValue(value, 0)), ...quotients] };
  });
  if (rows.every(({ values }) => values.every((value) => value === null))) return [];
  const heads = [...LOADS.map(({ label }) => label), ...LOADS.map(({ name }) => `${name}, ×`)];
  return [
    "",
    line("Translation, CPU of gateway", heads),
    ...LANES.map(({ label }, i) => line(`  ${label}`, rows[i]?.cells ?? [])),
  ];
}

function renderValue(value: number | null, decimals: number): string {
  if (value === null) return "–";
  const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return value.toLocaleString("en-US", options);
}

function renderQuotient(ours: number | null, theirs: number | null): string {
  return ours === null || theirs === null || theirs <= 0 || ours <= 0 ? "–" : formatRatio(ours / theirs);
}

function renderFailures(findings: Findings): string[] {
  if (findings.failures.length === 0) return [];
  const lines = findings.failures.map(({ target, part, reason }) => `  ${target}, ${part}: ${reason}`);
  return ["", "Not measured, because it failed", ...lines];
}

function renderVerdicts(verdicts: readonly Verdict[]): string[] {
  const words = { true: "met", false: "MISSED", null: "–" } as const;
  return [
    "",
    "Aims",
    ...verdicts.map(({ aim, isMet, found }) => `  ${words[`${isMet}`].padEnd(7)} ${aim}: ${found}`),
  ];
}
