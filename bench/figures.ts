import type { PartName } from "./plan.ts";
import type { TargetName } from "./targets.ts";

/** One value of one figure, of one target in one round. */
export interface Sample {
  readonly figure: string;
  readonly target: TargetName;
  readonly round: number;
  readonly value: number;
}

/** What can fail on its own. A figure's name begins with the part that it belongs to. */
export type Measured = PartName | "soak" | "start";

/** A part that a target could not be measured in, and why. */
export interface Failure {
  readonly target: TargetName;
  readonly part: Measured;
  readonly reason: string;
}

/** All that a run has found. */
export class Findings {
  readonly samples: Sample[] = [];
  readonly failures: Failure[] = [];

  add(figure: string, target: TargetName, round: number, value: number): void {
    this.samples.push({ figure, target, round, value });
  }

  /** Whatever was measured of a part before it failed is not to be trusted either. */
  fail(target: TargetName, part: Measured, reason: string): void {
    if (!this.hasFailed(target, part)) this.failures.push({ target, part, reason });
  }

  hasFailed(target: TargetName, part: Measured): boolean {
    return this.failures.some((failure) => failure.target === target && failure.part === part);
  }

  /** The median over the rounds, or null when there is none to trust. */
  median(figure: string, target: TargetName): number | null {
    const part = figure.split(".")[0] as Measured;
    if (this.hasFailed(target, part)) return null;
    return medianOf(
      this.samples.filter((s) => s.figure === figure && s.target === target).map((s) => s.value),
    );
  }
}

function medianOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}
