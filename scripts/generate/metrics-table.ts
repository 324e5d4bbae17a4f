/**
 * The table of metrics in docs/metrics.md, between two marks, from the declarations.
 */
import { join } from "node:path";
import { METRICS } from "../../src/core/telemetry/metric-declarations.ts";
import type { MetricDeclaration } from "../../src/core/telemetry/metric-registry.ts";
import { replaceBlock } from "./replace-block.ts";

export const METRICS_FILE = join(import.meta.dir, "../..", "docs", "metrics.md");

/** Returns the document with the table as it must be. */
export function renderMetricsDocument(document: string): string {
  return replaceBlock(document, "metrics", renderTable());
}

function renderTable(): string {
  const declarations: readonly MetricDeclaration[] = Object.values(METRICS);
  const rows = declarations.map(
    ({ name, kind, labels, help }) =>
      `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(", ") || "–"} | ${help}. |`,
  );
  return ["| Name | Type | Labels | Meaning |", "|---|---|---|---|", ...rows].join("\n");
}
