import { nextTurn } from "../../base/time/next-turn.ts";
import type { MetricDeclaration } from "../../core/telemetry/metric-registry.ts";
import type { Family, HistogramSeries } from "../metrics/registry.ts";
import { encodeTime } from "./json.ts";

const CUMULATIVE = 2;
/** The number of series that are encoded in one turn of the event loop. */
const SERIES_PER_TURN = 100;

/** The interval that cumulative values are about. Milliseconds since the epoch. */
interface Interval {
  readonly startedAt: number;
  readonly now: number;
}

/** Encodes metrics with the names of `/metrics`. Pauses between pieces, so that requests continue. */
export async function encodeMetrics(families: readonly Family[], interval: Interval): Promise<string> {
  const times = `"startTimeUnixNano":${encodeTime(interval.startedAt)},"timeUnixNano":${encodeTime(interval.now)}`;
  const metrics: string[] = [];
  let encoded = 0;
  for (const family of families) {
    const { declaration } = family;
    const points: string[] = [];
    for (const point of encodePoints(family, times)) {
      points.push(point);
      if (++encoded % SERIES_PER_TURN === 0) await nextTurn();
    }
    if (points.length > 0) metrics.push(encodeMetric(declaration, points.join(",")));
  }
  return metrics.join(",");
}

function encodeMetric({ name, help, kind, unit }: MetricDeclaration, points: string): string {
  const head = `{"name":"${name}","description":${JSON.stringify(help)},"unit":"${unit ?? "1"}"`;
  switch (kind) {
    case "counter":
      return `${head},"sum":{"aggregationTemporality":${CUMULATIVE},"isMonotonic":true,"dataPoints":[${points}]}}`;
    case "gauge":
      return `${head},"gauge":{"dataPoints":[${points}]}}`;
    case "histogram":
      return `${head},"histogram":{"aggregationTemporality":${CUMULATIVE},"dataPoints":[${points}]}}`;
  }
}

function* encodePoints(family: Family, times: string): Iterable<string> {
  const { declaration } = family;
  const { divisor = 1 } = declaration;
  if (family.kind === "histogram") {
    for (const series of family.series()) yield encodeHistogram(declaration, series, times);
    return;
  }
  for (const { labels, value } of family.series())
    yield `{"attributes":${encodeLabels(declaration, labels)},${times},"asDouble":${value / divisor}}`;
}

function encodeHistogram(
  declaration: MetricDeclaration,
  { labels, counts, sum }: HistogramSeries,
  times: string,
): string {
  const { bounds = [], divisor = 1 } = declaration;
  const total = counts.reduce((all, count) => all + count, 0);
  const buckets = counts.map((count) => `"${count}"`).join(",");
  return `{"attributes":${encodeLabels(declaration, labels)},${times},"count":"${total}","sum":${sum / divisor},"bucketCounts":[${buckets}],"explicitBounds":[${bounds.join(",")}]}`;
}

function encodeLabels({ labels: names }: MetricDeclaration, values: readonly string[]): string {
  const attributes = names.map(
    (name, at) => `{"key":"${name}","value":{"stringValue":${JSON.stringify(values[at])}}}`,
  );
  return `[${attributes.join(",")}]`;
}
