import { GatewayError } from "../../../base/failures/errors.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { InferenceRequest, UpstreamTarget } from "./inference-request.ts";

/**
 * Chooses the target whose format the request is sent in: the client's own unless it cannot express the request, else the first
 * that loses nothing, else the one that loses least; of equals the first one listed. Pure.
 */
export function chooseTarget(
  request: Pick<InferenceRequest, "format" | "listLosses">,
  targets: readonly UpstreamTarget[],
): UpstreamTarget {
  const only = targets[0];
  if (only === undefined) throw new Error("a candidate without a format");
  if (targets.length === 1) return only;
  const isOwn = ({ provider }: UpstreamTarget) => provider.format === request.format;
  const ordered = [...targets.filter(isOwn), ...targets.filter((target) => !isOwn(target))];
  let best = ordered[0] as UpstreamTarget;
  let least = Number.POSITIVE_INFINITY;
  for (const target of ordered) {
    const loss = lossOf(request, target, isOwn(target) ? 0 : 1);
    if (loss === 0) return target;
    if (loss < least) [best, least] = [target, loss];
  }
  return best;
}

/** The weight of a loss that changes the meaning of the request: more than all other losses together. */
const GRAVE = 1_000;

/**
 * Weighs losses. `light` is the weight of a loss that does not change the meaning. The amount of reasoning is not weighed, because
 * it is adapted to the model in every format.
 */
export function weighLosses(losses: readonly Warning[], light: number): number {
  let sum = 0;
  for (const { isGrave, isLearned, field } of losses) {
    if (isGrave) sum += GRAVE;
    else if (field !== "reasoning" && isLearned !== true) sum += light;
  }
  return sum;
}

/** Weighs what a format leaves out of a request; infinite if it cannot express the request at all. */
function lossOf(
  request: Pick<InferenceRequest, "listLosses">,
  target: UpstreamTarget,
  light: number,
): number {
  try {
    return weighLosses(request.listLosses(target), light);
  } catch (error) {
    if (error instanceof GatewayError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
