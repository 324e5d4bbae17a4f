import { type Failure, failureOf, GatewayError } from "../../base/failures/errors.ts";
import type { Warning } from "../../wire/conversation/warning.ts";
import type { Candidate } from "../routing/plan/plan.ts";
import { admit } from "./admit/admit.ts";
import { type TakenLimits, takeLimits } from "./admit/take-limits.ts";
import type { GenerationCall, GenerationDeps, GenerationResult } from "./call/call.ts";
import type { GatedRequest, JointDecision } from "./call/extension.ts";
import { Generation } from "./generation.ts";
import { giveReplacement } from "./give-answer.ts";
import { type HoldOrder, takeHold } from "./hold/take-hold.ts";
import type { Admission, AdmittedRequest } from "./prepare/admission.ts";
import { prepare } from "./prepare/prepare.ts";
import { classifyFreeLimit, classifyNoCandidates } from "./route/classify-no-candidates.ts";
import { type Route, routeRequest } from "./route/route-request.ts";
import { CandidateLoop } from "./try-candidates.ts";

/**
 * Answers a request: admit, plan, hold, attempt, relay, settle. Resolves when the first byte for the client is available. Rejects with a
 * `GatewayError` if the request is not admitted; later failures are part of the result.
 */
export async function generate(deps: GenerationDeps, call: GenerationCall): Promise<GenerationResult> {
  const requestedAt = deps.clock.now();
  const admission = admit(deps, call, await prepare(deps, call));
  const request = { id: deps.ids.next("gen"), admission, requestedAt };
  const generation = begin(deps, call, request, await takeLimits(deps, call, request));
  // An error before the first attempt rejects the request, and no record is written.
  let loop: CandidateLoop | null = null;
  try {
    const ended = generation.extensions.hasGate ? await passGates(generation) : null;
    if (ended !== null) return ended;
    const route = plan(generation, admission);
    const candidates = await holdOrFree(generation, route, admission);
    if (candidates.length === 0) return generation.fail(classifyNoCandidates(route, admission.requestedId));
    loop = new CandidateLoop(generation, candidates, admission);
    return (await loop.tryFirst()) ?? (await loop.tryOthers());
  } catch (error) {
    if (loop !== null) return generation.fail(failureOf(error));
    generation.abandon();
    throw error;
  }
}

/** Begins the generation of a request that was counted against its limits. */
function begin(
  deps: GenerationDeps,
  call: GenerationCall,
  admitted: AdmittedRequest,
  limits: TakenLimits,
): Generation {
  try {
    return new Generation(deps, call, admitted, limits);
  } catch (error) {
    deps.rateLimiter.cancel(admitted.id);
    throw error;
  }
}

/** Asks the gates of extensions. Returns the result if one of them ends the generation; null if it continues. */
async function passGates(generation: Generation): Promise<GenerationResult | null> {
  const { extensions, lifetime } = generation;
  const { cancellation } = lifetime;
  cancellation.endPhase();
  let decision: JointDecision | null;
  try {
    decision = await cancellation.until(extensions.beforeRoute(gatedRequest(generation.call)));
  } catch (error) {
    return generation.fail(failureOf(error));
  }
  if (decision === null) return generation.endIfCancelled(null);
  generation.record.warn(decision.warnings);
  switch (decision.kind) {
    case "reject":
      return generation.fail(decision.failure);
    case "replace":
      return giveReplacement(generation, decision);
    case "continue":
      generation.setHeaders(decision.headers);
      return decision.body === null ? null : replaceBody(generation, decision.body);
  }
}

function gatedRequest(call: GenerationCall): GatedRequest {
  return { readBody: () => call.readBody(), readAppliedBody: () => call.preset?.body ?? call.readBody() };
}

/** Continues with another body of the request. Returns the failure if there is no memory for it; otherwise null. */
function replaceBody(generation: Generation, body: Buffer): GenerationResult | null {
  const { call } = generation;
  try {
    const changed = call.withBody(body);
    // The client's body and what was read from it are held until the end as well.
    if (!call.memory.take(body.length + changed.request.memory.heldBytes)) return generation.fail(NO_MEMORY);
    generation.continueWith(changed);
    return null;
  } catch (error) {
    return generation.fail(failureOf(error));
  }
}

const NO_MEMORY: Failure = {
  code: "unavailable",
  message: "The gateway has no memory left for a changed copy of this request. Try again later.",
  retryAfterS: 5,
};

/** @throws GatewayError `rate_limit_exceeded` if only free models could answer, and the account has used them up. */
function plan(generation: Generation, { deployments, filteredOut }: Admission): Route {
  const { deps, call, limits } = generation;
  const { free: freeLimit, limitedModels } = limits;
  const route = routeRequest(deps, call, { deployments, freeLimit, limitedModels });
  const overLimit = classifyFreeLimit(route, limits.status);
  if (overLimit !== null) throw new GatewayError(overLimit);
  generation.plan(route, filteredOut);
  return route;
}

/**
 * Holds the money that the candidates may cost, and returns the candidates that the hold covers. If the balance covers none of them,
 * returns the free ones. Free models may be at providers that store requests; a warning in the answer then says so. Rejects with a
 * GatewayError `insufficient_credits`.
 */
async function holdOrFree(
  generation: Generation,
  route: Route,
  admission: Admission,
): Promise<readonly Candidate[]> {
  const { reserve = [], filteredOut } = admission;
  const { deps, call } = generation;
  try {
    return generation.setAllowance(await takeHold(deps, call, orderOf(generation, route, admission)));
  } catch (error) {
    const { free: freeLimit, limitedModels } = generation.limits;
    const other = routeRequest(deps, call, { deployments: reserve, freeLimit, limitedModels });
    if (!isLackOfCredits(error) || other.candidates.length === 0) throw error;
    const held = await takeHold(deps, call, orderOf(generation, other, admission));
    generation.plan(other, filteredOut);
    generation.record.warn([FREE_INSTEAD]);
    return generation.setAllowance(held);
  }
}

function orderOf(
  { deps, record }: Generation,
  { candidates }: Route,
  { serving: { catalog } }: Admission,
): HoldOrder {
  return { record: record.open, candidates: withinReach(candidates, deps.settings.maxAttempts), catalog };
}

/** Whether a request was rejected because of the account's balance, and not because of a spending limit. */
function isLackOfCredits(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false;
  const { code, metadata } = error.failure;
  return code === "insufficient_credits" && metadata?.["limit_source"] === "account";
}

const FREE_INSTEAD: Warning = {
  field: "model",
  message:
    "The balance does not cover a paid model, so a free model answers. Its provider may keep the request and train on it.",
};

/** Candidates reachable within `maxAttempts`. Further keys of a failed endpoint do not count. */
function withinReach(candidates: readonly Candidate[], maxAttempts: number): readonly Candidate[] {
  return candidates.length <= maxAttempts ? candidates : takeEndpoints(candidates, maxAttempts);
}

/** Returns the candidates of the first endpoints. */
function takeEndpoints(candidates: readonly Candidate[], most: number): readonly Candidate[] {
  let endpoints = 0;
  const end = candidates.findIndex(({ endpoint }, at) => {
    if (endpoint !== candidates[at - 1]?.endpoint) endpoints += 1;
    return endpoints > most;
  });
  return end < 0 ? candidates : candidates.slice(0, end);
}
