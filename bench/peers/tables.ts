import { type LabResults, type PartResult, type Summary, summarize, summarizeAdded } from "./results.ts";
import { type Column, TABLES } from "./table-list.ts";

type Labels = LabResults["labels"];

/** A variant that used less of its core was not the limit of its rate. */
const LEAST_BUSY = 0.9;

/** Returns all tables of which something was measured, in Markdown. A cell is the median, with the lowest and highest round. */
export function renderTables({ labels, parts, tools }: LabResults): string {
  const lines = TABLES.flatMap(({ title, part: name, columns }, i) => {
    const part = parts[name];
    if (part === undefined) return [];
    const isLast = TABLES[i + 1]?.part !== name;
    const table = [`### ${title}`, "", renderTable(columns, part, labels), ""];
    return isLast ? [...table, describeOrigin(part, labels), ""] : table;
  });
  return [...lines, `Tools: ${tools}.`, ""].join("\n");
}

/** Returns one table. Its rows are the variants that have a figure in it. */
function renderTable(columns: readonly Column[], part: PartResult, labels: Labels): string {
  const known = [...Object.keys(labels), ...part.figures.map(({ subject }) => subject)];
  const rows = [...new Set(known)].flatMap((subject) => {
    const cells = columns.map((column) => renderCell(part, column, subject));
    return cells.every((cell) => cell === "–") ? [] : [[labels[subject] ?? subject, ...cells]];
  });
  if (rows.length === 0) return "Nothing was measured.";
  return formatTable(
    columns.map(({ label }) => label),
    rows,
  );
}

/** Returns a Markdown table whose first column has no head. */
export function formatTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [
    `| | ${heads.join(" | ")} |`,
    `|---|${"---:|".repeat(heads.length)}`,
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
}

function renderCell(part: PartResult, column: Column, subject: string): string {
  const summary = readColumn(part, column, subject);
  if (summary === null) return "–";
  const { limit, decimals, factor } = column;
  const busy = limit === undefined ? null : summarize(part, limit.busy, subject);
  const sign = limit !== undefined && busy !== null && busy.median < LEAST_BUSY ? `${limit.sign} ` : "";
  return sign + formatSummary(summary, decimals, factor);
}

/** Returns what a column shows of a variant; `null` if it was not measured, or is the variant that others are compared with. */
export function readColumn(
  part: PartResult,
  { figure, base }: Pick<Column, "figure" | "base">,
  subject: string,
): Summary | null {
  if (base === undefined) return summarize(part, figure, subject);
  return base === subject ? null : summarizeAdded(part, figure, { subject, base });
}

/** Returns the median, and the range if the rounds differ by what is shown. */
export function formatSummary({ median, lowest, highest }: Summary, decimals: number, factor = 1): string {
  const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const [middle, from, to] = [median, lowest, highest].map((value) =>
    (value * factor).toLocaleString("en-US", options),
  );
  return from === to ? `${middle}` : `${middle} (${from} to ${to})`;
}

function describeOrigin(part: PartResult, labels: Labels): string {
  const { absent } = part;
  const missing = absent.map(({ subject, cell, reason }) =>
    [labels[subject] ?? subject, cell, reason].filter(Boolean).join(", "),
  );
  return [
    `${part.measuredAt.slice(0, 16).replace("T", " ")} UTC, commit ${part.commit ?? "unknown"}, ${part.machine}.`,
    describeRounds(part),
    ...describeWarmUp(part, labels),
    ...part.notes.map((note) => `${note}.`),
    ...(missing.length === 0 ? [] : [`Not measured: ${missing.join("; ")}.`]),
  ].join(" ");
}

function describeRounds({ rounds, disturbance }: PartResult): string {
  const counts = `Rounds kept: ${rounds.kept}; thrown away: ${rounds.discarded}.`;
  if (rounds.kept === 0) return `${counts} The machine was too busy with other work.`;
  const steal = (100 * disturbance.steal).toFixed(1);
  const others = disturbance.others.toFixed(2);
  return `${counts} At most ${steal} % of a kept round was stolen by the host, and ${others} cores were busy with other programs.`;
}

/** Says how many requests the variants were warmed up with before the first measurement of a part. */
function describeWarmUp({ figures }: PartResult, labels: Labels): string[] {
  const first = figures.find(({ figure }) => figure.endsWith(".warm"))?.figure;
  const counts = figures
    .filter(({ figure }) => figure === first)
    .map(({ subject, values }) => [subject, values[0] ?? 0] as const);
  if (counts.length === 0) return [];
  const most = Math.max(...counts.map(([, count]) => count));
  const fewer = counts
    .filter(([, count]) => count < most)
    .map(([subject, count]) => `${labels[subject] ?? subject} ${count.toLocaleString("en-US")}`);
  const exception =
    fewer.length === 0 ? "" : `, except ${fewer.join(", ")}, which did not manage more in the time`;
  return [`Warmed up with ${most.toLocaleString("en-US")} requests${exception}.`];
}
