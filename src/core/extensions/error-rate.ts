import { SlicedCounter } from "../../base/numbers/sliced-counter.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Extension, ExtensionPoints } from "../generation/call/extension.ts";
import type { RequestObserver } from "../telemetry/request-observer.ts";
import { outcomeOf, outcomeOfFailure } from "./metrics.ts";

/** How the requests of a window have ended. */
interface ErrorRate {
  readonly failed: number;
  /** Requests that were answered or failed. Rejected requests and those whose clients left are not counted. */
  readonly total: number;
}

/** Counts how requests end. */
export interface ErrorRateCounter extends Extension, Pick<RequestObserver, "onRejected"> {
  read(now: number): ErrorRate;
}

/** The slices of a window: a request leaves it up to a tenth of its length late. */
const SLICES = 10;

/** Creates a counter of the requests of the last `windowMs` milliseconds. */
export function createErrorRate(clock: Pick<Clock, "now">, windowMs: number): ErrorRateCounter {
  const window = { slices: SLICES, sliceMs: windowMs / SLICES };
  const [completed, failed] = [new SlicedCounter(window), new SlicedCounter(window)];
  const points: ExtensionPoints = {
    onSettled(record, failure) {
      const outcome = outcomeOf(record, failure);
      if (outcome === "completed" || outcome === "cached") completed.add(clock.now());
      else if (outcome === "failed") failed.add(clock.now());
    },
  };
  return {
    name: "error rate",
    attach: () => points,
    onRejected(_request, failure) {
      if (outcomeOfFailure(failure) === "failed") failed.add(clock.now());
    },
    read(now) {
      const count = failed.sum(now);
      return { failed: count, total: count + completed.sum(now) };
    },
  };
}
