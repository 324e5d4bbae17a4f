import type { AnswerFilter } from "../../../wire/canonical/answer/filter-answer.ts";
import type { RelayIdentity } from "../../../wire/canonical/answer/relay.ts";
import { windowOf } from "../../catalog/records/endpoint-limits.ts";
import { healthTargetOf } from "../../routing/health/health-target.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import { listedWindow } from "../../routing/plan/window.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import type { Cancellation } from "../call/cancellation.ts";
import type { AttachedExtensions } from "../call/extension.ts";
import type { Lifetime } from "../call/lifetime.ts";
import type { PromptSize } from "../failures/classify-vendor-error.ts";
import type { AttemptContext } from "./attempt.ts";
import type { EncodedForCandidate } from "./encode-for-candidate.ts";
import { findMaxSilence } from "./find-max-silence.ts";
import type { RequestTurns } from "./request-turns.ts";

/** The generation that makes an attempt. */
interface AttemptingGeneration {
  readonly id: string;
  readonly deps: GenerationDeps;
  readonly call: GenerationCall;
  readonly lifetime: Pick<Lifetime, "cancellation">;
  readonly record: { readonly open: { readonly createdAt: number } };
  readonly extensions: Pick<AttachedExtensions, "filterAnswer">;
}

/** Which candidates may still follow. */
interface FollowingCandidates {
  readonly hasNext: boolean;
  /** Whether one of them is at another endpoint, for an answer that is not streamed. */
  readonly hasOther: boolean;
}

/**
 * The context of one attempt of a generation. Values that only failures and tool calls need are created on demand, because most answers
 * need none.
 */
export class CandidateAttempt implements AttemptContext {
  readonly identity: RelayIdentity;
  readonly deps: GenerationDeps;
  readonly call: GenerationCall;
  readonly cancellation: Cancellation;

  constructor(
    generation: AttemptingGeneration,
    readonly candidate: Candidate,
    readonly encoded: EncodedForCandidate,
    turns: RequestTurns,
    private readonly next: FollowingCandidates,
  ) {
    this.deps = generation.deps;
    this.call = generation.call;
    this.cancellation = generation.lifetime.cancellation;
    this.identity = new AttemptIdentity(generation, candidate, encoded.repair?.originalIds, turns);
  }

  get size(): PromptSize {
    return new CandidateSize(this.deps, this.candidate);
  }

  get silentMs(): number | null {
    const { deps, call, candidate } = this;
    return this.next.hasOther
      ? findMaxSilence(call.request, candidate, deps.settings.timers.firstTokenMs)
      : null;
  }

  get isFailing(): AttemptContext["isFailing"] {
    if (!this.next.hasNext) return null;
    const {
      routing: { health },
      clock,
    } = this.deps;
    const { provider, model } = healthTargetOf(this.candidate);
    return () => health.endpoint(provider, model, clock.now()).state !== "closed";
  }
}

/** The identity of an answer. It must not reference the request's body, which it outlives. */
class AttemptIdentity implements RelayIdentity {
  readonly id: string;
  readonly model: string;
  readonly created: number;
  readonly originalIds: RelayIdentity["originalIds"];
  readonly filter: AnswerFilter | null;
  private readonly deps: GenerationDeps;

  constructor(
    { id, deps, record, extensions }: AttemptingGeneration,
    candidate: Candidate,
    originalIds: ReadonlyMap<string, string> | undefined,
    private readonly turns: RequestTurns,
  ) {
    this.id = id;
    this.deps = deps;
    this.model = candidate.model.id;
    this.created = Math.floor(record.open.createdAt / 1000);
    this.originalIds = originalIds?.size ? originalIds : null;
    this.filter = extensions.filterAnswer();
  }

  get makeCallId(): RelayIdentity["makeCallId"] {
    const { ids } = this.deps;
    return () => ids.next("call");
  }

  get remembersTurns(): boolean {
    return this.turns.remembers;
  }

  get onTurn(): RelayIdentity["onTurn"] {
    const { turns } = this;
    return (turn) => turns.remember(turn);
  }
}

class CandidateSize implements PromptSize {
  constructor(
    private readonly deps: GenerationDeps,
    private readonly candidate: Candidate,
  ) {}

  get promptLimit(): number {
    return windowOf(this.candidate.endpoint);
  }

  /** A BYOK key may serve deployments that platform keys do not serve, and that model lists omit. */
  listedWindow(): number {
    const { deps, candidate } = this;
    return listedWindow([candidate, ...deps.serving().servedModels.deploymentsOf(candidate.model.id)]);
  }
}
