import { listLearnable } from "../../../wire/client-apis/fit/learnable-parameters.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import type { ModelEndpoint } from "../../catalog/records/records.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import { refusalScopeOf, sightingAccountOf } from "../memory/learned-refusals.ts";
import type { AttemptOutcome } from "./attempt.ts";
import type { EncodedForCandidate, RefusedByFormat } from "./encode-for-candidate.ts";

/** The parameters of this request that an endpoint refused, with platform keys or with one BYOK key. */
interface RefusedHere {
  readonly format: ProviderFormat;
  readonly byokId: string | null;
  readonly parameters: ReadonlySet<string>;
  /** Whether the vendor accepted the request without them. */
  isConfirmed: boolean;
}

type FailedAttempt = Extract<AttemptOutcome, { kind: "failed" }>;

const NOTHING: ReadonlySet<string> = new Set();

/**
 * The parameters that are omitted from one request because vendors refused them, now or in earlier requests (docs/routing.md, "Refused
 * parameters").
 */
export class RequestRefusals {
  /** Null until something is refused. */
  private here: Map<ModelEndpoint, RefusedHere> | null = null;

  constructor(
    private readonly generation: { readonly deps: GenerationDeps; readonly call: GenerationCall },
  ) {}

  /** Returns the parameters to omit for a candidate, by format; null for none. */
  recall(candidate: Candidate): RefusedByFormat | null {
    const {
      routing: { learnedRefusals },
      clock,
    } = this.generation.deps;
    if (this.here === null && (learnedRefusals.isEmpty || !this.mayLeaveOut())) return null;
    return (format) => {
      const before = learnedRefusals.recall(refusalScopeOf(candidate, format), clock.now());
      const here = this.find(candidate, format)?.parameters ?? null;
      return here === null || before === null ? (here ?? before) : before.union(here);
    };
  }

  /**
   * Keeps the parameters that a vendor refused. Returns whether the request may be repeated without them. It may not after such a
   * repetition, nor for callers who require all of their parameters.
   */
  keep(candidate: Candidate, { refusedFields }: FailedAttempt, { format }: EncodedForCandidate): boolean {
    if (refusedFields.length === 0 || !this.mayLeaveOut()) return false;
    if (this.find(candidate, format) !== null) return false;
    const parameters = this.nameRefused(candidate, refusedFields, format);
    if (parameters.size === 0) return false;
    const { endpoint, key } = candidate;
    this.here ??= new Map();
    this.here.set(endpoint, { format, byokId: key.byokId, parameters, isConfirmed: false });
    return true;
  }

  /** Removes the refusal of a candidate whose request did not contain the refused parameters. */
  drop({ endpoint }: Candidate): void {
    this.here?.delete(endpoint);
  }

  /** Remembers the refused parameters for other requests, once the vendor has accepted the request without them. */
  learn(candidate: Candidate, { format }: EncodedForCandidate, outcome: AttemptOutcome): void {
    const refused = this.find(candidate, format);
    if (refused === null || refused.isConfirmed || outcome.kind === "client_left") return;
    if (outcome.kind === "failed") {
      const next = this.nameRefused(candidate, outcome.refusedFields, format);
      if (next.size === 0 || !next.isDisjointFrom(refused.parameters)) return;
    }
    refused.isConfirmed = true;
    const { deps, call } = this.generation;
    deps.routing.learnedRefusals.record({
      scope: refusalScopeOf(candidate, format),
      parameters: refused.parameters,
      accountId: sightingAccountOf(call.principal),
      at: deps.clock.now(),
    });
  }

  private find({ endpoint, key }: Candidate, format: ProviderFormat): RefusedHere | null {
    const refused = this.here?.get(endpoint);
    return refused?.format === format && refused.byokId === key.byokId ? refused : null;
  }

  private mayLeaveOut(): boolean {
    const { deps, call } = this.generation;
    return deps.settings.learnsRefusals && !call.request.preferences.requireParameters;
  }

  /** Returns the chat API's names of the refused parameters. Parameters that may not be omitted are skipped. */
  private nameRefused(
    candidate: Candidate,
    refusedFields: readonly string[],
    format: ProviderFormat,
  ): ReadonlySet<string> {
    const target = candidate.served
      .usableTargets(candidate.key, this.generation.call.request)
      .find((one) => one.format === format);
    return target === undefined ? NOTHING : listLearnable(refusedFields, target);
  }
}
