import { medianOf } from "../report/figures.ts";
import type { PartName } from "./plan.ts";
import type { TargetName } from "./targets.ts";

/** One value of one figure, for one target in one round. */
interface Sample {
  readonly figure: string;
  readonly target: TargetName;
  readonly round: number;
  readonly value: number;
}

/** A part that can fail on its own. The name of a figure begins with its part. */
export type Measured = PartName | "soak" | "start";

/** A part that could not be measured for a target, and why. */
interface Failure {
  readonly target: TargetName;
  readonly part: Measured;
  readonly reason: string;
}

/** All results of a run. */
export class Findings {
  readonly samples: Sample[] = [];
  readonly failures: Failure[] = [];

  add(figure: string, target: TargetName, round: number, value: number): void {
    this.samples.push({ figure, target, round, value });
  }

  /** Drops what was measured of a part before it failed, because it cannot be trusted. */
  fail(target: TargetName, part: Measured, reason: string): void {
    if (!this.hasFailed(target, part)) this.failures.push({ target, part, reason });
  }

  hasFailed(target: TargetName, part: Measured): boolean {
    return this.failures.some((failure) => failure.target === target && failure.part === part);
  }

  /** Returns the median over the rounds, or `null` without a trusted value. */
  median(figure: string, target: TargetName): number | null {
    const part = figure.split(".")[0] as Measured;
    if (this.hasFailed(target, part)) return null;
    return medianOf(
      this.samples.filter((s) => s.figure === figure && s.target === target).map((s) => s.value),
    );
  }
}
