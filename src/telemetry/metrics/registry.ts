import type {
  Counter,
  FewLabels,
  Histogram,
  MetricDeclaration,
  MetricRegistry,
  ReportValue,
} from "../../core/telemetry/metric-registry.ts";

/** The maximum number of series of a metric. Beyond it, the values of `OPEN_LABELS` are counted as `other`. */
export const MAX_SERIES = 1_000;
const OTHER = "other";
/** The labels that have as many values as the catalog has entries. All others have a closed set. */
const OPEN_LABELS: ReadonlySet<string> = new Set(["model", "provider"]);

/** A series of a counter or gauge. */
interface ValueSeries {
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

/** Creates a registry. Recording a value costs one lookup for each of its labels. */
export function createMetricRegistry(): ReadableRegistry {
  const families: Family[] = [];
  return {
    families,
    counter<L extends FewLabels>(declaration: MetricDeclaration<L>): Counter<L> {
      const all = new SeriesMap<ValueSeries>(declaration, (labels) => ({ labels, value: 0 }));
      families.push({ kind: "value", declaration, series: () => all.values() });
      return {
        add(amount: number, a?: string, b?: string, c?: string, d?: string) {
          all.findOne(a, b, c, d).value += amount;
        },
      } as Counter<L>;
    },
    histogram<L extends FewLabels>(declaration: MetricDeclaration<L>): Histogram<L> {
      const { bounds = [] } = declaration;
      const all = new SeriesMap<HistogramSeries>(declaration, (labels) => ({
        labels,
        counts: new Array<number>(bounds.length + 1).fill(0),
        sum: 0,
      }));
      families.push({ kind: "histogram", declaration, series: () => all.values() });
      return {
        observe(value: number, a?: string, b?: string, c?: string, d?: string) {
          const series = all.findOne(a, b, c, d);
          const { counts } = series;
          let at = 0;
          while (at < bounds.length && value > (bounds[at] as number)) at++;
          counts[at] = (counts[at] as number) + 1;
          series.sum += value;
        },
      } as Histogram<L>;
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

/** The series whose first labels have certain values. */
interface Branch<Series> {
  /** By the value of the next label. */
  readonly next: Map<string, Branch<Series>>;
  /** Null if there are further labels, or if none was recorded. */
  series: Series | null;
}

/**
 * The series of one metric by the values of their labels. They are found label by label, because a key of joined values would be a new
 * string for each value that is recorded.
 */
class SeriesMap<Series> {
  private readonly root: Branch<Series> = { next: new Map(), series: null };
  private readonly all: Series[] = [];

  constructor(
    private readonly declaration: MetricDeclaration,
    private readonly create: (labels: readonly string[]) => Series,
  ) {}

  values(): Iterable<Series> {
    return this.all;
  }

  find(labels: readonly string[]): Series {
    const found = this.findKnown(labels);
    if (found !== null) return found;
    const counted = this.all.length < MAX_SERIES ? labels : this.generalize(labels);
    return this.findKnown(counted) ?? this.add(counted);
  }

  /** Finds a series like `find`, without a list of its labels: a counter or histogram has at most four. */
  findOne(a?: string, b?: string, c?: string, d?: string): Series {
    let branch: Branch<Series> | undefined = this.root;
    if (a !== undefined) branch = branch.next.get(a);
    if (b !== undefined) branch = branch?.next.get(b);
    if (c !== undefined) branch = branch?.next.get(c);
    if (d !== undefined) branch = branch?.next.get(d);
    return branch?.series ?? this.find([a, b, c, d].filter((label) => label !== undefined));
  }

  private findKnown(labels: readonly string[]): Series | null {
    let branch: Branch<Series> | undefined = this.root;
    for (let at = 0; at < labels.length && branch !== undefined; at++)
      branch = branch.next.get(labels[at] as string);
    return branch?.series ?? null;
  }

  private add(labels: readonly string[]): Series {
    const series = this.create([...labels]);
    this.all.push(series);
    let branch = this.root;
    for (const label of labels) {
      const next = branch.next.get(label) ?? { next: new Map(), series: null };
      branch.next.set(label, next);
      branch = next;
    }
    branch.series = series;
    return series;
  }

  private generalize(labels: readonly string[]): readonly string[] {
    const names = this.declaration.labels;
    return labels.map((value, at) => (OPEN_LABELS.has(names[at] as string) ? OTHER : value));
  }
}
