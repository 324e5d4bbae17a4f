import { nextTurn } from "../../base/time/next-turn.ts";
import type { MetricDeclaration } from "../../core/telemetry/metric-registry.ts";
import type { Family, HistogramSeries } from "./registry.ts";

/** The media type of the text format. */
export const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";

/** The number of lines that are printed in one turn of the event loop: about a fifth of a millisecond. */
const LINES_PER_TURN = 500;

/** A metric in Prometheus' text format. */
export interface PrintedFamily {
  readonly name: string;
  /** Its `HELP` and `TYPE` lines. */
  readonly head: string;
  /** The lines of its series. */
  readonly samples: string;
}

/**
 * Prints metrics in Prometheus' text format. Pauses between pieces, so that requests continue. `constant` is added to the labels of every
 * series.
 */
export async function printFamilies(
  families: readonly Family[],
  constant: Readonly<Record<string, string>> = {},
): Promise<PrintedFamily[]> {
  const common = Object.entries(constant).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  const printed: PrintedFamily[] = [];
  let lines = 0;
  for (const family of families) {
    const { declaration } = family;
    let samples = "";
    for (const text of printSeries(family, common)) {
      samples += text;
      lines += family.kind === "histogram" ? (declaration.bounds?.length ?? 0) + 3 : 1;
      if (lines < LINES_PER_TURN) continue;
      lines = 0;
      await nextTurn();
    }
    printed.push({ name: declaration.name, head: printHead(declaration), samples });
  }
  return printed;
}

/** Joins the metrics of several processes: each metric once, with the series of all. */
export function joinFamilies(processes: readonly (readonly PrintedFamily[])[]): string {
  const byName = new Map<string, { readonly head: string; samples: string }>();
  for (const { name, head, samples } of processes.flat()) {
    const joined = byName.get(name);
    if (joined === undefined) byName.set(name, { head, samples });
    else joined.samples += samples;
  }
  let text = "";
  for (const { head, samples } of byName.values()) text += head + samples;
  return text;
}

function printHead({ name, help, kind }: MetricDeclaration): string {
  const escaped = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return `# HELP ${name} ${escaped}.\n# TYPE ${name} ${kind}\n`;
}

function* printSeries(family: Family, common: readonly string[]): Iterable<string> {
  const { declaration } = family;
  const { name, divisor = 1 } = declaration;
  if (family.kind === "histogram") {
    for (const series of family.series()) yield printHistogram(declaration, series, common);
    return;
  }
  for (const { labels, value } of family.series())
    yield `${name}${bracket(printLabels(declaration, labels, common))} ${value / divisor}\n`;
}

function printHistogram(
  declaration: MetricDeclaration,
  { labels, counts, sum }: HistogramSeries,
  common: readonly string[],
): string {
  const { name, bounds = [], divisor = 1 } = declaration;
  const own = printLabels(declaration, labels, common);
  const before = own === "" ? "" : `${own},`;
  let text = "";
  let total = 0;
  for (const [at, count] of counts.entries()) {
    total += count;
    text += `${name}_bucket{${before}le="${at < bounds.length ? bounds[at] : "+Inf"}"} ${total}\n`;
  }
  return `${text}${name}_sum${bracket(own)} ${sum / divisor}\n${name}_count${bracket(own)} ${total}\n`;
}

function printLabels(
  { labels: names }: MetricDeclaration,
  values: readonly string[],
  common: readonly string[],
): string {
  const own = names.map((name, at) => `${name}="${escapeLabel(values[at] as string)}"`);
  return [...common, ...own].join(",");
}

function bracket(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}

const ESCAPED = /[\\"\n]/g;

function escapeLabel(value: string): string {
  return value.replace(ESCAPED, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
