import type { Failure } from "../../../base/failures/errors.ts";
import { freeLimitFailure, withFreeLimit } from "../../limits/free-limit.ts";
import type { LimitVerdict, RateLimitStatus } from "../../limits/rate-limiter.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import { countsAsFree } from "./free-models.ts";
import { countFallback, type TakenLimits } from "./take-limits.ts";

/** A request that was counted for limits. */
interface CountedRequest {
  readonly call: Pick<GenerationCall, "principal" | "shadowOf">;
  /** The part of its record that says whether it was counted for the limit on free models. */
  readonly record: { usesFreeModel?: boolean | undefined };
}

/** The limits that a request was counted for. Some of them depend on the candidate that it is sent to. */
export class RequestLimits {
  /** The status of the caller's limits after this request; null if it has none. */
  status: RateLimitStatus | null;
  /** The account's limit on free models before this request; null if the request names none, or if it is not limited. */
  readonly free: LimitVerdict | null;
  /** Models whose own limits are used up; null for none. */
  readonly limitedModels: ReadonlyMap<string, number> | null;

  constructor(
    private readonly deps: Pick<GenerationDeps, "rateLimiter" | "clock" | "settings">,
    private readonly counted: CountedRequest,
    taken: TakenLimits,
    /** The model whose limit the request was last counted for. */
    private countedModel: string,
  ) {
    this.status = taken.limitStatus;
    this.free = taken.freeLimit;
    this.limitedModels = taken.limited ?? null;
  }

  /**
   * Counts the request before it is sent to a candidate: for the limit of a fallback model and, once, for the account's limit on free
   * models. Returns the failure if a limit is used up; otherwise null.
   */
  async count(candidate: Candidate): Promise<Failure | null> {
    const { call, record } = this.counted;
    const { id } = candidate.model;
    if (this.countedModel !== id && call.shadowOf === undefined) {
      this.countedModel = id;
      const failure = await countFallback(this.deps, call.principal, id);
      if (failure !== null) return failure;
    }
    return record.usesFreeModel || !countsAsFree(candidate) ? null : this.countFree();
  }

  private async countFree(): Promise<Failure | null> {
    const { call, record } = this.counted;
    const verdict = await this.deps.settings.freeLimit.admit(call.principal, this.deps.clock.now());
    if (verdict === null) return null;
    const failure = verdict.allowed ? null : freeLimitFailure(verdict, this.status);
    if (verdict.allowed) record.usesFreeModel = true;
    this.status = withFreeLimit(this.status, verdict);
    return failure;
  }
}
