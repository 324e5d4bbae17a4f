import type { Failure } from "../../../base/errors.ts";
import type { AnswerEvent } from "../../../wire/canonical/answer.ts";
import type { AnswerFilter } from "../../../wire/canonical/filter-answer.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import { type AnswerGuardrail, AnswerStage } from "./answer-stage.ts";
import { describeAnswerBlock, type Found, warnOfAnswer } from "./describe-findings.ts";
import type { Masks } from "./masks.ts";

/** Checks one answer with guardrails in their order: each gets what the one before lets pass. */
export class AnswerChecks implements AnswerFilter {
  readonly release = null;
  block: Failure | null = null;
  private readonly stages: readonly AnswerStage[];

  constructor(guardrails: readonly AnswerGuardrail[], masks: Masks) {
    this.stages = guardrails.map((guardrail) => new AnswerStage(guardrail, masks));
  }

  step(event: AnswerEvent): readonly AnswerEvent[] {
    if (this.block !== null) return [];
    let events: readonly AnswerEvent[] = [event];
    for (const stage of this.stages) {
      events = events.flatMap((each) => (stage.isBlocking ? [] : stage.step(each)));
      if (stage.isBlocking) this.block ??= describeAnswerBlock(foundBy(stage));
    }
    return events;
  }

  /** Returns what each guardrail has found so far. */
  listFound(): readonly Found[] {
    return this.stages.filter(({ matches }) => matches > 0).map(foundBy);
  }

  listWarnings(): readonly Warning[] {
    const warnings = this.listFound().map(warnOfAnswer);
    return this.stages.some(({ hasDropped }) => hasDropped) ? [...warnings, NO_LOGPROBS] : warnings;
  }
}

const NO_LOGPROBS: Warning = {
  field: "logprobs",
  message:
    "Log probabilities are left out, because they repeat the text of the answer, which guardrails check.",
};

function foundBy({ guardrail, matches, kinds }: AnswerStage): Found {
  return { guardrail, matches, kinds: [...kinds] };
}
