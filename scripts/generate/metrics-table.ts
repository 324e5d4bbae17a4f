/**
 * Writes the table of metrics in docs/metrics.md, between two marks, from the declarations. Run by `npm run metrics-table`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { METRICS } from "../src/core/telemetry/metric-declarations.ts";
import type { MetricDeclaration } from "../src/core/telemetry/metric-registry.ts";

export const METRICS_FILE = join(import.meta.dir, "..", "docs", "metrics.md");

const BEGIN = "<!-- metrics: written by npm run metrics-table -->\n";
const END = "<!-- end of metrics -->";

/** Returns the document with the table as it must be. */
export function renderMetricsDocument(document: string): string {
  const begin = document.indexOf(BEGIN) + BEGIN.length;
  const end = document.indexOf(END);
  if (begin < BEGIN.length || end < begin) throw new Error(`${METRICS_FILE} has lost the marks of its table`);
  return `${document.slice(0, begin)}${renderTable()}${document.slice(end)}`;
}

function renderTable(): string {
  const declarations: readonly MetricDeclaration[] = Object.values(METRICS);
  const rows = declarations.map(
    ({ name, kind, labels, help }) =>
      `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(", ") || "–"} | ${help}. |`,
  );
  return ["| Name | Type | Labels | Meaning |", "|---|---|---|---|", ...rows, ""].join("\n");
}

if (import.meta.main) writeFileSync(METRICS_FILE, renderMetricsDocument(readFileSync(METRICS_FILE, "utf8")));
