/** Percentiles of a measure, in its unit. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}
