import { EXPLANATIONS, type Explanation, explain, type Loss, listLosses } from "./explained.ts";
import type { OtherCheck } from "./other-exchanges.ts";
import { CHECKS, type Check, type Outcome } from "./replay.ts";

/** The comparisons of one client API with one target. */
interface Cell {
  whole: number;
  explained: number;
  lost: number;
}

/** All comparisons, counted. */
export interface Tally {
  /** By `client → target`, and by check. */
  readonly cells: ReadonlyMap<string, ReadonlyMap<Check, Cell>>;
  /** How many comparisons needed each explanation. */
  readonly reasons: ReadonlyMap<Explanation, number>;
  readonly losses: readonly Loss[];
}

/** Counts outcomes: whole; explained, if every difference is; otherwise lost. */
export function tally(outcomes: readonly Outcome[]): Tally {
  const cells = new Map<string, Map<Check, Cell>>();
  const reasons = new Map<Explanation, number>();
  const losses: Loss[] = [];
  for (const outcome of outcomes) {
    const found = listLosses(outcome).map((loss) => ({ loss, why: explain(loss) }));
    const lost = found.filter(({ why }) => why === null).map(({ loss }) => loss);
    for (const why of new Set(found.map((one) => one.why)))
      if (why !== null) reasons.set(why, (reasons.get(why) ?? 0) + 1);
    losses.push(...lost);
    const cell = cellOf(cells, outcome);
    if (found.length === 0) cell.whole += 1;
    else if (lost.length === 0) cell.explained += 1;
    else cell.lost += 1;
  }
  return { cells, reasons, losses };
}

function cellOf(cells: Map<string, Map<Check, Cell>>, { client, target, check }: Outcome): Cell {
  const name = `${client} → ${target.name}`;
  const row = cells.get(name) ?? new Map<Check, Cell>();
  cells.set(name, row);
  const cell = row.get(check) ?? { whole: 0, explained: 0, lost: 0 };
  row.set(check, cell);
  return cell;
}

interface ReportOptions {
  /** After a complete run, an explanation that was never needed is an error. */
  readonly isWhole: boolean;
  readonly printsAll: boolean;
}

/** The report of a run and its counts. */
export interface Report {
  readonly text: string;
  readonly passed: number;
  readonly failed: number;
}

/** Writes the table, the reasons and the losses. A client API, target and check without any loss has passed. */
export function writeReport(
  { cells, reasons, losses }: Tally,
  others: readonly OtherCheck[],
  { isWhole, printsAll }: ReportOptions,
): Report {
  const all = [...cells.values()].flatMap((row) => [...row.values()]);
  const unused = isWhole ? EXPLANATIONS.filter((explanation) => !reasons.has(explanation)) : [];
  const failed =
    all.filter(({ lost }) => lost > 0).length +
    others.filter(({ broken }) => broken.length > 0).length +
    unused.length;
  const text = [
    "whole / explained / lost, by client API and target",
    "",
    ...writeTable(cells),
    "",
    "Explained:",
    ...[...reasons].sort(([, a], [, b]) => b - a).map(([{ reason }, count]) => `${pad(count)}  ${reason}`),
    "",
    ...others.flatMap(({ promise, cases, broken }) => [
      `${broken.length === 0 ? "ok  " : "FAIL"} ${promise} (${cases})`,
      ...broken.map((line) => `       ${line}`),
    ]),
    ...unused.map(({ reason }) => `FAIL nothing needs the explanation: ${reason}`),
    ...writeLosses(losses, printsAll),
  ].join("\n");
  return { text, passed: all.length + others.length + unused.length - failed, failed };
}

const COUNT_WIDTH = 6;

function pad(count: number): string {
  return String(count).padStart(COUNT_WIDTH);
}

function writeTable(cells: Tally["cells"]): string[] {
  const rows = [...cells].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    `| | ${CHECKS.join(" | ")} |`,
    `| ---${" | ---".repeat(CHECKS.length)} |`,
    ...rows.map(
      ([name, row]) => `| ${name} | ${CHECKS.map((check) => writeCell(row.get(check))).join(" | ")} |`,
    ),
  ];
}

function writeCell(cell: Cell | undefined): string {
  return cell === undefined ? "" : `${cell.whole} / ${cell.explained} / ${cell.lost}`;
}

const EXAMPLES = 2;
const VALUE_CHARS = 160;

/** Losses by kind, with a few examples of each, or all of them. */
function writeLosses(losses: readonly Loss[], printsAll: boolean): string[] {
  const groups = Map.groupBy(
    losses,
    ({ check, client, target, kind, change }) => `${check}, ${client} → ${target.name}: ${kind} ${change}`,
  );
  return [...groups].flatMap(([name, group]) => [
    `LOST ${name} (${group.length})`,
    ...group
      .slice(0, printsAll ? group.length : EXAMPLES)
      .map(({ recording, value }) => `       ${recording.name}: ${value.slice(0, VALUE_CHARS)}`),
  ]);
}
