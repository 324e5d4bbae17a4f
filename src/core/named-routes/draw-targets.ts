import { drawDelay } from "../routing/affinity/weigh-spread.ts";

/** A target of a group. */
export interface WeightedTarget {
  readonly model: string;
  /** The only provider that may answer; absent if any may. */
  readonly provider?: string | undefined;
  /** In proportion to the sum of all weights. 0: only used if the others fail. */
  readonly weight: number;
}

/**
 * Orders targets randomly: the probability of being first is a target's share of the weights, and the rest is ordered in the same way. The
 * same key gives the same order, and raising one weight moves keys only to that target (weighted rendezvous hashing). Targets of weight 0
 * come last, in their order.
 */
export function drawTargets<Target extends WeightedTarget>(
  key: string,
  targets: readonly Target[],
): readonly Target[] {
  return targets
    .map((target) => ({ target, delay: drawDelay(key, nameOf(target), target.weight) }))
    .sort((a, b) => (a.delay === b.delay ? 0 : a.delay - b.delay))
    .map(({ target }) => target);
}

/** Orders targets by weight, the heaviest first. */
export function rankTargets<Target extends WeightedTarget>(targets: readonly Target[]): readonly Target[] {
  return targets.toSorted((a, b) => b.weight - a.weight);
}

/** A model may be a target at several providers. */
function nameOf({ model, provider }: WeightedTarget): string {
  return provider === undefined ? model : `${model} ${provider}`;
}
