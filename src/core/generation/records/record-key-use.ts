import type { Candidate } from "../../routing/plan/plan.ts";
import type { GenerationDeps } from "../call/call.ts";
import type { FailureClassification } from "../failures/failure-classification.ts";

/** Records the last use of a BYOK key, and the failure of the key or its provider. No-op for platform keys. */
export function recordKeyUse(
  { accounts: { byokKeys }, clock }: Pick<GenerationDeps, "accounts" | "clock">,
  { key }: Candidate,
  classification: FailureClassification | null,
): void {
  if (key.byokId === null) return;
  const at = clock.now();
  // A fault of the request says nothing about the key.
  const hasFailed = classification !== null && classification.keyIs !== "accepted";
  const error = hasFailed ? { message: classification.failure.message, at } : null;
  byokKeys.recordUse({ id: key.byokId, usedAt: at, error });
}
