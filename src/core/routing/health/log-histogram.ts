import type { Percentiles } from "../../../base/numbers/percentiles.ts";

/** The ratio of a bucket's bounds. Percentiles are off by at most its square root, which is less than a tenth. */
const RATIO = 1.2;
const LOG_RATIO = Math.log(RATIO);
const BUCKETS = 64;
/** Half-life of a value's weight. Milliseconds. */
const HALF_LIFE_MS = 300_000;
/** Weights decay in steps, so that most additions are cheap. Milliseconds. */
const STEP_MS = 10_000;
/** The minimum total weight for percentiles: one value, or two old ones, are not enough. */
const MIN_WEIGHT = 1.5;

/** A histogram of the recent values of a measure, in 64 buckets whose bounds grow by a fifth; weights decay with age. */
export class LogHistogram {
  private readonly weights = new Float32Array(BUCKETS);
  private total = 0;
  private decayedAt = 0;
  private median: number | null = null;
  /** Until when the median is valid; 0: it must be computed. */
  private knownUntil = 0;

  /** `min` is the lower bound of the first bucket; the upper bound of the last is about 100,000 times as high. */
  constructor(private readonly min: number) {}

  add(value: number, now: number): void {
    this.decay(now);
    const bucket = value <= this.min ? 0 : Math.floor(Math.log(value / this.min) / LOG_RATIO);
    const at = Math.min(BUCKETS - 1, bucket);
    this.weights[at] = (this.weights[at] as number) + 1;
    this.total += 1;
    this.knownUntil = 0;
  }

  /** Adds the values of another histogram with the same lower bound, with the weights that they have at `now`. */
  merge(other: LogHistogram, now: number): void {
    this.decayAll(now);
    const factor = 0.5 ** (Math.max(0, now - other.decayedAt) / HALF_LIFE_MS);
    for (let at = 0; at < BUCKETS; at++) {
      const weight = (other.weights[at] as number) * factor;
      this.weights[at] = (this.weights[at] as number) + weight;
      this.total += weight;
    }
    this.knownUntil = 0;
  }

  /** The median; null below the minimum sample size. */
  p50(now: number): number | null {
    if (this.knownUntil === 0) {
      this.median = this.percentile(0.5);
      this.knownUntil = this.decayedAt + HALF_LIFE_MS * Math.log2(this.total / MIN_WEIGHT);
    }
    return now <= this.knownUntil ? this.median : null;
  }

  percentiles(now: number): Percentiles | null {
    const p50 = this.p50(now);
    if (p50 === null) return null;
    return { p50, p90: this.percentile(0.9), p99: this.percentile(0.99) };
  }

  private decay(now: number): void {
    if (now - this.decayedAt >= STEP_MS) this.decayAll(now);
  }

  private decayAll(now: number): void {
    const factor = 0.5 ** (Math.max(0, now - this.decayedAt) / HALF_LIFE_MS);
    let total = 0;
    for (let at = 0; at < BUCKETS; at++) {
      const weight = (this.weights[at] as number) * factor;
      this.weights[at] = weight;
      total += weight;
    }
    this.total = total;
    this.decayedAt = now;
  }

  private percentile(share: number): number {
    let left = this.total * share;
    let at = 0;
    while (at < BUCKETS - 1 && left > (this.weights[at] as number)) {
      left -= this.weights[at] as number;
      at += 1;
    }
    return this.min * RATIO ** (at + 0.5);
  }
}
