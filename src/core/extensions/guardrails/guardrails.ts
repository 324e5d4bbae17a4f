import type { Log } from "../../../base/failures/log.ts";
import { nextTurn } from "../../../base/time/next-turn.ts";
import { readRequestTexts } from "../../../wire/client-apis/texts/body-texts.ts";
import type {
  AdmittedGeneration,
  Extension,
  ExtensionPoints,
  GateDecision,
  GatedRequest,
} from "../../generation/call/extension.ts";
import { AnswerChecks } from "./answer-checks.ts";
import { checkTexts } from "./check-texts.ts";
import {
  describeRequestBlock,
  type GuardrailFinding,
  isBlocking,
  isMatch,
  warnOf,
} from "./describe-findings.ts";
import { type Guardrail, type GuardrailAction, isInScope, mayInterfere } from "./guardrail.ts";
import { HookStage } from "./hook-stage.ts";
import { Masks } from "./masks.ts";
import { type AnswerGuardrail, SearchStage } from "./search-stage.ts";
import type { HookSubject } from "./text-hook.ts";

/** The dependencies of guardrails. */
interface GuardrailsDeps {
  readonly log: Pick<Log, "info">;
  /** Called for each request and each answer that a guardrail matches. */
  readonly onMatch: (match: GuardrailMatch) => void;
}

/** That a guardrail has matched a request or its answer. */
export interface GuardrailMatch {
  readonly name: string;
  readonly action: GuardrailAction;
  readonly on: "request" | "answer";
}

/**
 * Checks the texts of requests before a provider is chosen, and those of answers before the client gets them (docs/guardrails.md). Takes no
 * part in requests to which no guardrail applies.
 */
export class Guardrails implements Extension {
  readonly name = "guardrails";
  /** In the order in which they are applied. */
  private guardrails: readonly Guardrail[] = [];

  constructor(private readonly deps: GuardrailsDeps) {}

  get checksTexts(): boolean {
    return this.guardrails.some((guardrail) => guardrail.on !== "answer" && mayInterfere(guardrail));
  }

  /** Replaces all guardrails. Requests in progress keep those with which they began. */
  replace(guardrails: readonly Guardrail[]): void {
    this.guardrails = guardrails;
  }

  attach(generation: AdmittedGeneration): ExtensionPoints | null {
    return this.guardrails.length === 0 ? null : this.attachInScope(generation);
  }

  private attachInScope(generation: AdmittedGeneration): ExtensionPoints | null {
    const { call } = generation;
    const listModels = () => generation.listModels();
    const applied = this.guardrails.filter(({ scope }) => isInScope(scope, call.principal, listModels));
    if (applied.length === 0) return null;
    const checked: Checked = { masks: new Masks(), about: subjectOf(generation), generation };
    const ofRequests = applied.filter(({ on }) => on !== "answer");
    const ofAnswers = hasReadableAnswer(call.request) ? applied.filter(checksAnswers) : [];
    return {
      ...(ofRequests.length > 0 && {
        beforeRoute: (request: GatedRequest) => this.checkRequest(ofRequests, checked, request),
      }),
      ...(ofAnswers.length > 0 && this.checkAnswers(ofAnswers, checked)),
    };
  }

  private async checkRequest(
    guardrails: readonly Guardrail[],
    { masks, about, generation: { call } }: Checked,
    { readAppliedBody }: GatedRequest,
  ): Promise<GateDecision> {
    const body = readRequestTexts(call.request.api, readAppliedBody(), call.headers.get("content-type"));
    const checking = checkTexts(guardrails, body.texts, { masks, about, pause: nextTurn });
    const asksService = guardrails.some(({ kind }) => kind === "hook");
    const { findings, masked } = await (asksService ? call.stopwatch.wait(checking) : checking);
    this.report(about.generationId, "request", findings);
    const warnings = findings.map((finding) => warnOf(finding, "request"));
    const last = findings.at(-1);
    if (last !== undefined && isBlocking(last))
      return { kind: "reject", failure: describeRequestBlock(last), warnings };
    return masked.size === 0
      ? { kind: "continue", warnings }
      : { kind: "continue", warnings, body: body.replace(masked) };
  }

  /** Every attempt has its own filter. The findings of the last one are reported. */
  private checkAnswers(
    guardrails: readonly AnsweringGuardrail[],
    { masks, about, generation }: Checked,
  ): Pick<ExtensionPoints, "filterAnswer" | "onSettled"> {
    const { stream } = generation.call.request;
    let last: AnswerChecks | null = null;
    return {
      filterAnswer() {
        const stages = guardrails.map((guardrail) =>
          guardrail.kind === "hook"
            ? new HookStage(guardrail, about, stream && guardrail.stream === "observe")
            : new SearchStage(guardrail, masks),
        );
        last = new AnswerChecks(stages);
        return last;
      },
      onSettled: () => this.report(about.generationId, "answer", last?.listFindings() ?? []),
    };
  }

  private report(
    generationId: string,
    on: GuardrailMatch["on"],
    findings: readonly GuardrailFinding[],
  ): void {
    for (const { name, action, count, kinds } of findings.filter(isMatch)) {
      this.deps.onMatch({ name, action, on });
      this.deps.log.info("a guardrail matched", {
        generation_id: generationId,
        guardrail: name,
        action,
        on,
        [on === "request" ? "texts" : "matches"]: count,
        kinds,
      });
    }
  }
}

/** A generation whose texts are checked. */
interface Checked {
  readonly masks: Masks;
  readonly about: HookSubject;
  readonly generation: AdmittedGeneration;
}

/** A guardrail that checks answers. */
type AnsweringGuardrail = AnswerGuardrail | Extract<Guardrail, { kind: "hook" }>;

function checksAnswers(guardrail: Guardrail): guardrail is AnsweringGuardrail {
  return guardrail.on !== "request" && (guardrail.kind === "hook" || guardrail.beginSearch !== null);
}

function subjectOf({ id, call: { principal, request } }: AdmittedGeneration): HookSubject {
  const isAnonymous = principal.kind === "anonymous";
  return {
    generationId: id,
    api: request.api,
    model: request.model,
    accountId: isAnonymous ? null : principal.account.id,
    keyId: isAnonymous ? null : principal.key.id,
  };
}

/** Whether an answer has texts: vectors and speech have none. */
function hasReadableAnswer({ action }: AdmittedGeneration["call"]["request"]): boolean {
  return action !== "embeddings" && action !== "speech";
}
