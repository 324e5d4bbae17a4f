import { collectAnswer, replayAnswer } from "../../../wire/canonical/answer/collect-answer.ts";
import type { AnswerEvent } from "../../../wire/canonical/model/answer.ts";
import type { AnswerStage } from "./answer-stage.ts";
import { AnswerTexts } from "./answer-texts.ts";
import { findingOf, type GuardrailFinding, isBlocking } from "./describe-findings.ts";
import type { HookGuardrail } from "./guardrail.ts";
import { type HookSubject, type HookVerdict, MAX_HOOK_CHARS } from "./text-hook.ts";

const NOTHING: readonly AnswerEvent[] = [];
/** The maximum number of events that are held back, after pieces of texts were joined. */
const MAX_EVENTS = 50_000;
const UNAVAILABLE: HookVerdict = { kind: "unavailable" };

/** Asks a service about an answer once it is complete. Holds the answer back until then, or only observes it. */
export class HookStage implements AnswerStage {
  finding: GuardrailFinding | null = null;
  hasDropped = false;
  private events: AnswerEvent[] = [];
  private chars = 0;
  private isTooLarge = false;

  constructor(
    private readonly guardrail: HookGuardrail,
    private readonly about: HookSubject,
    /** The answer is sent while it is generated, and what is found is only recorded. */
    private readonly isObserver: boolean,
  ) {}

  get isBlocking(): boolean {
    return this.finding !== null && isBlocking(this.finding);
  }

  step(event: AnswerEvent): readonly AnswerEvent[] {
    if (this.isTooLarge) return [event];
    this.add(event);
    if (this.chars > MAX_HOOK_CHARS || this.events.length > MAX_EVENTS) return this.giveUp(event);
    return this.isObserver ? [event] : NOTHING;
  }

  async release(): Promise<readonly AnswerEvent[]> {
    if (this.isTooLarge) return NOTHING;
    const events = this.take();
    const answer = new AnswerTexts(collectAnswer(events));
    if (answer.texts.length === 0) return this.isObserver ? NOTHING : events;
    const { hook } = this.guardrail;
    const verdict = await hook.check({ on: "answer", texts: answer.texts, about: this.about });
    this.record(verdict);
    if (this.isObserver || this.isBlocking) return NOTHING;
    return verdict.kind === "mask" ? [...replayAnswer(answer.replace(verdict.texts))] : events;
  }

  /** Keeps an event. Pieces of one text are joined, because a long answer has many. */
  private add(event: AnswerEvent): void {
    const last = this.events.at(-1);
    if (event.kind === "part-delta" && "text" in event.delta) {
      this.chars += event.delta.text.length;
      const joined = joinTexts(last, event);
      if (joined !== null) {
        this.events[this.events.length - 1] = joined;
        return;
      }
    }
    this.events.push(event);
  }

  /** Gives an answer up that exceeds the bound: it ends, or continues without a check. */
  private giveUp(event: AnswerEvent): readonly AnswerEvent[] {
    this.isTooLarge = true;
    this.record(UNAVAILABLE);
    const events = this.take();
    if (this.isBlocking) return NOTHING;
    return this.isObserver ? [event] : events;
  }

  private take(): readonly AnswerEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }

  private record(verdict: HookVerdict): void {
    const finding = findingOf(this.guardrail, verdict);
    if (finding === null || !this.isObserver) this.finding = finding;
    // Events that were sent cannot be changed any more.
    else this.finding = { ...finding, action: verdict.kind === "unavailable" ? "unchecked" : "warn" };
    this.hasDropped ||= !this.isObserver && verdict.kind === "mask";
  }
}

type DeltaEvent = Extract<AnswerEvent, { readonly kind: "part-delta" }>;

/** Returns two consecutive pieces of one text as one piece; null if they belong to different texts. */
function joinTexts(last: AnswerEvent | undefined, next: DeltaEvent): DeltaEvent | null {
  if (last?.kind !== "part-delta" || last.choice !== next.choice || last.at !== next.at) return null;
  if (!("text" in last.delta) || !("text" in next.delta) || last.delta.kind !== next.delta.kind) return null;
  return { ...next, delta: { ...next.delta, text: last.delta.text + next.delta.text } };
}
