/** The declaration of a metric: one name with its type, its meaning and its labels. */
export interface MetricDeclaration<Labels extends readonly string[] = readonly string[]> {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  /** One sentence without its full stop: the help text of the exposition, and the description in the documentation. */
  readonly help: string;
  readonly labels: Labels;
  /** The upper bounds of a histogram's buckets, ascending. The last bucket has no bound. */
  readonly bounds?: readonly number[];
  /** Values are recorded in this part of the unit that the name states: 1e9 for dollars that are counted in nanodollars. */
  readonly divisor?: number;
  /** The unit for exporters that state it, in UCUM notation. Absent: a count. */
  readonly unit?: "s" | "By" | "USD";
}

/** The values of a declaration's labels, in its order. */
type LabelValues<Labels extends readonly string[]> = { readonly [K in keyof Labels]: string };

/** The labels of a counter or histogram. Their values are passed as single arguments, because a list would be created for each value. */
export type FewLabels = readonly string[] & { readonly length: 0 | 1 | 2 | 3 | 4 };

/** A sum that only grows. */
export interface Counter<Labels extends readonly string[]> {
  add(amount: number, ...labels: LabelValues<Labels>): void;
}

/** Counts values by size. */
export interface Histogram<Labels extends readonly string[]> {
  observe(value: number, ...labels: LabelValues<Labels>): void;
}

/** Reports a value that is read when metrics are. */
export type ReportValue<Labels extends readonly string[]> = (
  value: number,
  labels: LabelValues<Labels>,
) => void;

/**
 * Keeps the metrics of one process. A metric has a bounded number of series: beyond it, values of the labels `model` and `provider`
 * are counted as `other`.
 */
export interface MetricRegistry {
  counter<const L extends FewLabels>(declaration: MetricDeclaration<L>): Counter<L>;
  histogram<const L extends FewLabels>(declaration: MetricDeclaration<L>): Histogram<L>;
  /** Registers a gauge or counter whose values `read` reports whenever metrics are read. */
  observe<const L extends readonly string[]>(
    declaration: MetricDeclaration<L>,
    read: (report: ReportValue<L>) => void,
  ): void;
}
