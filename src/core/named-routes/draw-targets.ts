import { weighSpread } from "../routing/affinity/weigh-spread.ts";

/** A target of a group. */
export interface WeightedTarget {
  readonly model: string;
  /** The only provider that may answer; absent if any may. */
  readonly provider?: string | undefined;
  /** In proportion to the sum of all weights. 0: only used if the others fail. */
  readonly weight: number;
}

const HASHES = 2 ** 32;

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
    .map((target) => ({ target, delay: delayOf(key, target) }))
    .sort((a, b) => (a.delay === b.delay ? 0 : a.delay - b.delay))
    .map(({ target }) => target);
}

/** Orders targets by weight, the heaviest first. */
export function rankTargets<Target extends WeightedTarget>(targets: readonly Target[]): readonly Target[] {
  return targets.toSorted((a, b) => b.weight - a.weight);
}

/**
 * Returns a sample of an exponential distribution with the weight as its rate. The probability that it is the smallest of several is its
 * share of the rates.
 */
function delayOf(key: string, { model, provider, weight }: WeightedTarget): number {
  if (weight === 0) return Number.POSITIVE_INFINITY;
  const name = provider === undefined ? model : `${model} ${provider}`;
  const share = (weighSpread(key, name) + 0.5) / HASHES;
  return -Math.log(share) / weight;
}
