import type {
  Counter,
  Histogram,
  LabelValues,
  MetricDeclaration,
  MetricRegistry,
  ReportValue,
} from "../../core/telemetry/metric-registry.ts";

/** The most series of a metric. Beyond it, the values of `OPEN_LABELS` are counted as `other`. */
export const MAX_SERIES = 1_000;
const OTHER = "other";
/** The labels that have as many values as the catalog has entries. All others have a closed set. */
const OPEN_LABELS: ReadonlySet<string> = new Set(["model", "provider"]);

/** A series of a counter or gauge. */
export interface ValueSeries {
  readonly labels: readonly string[];
  value: number;
}

/** A series of a histogram. */
export interface HistogramSeries {
  readonly labels: readonly string[];
  /** How many values each bucket has, the last one without an upper bound. */
  readonly counts: number[];
  sum: number;
}

/** A metric and its series. */
export type Family =
  | {
      readonly kind: "value";
      readonly declaration: MetricDeclaration;
      readonly series: () => Iterable<ValueSeries>;
    }
  | {
      readonly kind: "histogram";
      readonly declaration: MetricDeclaration;
      readonly series: () => Iterable<HistogramSeries>;
    };

/** The registry of a process, with what exporters read. */
export interface ReadableRegistry extends MetricRegistry {
  /** The metrics in the order in which they were registered. */
  readonly families: readonly Family[];
}

/** Creates a registry. Recording a value costs one lookup by the joined values of its labels. */
export function createMetricRegistry(): ReadableRegistry {
  const families: Family[] = [];
  return {
    families,
    counter<L extends readonly string[]>(declaration: MetricDeclaration<L>): Counter<L> {
      const all = new SeriesMap<ValueSeries>(declaration, (labels) => ({ labels, value: 0 }));
      families.push({ kind: "value", declaration, series: () => all.values() });
      return {
        add(amount, labels) {
          all.find(labels).value += amount;
        },
      };
    },
    histogram<L extends readonly string[]>(declaration: MetricDeclaration<L>): Histogram<L> {
      const { bounds = [] } = declaration;
      const all = new SeriesMap<HistogramSeries>(declaration, (labels) => ({
        labels,
        counts: new Array<number>(bounds.length + 1).fill(0),
        sum: 0,
      }));
      families.push({ kind: "histogram", declaration, series: () => all.values() });
      return {
        observe(value, labels) {
          const series = all.find(labels);
          const { counts } = series;
          let at = 0;
          while (at < bounds.length && value > (bounds[at] as number)) at++;
          counts[at] = (counts[at] as number) + 1;
          series.sum += value;
        },
      };
    },
    observe<L extends readonly string[]>(
      declaration: MetricDeclaration<L>,
      read: (report: ReportValue<L>) => void,
    ): void {
      families.push({ kind: "value", declaration, series: () => readValues(declaration, read) });
    },
  };
}

function readValues<L extends readonly string[]>(
  declaration: MetricDeclaration<L>,
  read: (report: ReportValue<L>) => void,
): Iterable<ValueSeries> {
  const all = new SeriesMap<ValueSeries>(declaration, (labels) => ({ labels, value: 0 }));
  read((value, labels) => {
    all.find(labels).value = value;
  });
  return all.values();
}

/** The series of one metric by the values of their labels. */
class SeriesMap<Series> {
  private readonly byKey = new Map<string, Series>();

  constructor(
    private readonly declaration: MetricDeclaration,
    private readonly create: (labels: readonly string[]) => Series,
  ) {}

  values(): Iterable<Series> {
    return this.byKey.values();
  }

  find<L extends readonly string[]>(labels: LabelValues<L>): Series {
    const key = joinLabels(labels);
    const found = this.byKey.get(key);
    if (found !== undefined) return found;
    const counted = this.byKey.size < MAX_SERIES ? labels : this.generalize(labels);
    return this.byKey.get(joinLabels(counted)) ?? this.add(counted);
  }

  private add(labels: readonly string[]): Series {
    const series = this.create([...labels]);
    this.byKey.set(joinLabels(labels), series);
    return series;
  }

  private generalize(labels: readonly string[]): readonly string[] {
    const names = this.declaration.labels;
    return labels.map((value, at) => (OPEN_LABELS.has(names[at] as string) ? OTHER : value));
  }
}

/** Faster than `join`, because there are at most four. */
function joinLabels(labels: readonly string[]): string {
  let key = labels.length === 0 ? "" : (labels[0] as string);
  for (let at = 1; at < labels.length; at++) key += `\n${labels[at]}`;
  return key;
}
