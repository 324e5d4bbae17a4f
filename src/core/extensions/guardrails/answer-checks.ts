import { type Failure, failureOf } from "../../../base/failures/errors.ts";
import type { AnswerFilter } from "../../../wire/canonical/answer/filter-answer.ts";
import type { AnswerEvent } from "../../../wire/canonical/model/answer.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import type { AnswerStage } from "./answer-stage.ts";
import { describeAnswerBlock, type GuardrailFinding, warnOf } from "./describe-findings.ts";

/** Checks one answer with several guardrails in order. Each one gets what the previous one lets through. */
export class AnswerChecks implements AnswerFilter {
  readonly release: AnswerFilter["release"];
  block: Failure | null = null;

  constructor(private readonly stages: readonly AnswerStage[]) {
    const holdsBack = stages.some((stage) => stage.release !== undefined);
    this.release = holdsBack ? () => this.releaseAll().catch((error) => this.fail(error)) : null;
  }

  step(event: AnswerEvent): readonly AnswerEvent[] {
    return this.pass([event], 0);
  }

  /** Returns what each guardrail has found so far. */
  listFindings(): readonly GuardrailFinding[] {
    return this.stages.flatMap(({ finding }) => finding ?? []);
  }

  listWarnings(): readonly Warning[] {
    const warnings = this.listFindings().map((finding) => warnOf(finding, "answer"));
    return this.stages.some(({ hasDropped }) => hasDropped) ? [...warnings, NO_LOGPROBS] : warnings;
  }

  /** Passes events through the stages from an index on. */
  private pass(first: readonly AnswerEvent[], from: number): readonly AnswerEvent[] {
    if (this.block !== null) return [];
    let events = first;
    for (let at = from; at < this.stages.length; at++) {
      const stage = this.stages[at] as AnswerStage;
      events = events.flatMap((event) => (stage.isBlocking ? [] : stage.step(event)));
      this.checkBlock(stage);
    }
    return events;
  }

  private async releaseAll(): Promise<readonly AnswerEvent[]> {
    const out: AnswerEvent[] = [];
    for (const [at, stage] of this.stages.entries()) {
      if (stage.release === undefined || this.block !== null) continue;
      const events = await stage.release();
      this.checkBlock(stage);
      for (const event of this.pass(events, at + 1)) out.push(event);
    }
    return out;
  }

  private checkBlock({ isBlocking, finding }: AnswerStage): void {
    if (isBlocking && finding !== null) this.block ??= describeAnswerBlock(finding);
  }

  /** Ends the answer after a fault of the gateway, because unchecked text must not pass. */
  private fail(error: unknown): readonly AnswerEvent[] {
    this.block ??= failureOf(error);
    return [];
  }
}

const NO_LOGPROBS: Warning = {
  field: "logprobs",
  message:
    "Log probabilities are left out, because they repeat the text of the answer, and guardrails check that text.",
};
