import type { Candidate } from "../routing/plan.ts";
import type { GenerationDeps } from "./call.ts";
import type { Judgement } from "./judge-failure.ts";

/** Notes that an account's own key was used, and what was wrong with it or its provider; the gateway's keys have no notes. */
export function noteKeyUse(
  { ownKeys, clock }: Pick<GenerationDeps, "ownKeys" | "clock">,
  { key }: Candidate,
  judgement: Judgement | null,
): void {
  if (key.ownId === null) return;
  const at = clock.now();
  // What is at fault with the request says nothing of the key.
  const isTrouble = judgement !== null && judgement.keyIs !== "accepted";
  const error = isTrouble ? { message: judgement.failure.message, at } : null;
  ownKeys.noteUse({ id: key.ownId, usedAt: at, error });
}
