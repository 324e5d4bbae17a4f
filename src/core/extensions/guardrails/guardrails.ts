import type { Failure } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { nextTurn } from "../../../base/next-turn.ts";
import { readRequestTexts } from "../../../wire/client-apis/body-texts.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import type {
  AdmittedGeneration,
  Extension,
  ExtensionPoints,
  GateDecision,
  GatedRequest,
} from "../../generation/extension.ts";
import { checkTexts, type Finding } from "./check-texts.ts";
import { type Guardrail, type GuardrailAction, isInScope } from "./guardrail.ts";
import { Masks } from "./masks.ts";

/** What guardrails work with. */
export interface GuardrailsDeps {
  readonly log: Pick<Log, "info">;
  /** Called for each request that a guardrail matches. */
  readonly onMatch: (name: string, action: GuardrailAction) => void;
}

/** Checks the texts of requests before a provider is chosen (docs/guardrails.md). Requests that no guardrail applies to take no part. */
export class Guardrails implements Extension {
  readonly name = "guardrails";
  /** In the order in which they are applied. */
  private guardrails: readonly Guardrail[] = [];

  constructor(private readonly deps: GuardrailsDeps) {}

  get checksTexts(): boolean {
    return this.guardrails.some(({ action }) => action !== "warn");
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
    return { beforeRoute: (request) => this.check(applied, generation, request) };
  }

  private async check(
    guardrails: readonly Guardrail[],
    { id, call }: AdmittedGeneration,
    { readAppliedBody }: GatedRequest,
  ): Promise<GateDecision> {
    const body = readRequestTexts(call.request.api, readAppliedBody());
    const checked = await checkTexts(guardrails, body.texts, { masks: new Masks(), pause: nextTurn });
    const { findings, masked } = checked;
    for (const finding of findings) this.report(id, finding);
    const warnings = findings.map(warnOf);
    const last = findings.at(-1);
    if (last?.guardrail.action === "block") return { kind: "reject", failure: describeBlock(last), warnings };
    return masked.size === 0
      ? { kind: "continue", warnings }
      : { kind: "continue", warnings, body: body.replace(masked) };
  }

  private report(generationId: string, { guardrail: { name, action }, texts, kinds }: Finding): void {
    this.deps.onMatch(name, action);
    this.deps.log.info("a guardrail matched", {
      generation_id: generationId,
      guardrail: name,
      action,
      texts,
      kinds,
    });
  }
}

function warnOf({ guardrail: { name, action }, texts, kinds }: Finding): Warning {
  const what = kinds.join(", ");
  return { field: `guardrail:${name}`, message: `${SENTENCES[action](name, texts)} (${what}).` };
}

const SENTENCES: Readonly<Record<GuardrailAction, (name: string, texts: number) => string>> = {
  block: (name) => `The guardrail "${name}" blocked the request`,
  mask: (name, texts) => `The guardrail "${name}" masked parts of ${countTexts(texts)} of the request`,
  warn: (name, texts) => `The guardrail "${name}" matches ${countTexts(texts)} of the request`,
};

function countTexts(texts: number): string {
  return texts === 1 ? "one text" : `${texts} texts`;
}

function describeBlock({ guardrail: { name }, kinds }: Finding): Failure {
  return {
    code: "content_blocked",
    message: `The guardrail "${name}" of this gateway does not allow a text of the request (${kinds.join(", ")}). Remove it and send the request again.`,
    metadata: { guardrail: name, kinds },
  };
}
