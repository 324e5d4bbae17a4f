import type { Candidate } from "../routing/plan.ts";
import type { GenerationDeps } from "./call.ts";
import type { FailureClassification } from "./classify-failure.ts";

/** Notes that an account's own key was used, and what was wrong with it or its provider; the gateway's keys have no notes. */
export function recordKeyUse(
  { byokKeys, clock }: Pick<GenerationDeps, "byokKeys" | "clock">,
  { key }: Candidate,
  classification: FailureClassification | null,
): void {
  if (key.byokId === null) return;
  const at = clock.now();
  // What is at fault with the request says nothing of the key.
  const isTrouble = classification !== null && classification.keyIs !== "accepted";
  const error = isTrouble ? { message: classification.failure.message, at } : null;
  byokKeys.recordUse({ id: key.byokId, usedAt: at, error });
}
