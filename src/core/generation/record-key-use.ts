import type { Candidate } from "../routing/plan.ts";
import type { GenerationDeps } from "./call.ts";
import type { FailureClassification } from "./classify-failure.ts";

/** Records the last use of a BYOK key, and what was wrong with it or its provider. No-op for platform keys. */
export function recordKeyUse(
  { byokKeys, clock }: Pick<GenerationDeps, "byokKeys" | "clock">,
  { key }: Candidate,
  classification: FailureClassification | null,
): void {
  if (key.byokId === null) return;
  const at = clock.now();
  // A fault of the request says nothing about the key.
  const isTrouble = classification !== null && classification.keyIs !== "accepted";
  const error = isTrouble ? { message: classification.failure.message, at } : null;
  byokKeys.recordUse({ id: key.byokId, usedAt: at, error });
}
