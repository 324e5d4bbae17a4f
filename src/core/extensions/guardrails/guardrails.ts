import type { Log } from "../../../base/log.ts";
import { nextTurn } from "../../../base/next-turn.ts";
import { readRequestTexts } from "../../../wire/client-apis/body-texts.ts";
import type {
  AdmittedGeneration,
  Extension,
  ExtensionPoints,
  GateDecision,
  GatedRequest,
} from "../../generation/extension.ts";
import { AnswerChecks } from "./answer-checks.ts";
import type { AnswerGuardrail } from "./answer-stage.ts";
import { checkTexts } from "./check-texts.ts";
import { describeRequestBlock, warnOfRequest } from "./describe-findings.ts";
import { type Guardrail, type GuardrailAction, isInScope } from "./guardrail.ts";
import { Masks } from "./masks.ts";

/** What guardrails work with. */
export interface GuardrailsDeps {
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
 * Checks the texts of requests before a provider is chosen, and those of answers before the client gets them (docs/guardrails.md).
 * Requests that no guardrail applies to take no part.
 */
export class Guardrails implements Extension {
  readonly name = "guardrails";
  /** In the order in which they are applied. */
  private guardrails: readonly Guardrail[] = [];

  constructor(private readonly deps: GuardrailsDeps) {}

  get checksTexts(): boolean {
    return this.guardrails.some(({ action, on }) => action !== "warn" && on !== "answer");
  }

  /** Replaces all guardrails. Requests in progress end with those that they began with. */
  replace(guardrails: readonly Guardrail[]): void {
    this.guardrails = guardrails;
  }

  attach(generation: AdmittedGeneration): ExtensionPoints | null {
    if (this.guardrails.length === 0) return null;
    const { call, listModels } = generation;
    const applied = this.guardrails.filter(({ scope }) => isInScope(scope, call.principal, listModels));
    if (applied.length === 0) return null;
    const masks = new Masks();
    const ofRequests = applied.filter(({ on }) => on !== "answer");
    const ofAnswers = call.request.action === "embeddings" ? [] : applied.filter(checksAnswers);
    return {
      ...(ofRequests.length > 0 && {
        beforeRoute: (request: GatedRequest) => this.checkRequest(ofRequests, masks, { generation, request }),
      }),
      ...(ofAnswers.length > 0 && this.checkAnswers(ofAnswers, masks, generation.id)),
    };
  }

  private async checkRequest(
    guardrails: readonly Guardrail[],
    masks: Masks,
    { generation, request }: { readonly generation: AdmittedGeneration; readonly request: GatedRequest },
  ): Promise<GateDecision> {
    const body = readRequestTexts(generation.call.request.api, request.readAppliedBody());
    const { findings, masked } = await checkTexts(guardrails, body.texts, { masks, pause: nextTurn });
    for (const { guardrail, texts, kinds } of findings)
      this.report(generation.id, { ...guardrail, on: "request" }, { texts, kinds });
    const warnings = findings.map(warnOfRequest);
    const last = findings.at(-1);
    if (last?.guardrail.action === "block")
      return { kind: "reject", failure: describeRequestBlock(last), warnings };
    return masked.size === 0
      ? { kind: "continue", warnings }
      : { kind: "continue", warnings, body: body.replace(masked) };
  }

  /** Every attempt has a filter of its own; what the last one has found is reported. */
  private checkAnswers(
    guardrails: readonly AnswerGuardrail[],
    masks: Masks,
    generationId: string,
  ): Pick<ExtensionPoints, "filterAnswer" | "onSettled"> {
    let last: AnswerChecks | null = null;
    return {
      filterAnswer() {
        last = new AnswerChecks(guardrails, masks);
        return last;
      },
      onSettled: () => {
        for (const { guardrail, matches, kinds } of last?.listFound() ?? [])
          this.report(generationId, { ...guardrail, on: "answer" }, { matches, kinds });
      },
    };
  }

  private report(
    generationId: string,
    { name, action, on }: GuardrailMatch,
    found: Readonly<Record<string, unknown>>,
  ): void {
    this.deps.onMatch({ name, action, on });
    this.deps.log.info("a guardrail matched", {
      generation_id: generationId,
      guardrail: name,
      action,
      on,
      ...found,
    });
  }
}

function checksAnswers(guardrail: Guardrail): guardrail is AnswerGuardrail {
  return guardrail.on !== "request" && guardrail.beginSearch !== null;
}
