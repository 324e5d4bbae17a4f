import type { AnswerEvent } from "../../../wire/canonical/model/answer.ts";
import type { GuardrailFinding } from "./describe-findings.ts";

/** One guardrail at work on the events of an answer. */
export interface AnswerStage {
  /** Returns the events to send instead of an event. Not called once the stage blocks. */
  step(event: AnswerEvent): readonly AnswerEvent[];
  /** Resolves to the events that were held back until the answer is complete. Absent if none are held back. Never rejects. */
  release?(): Promise<readonly AnswerEvent[]>;
  /** What was found so far; null for nothing. */
  readonly finding: GuardrailFinding | null;
  /** Whether the rest of the answer must not be sent. */
  readonly isBlocking: boolean;
  /** Whether log probabilities were left out: they repeat texts in a form that is not checked. */
  readonly hasDropped: boolean;
}
