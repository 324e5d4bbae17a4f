import { SlicedCounter } from "../../base/numbers/sliced-counter.ts";
import type { Clock } from "../../base/time/clock.ts";
import { MINUTE_MS } from "../../base/time/time.ts";
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
  /** Returns how the requests of the last minutes have ended, at most an hour. */
  read(now: number, minutes: number): ErrorRate;
}

/** Requests leave a window in slices of six seconds. */
const SLICES_PER_MINUTE = 10;
/** The longest window, of which all counts are kept: a reload may change the window without losing any. */
const MAX_MINUTES = 60;

/** Creates a counter of the requests of the last hour. */
export function createErrorRate(clock: Pick<Clock, "now">): ErrorRateCounter {
  const window = { slices: MAX_MINUTES * SLICES_PER_MINUTE, sliceMs: MINUTE_MS / SLICES_PER_MINUTE };
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
    read(now, minutes) {
      const slices = minutes * SLICES_PER_MINUTE;
      const count = failed.sumLast(now, slices);
      return { failed: count, total: count + completed.sumLast(now, slices) };
    },
  };
}
