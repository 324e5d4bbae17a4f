/**
 * Returns the weight of `name` for `session`, a hash that is evenly distributed over 0 to 2^32 and the same in every process.
 * The name with the greatest weight is chosen (rendezvous hashing), so that removing a name moves only its own sessions.
 */
export function weighSpread(session: string, name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < session.length; at++) hash = Math.imul(hash ^ session.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ 0xff, 0x01000193);
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  // FNV alone produces similar hashes for similar names; this is the finalizer of MurmurHash3.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const HASHES = 2 ** 32;

/**
 * Returns by what to order names with weights, ascending, so that the probability of being first is a name's share of the weights. The same
 * key gives the same order, and raising one weight moves keys only to that name (weighted rendezvous hashing). Names of weight 0 come last.
 */
export function drawDelay(key: string, name: string, weight: number): number {
  if (weight === 0) return Number.POSITIVE_INFINITY;
  // A sample of an exponential distribution with the weight as its rate: the smallest of several is each with its share of the rates.
  return -Math.log((weighSpread(key, name) + 0.5) / HASHES) / weight;
}
