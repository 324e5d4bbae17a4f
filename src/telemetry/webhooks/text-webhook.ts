import type { Log } from "../../base/failures/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import {
  type HookQuestion,
  type HookVerdict,
  MAX_HOOK_CHARS,
  type TextHook,
} from "../../core/extensions/guardrails/text-hook.ts";
import { type HookTarget, postQuestion } from "./post-question.ts";
import type { HookReply } from "./read-verdict.ts";

/** The configuration of a service that checks texts. */
export interface TextWebhookConfig extends HookTarget {
  /** The name of the guardrail. */
  readonly name: string;
  /** The maximum number of concurrent calls. Further ones fail immediately. */
  readonly concurrent: number;
}

/** The dependencies of a webhook. */
export interface TextWebhookDeps {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Pick<Log, "warn">;
  /** Called for each question with its verdict. */
  readonly onVerdict: (name: string, verdict: HookVerdict["kind"]) => void;
}

/** After this many consecutive failures the service is not called for a while, so that requests do not all wait for their timeout. */
const FAILURES_TO_OPEN = 5;
/** How long it is not asked. Then one question tries it. Milliseconds. */
const OPEN_MS = 10_000;

/** Sends texts to a service of the operator over HTTP (docs/guardrails.md, "Webhook"). */
export class TextWebhook implements TextHook {
  private asking = 0;
  private failures = 0;
  /** Until when the service is not asked. Milliseconds since the epoch. */
  private openUntil = 0;

  constructor(
    private readonly config: TextWebhookConfig,
    private readonly deps: TextWebhookDeps,
  ) {}

  async check(question: HookQuestion): Promise<HookVerdict> {
    const reply = this.rejects(question) ?? (await this.ask(question));
    const verdict: HookVerdict = reply.kind === "failed" ? { kind: "unavailable" } : reply;
    if (reply.kind === "failed")
      this.deps.log.warn("a guardrail's webhook could not check texts", {
        generation_id: question.about.generationId,
        guardrail: this.config.name,
        on: question.on,
        detail: reply.detail,
      });
    this.deps.onVerdict(this.config.name, verdict.kind);
    return verdict;
  }

  /** Returns why a question is not sent; null if it is. */
  private rejects({ texts }: HookQuestion): HookReply | null {
    const chars = texts.reduce((sum, text) => sum + text.length, 0);
    if (chars > MAX_HOOK_CHARS) return failed(`the texts have more than ${MAX_HOOK_CHARS} characters`);
    if (this.asking >= this.config.concurrent)
      return failed(`${this.config.concurrent} questions are being answered`);
    if (this.deps.clock.now() < this.openUntil) return failed("too many consecutive questions have failed");
    return null;
  }

  private async ask(question: HookQuestion): Promise<HookReply> {
    const { config, deps } = this;
    this.asking += 1;
    // While a question tries a service that has failed, others are not sent.
    if (this.failures >= FAILURES_TO_OPEN) this.openUntil = deps.clock.now() + OPEN_MS;
    const reply = await postQuestion(config, { name: config.name, question }, deps.clock);
    this.asking -= 1;
    this.failures = reply.kind === "failed" ? this.failures + 1 : 0;
    this.openUntil = this.failures >= FAILURES_TO_OPEN ? deps.clock.now() + OPEN_MS : 0;
    return reply;
  }
}

function failed(detail: string): HookReply {
  return { kind: "failed", detail };
}
