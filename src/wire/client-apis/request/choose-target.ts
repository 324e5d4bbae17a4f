import { GatewayError } from "../../../base/failures/errors.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { InferenceRequest, RequestEncoding, UpstreamTarget } from "./inference-request.ts";

/** What a request would lose. */
interface Losing {
  /**
   * Returns what would be left out for a target; has no effect.
   * @throws GatewayError `invalid_request` if the target's format cannot express the request at all.
   */
  listLosses(target: UpstreamTarget): readonly Warning[];
}

/** A request that may be sent in several formats. */
interface Choosing extends Losing, Pick<InferenceRequest, "format"> {}

/**
 * Chooses the target whose format the request is sent in: the client's own unless it cannot express the request, else the first
 * that loses nothing, else the one that loses least; of equals the first one listed. Pure.
 */
export function chooseTarget(request: Choosing, targets: readonly UpstreamTarget[]): UpstreamTarget {
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

/** A request in no upstream's format that loses the same at every target, so that the first one is chosen. */
export const SAME_EVERYWHERE: Choosing = { format: null, listLosses: () => [] };

/** Returns the encoding of a request that recalls no turns and is never encoded in another thread. */
export function encodeHere(request: Choosing & Pick<RequestEncoding, "encode">): RequestEncoding {
  return {
    encode: (target) => request.encode(target),
    plan: (targets) => ({
      nameTurns: recallNothing,
      offloaded: null,
      encode: () => request.encode(chooseTarget(request, targets)),
    }),
  };
}

/** The names of turns of a request that recalls none. */
export function recallNothing(): null {
  return null;
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

/** Weighs what the format of a target leaves out of a request; infinite if it cannot express the request at all. */
function lossOf(request: Losing, target: UpstreamTarget, light: number): number {
  try {
    return weighLosses(request.listLosses(target), light);
  } catch (error) {
    if (error instanceof GatewayError) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
