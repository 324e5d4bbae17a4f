/** Each bucket's end over its start: what is read is off by its root at most, less than a tenth. */
const RATIO = 1.2;
const LOG_RATIO = Math.log(RATIO);
const BUCKETS = 64;
/** After so long a value counts half. Milliseconds. */
const HALF_LIFE_MS = 300_000;
/** Decay in steps, so that most notes cost one addition. */
const STEP_MS = 10_000;
/** One value says nothing, nor do two that are old. */
const MIN_WEIGHT = 1.5;

/** What so many of all values are below. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** Percentiles of the recent values of one measure, in 64 buckets whose bounds grow by a fifth; older values count less and less. */
export class LogHistogram {
  private readonly weights = new Float32Array(BUCKETS);
  private total = 0;
  private decayedAt = 0;
  private median: number | null = null;
  /** Until when what is known is enough; 0: to be worked out. */
  private knownUntil = 0;

  /** `min` is where the first bucket starts; the last ends at about a hundred thousand times that. */
  constructor(private readonly min: number) {}

  add(value: number, now: number): void {
    this.decay(now);
    const bucket = value <= this.min ? 0 : Math.floor(Math.log(value / this.min) / LOG_RATIO);
    const at = Math.min(BUCKETS - 1, bucket);
    this.weights[at] = (this.weights[at] as number) + 1;
    this.total += 1;
    this.knownUntil = 0;
  }

  /** Null where too little is known. */
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
    const passedMs = now - this.decayedAt;
    if (passedMs < STEP_MS) return;
    const factor = 0.5 ** (passedMs / HALF_LIFE_MS);
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
