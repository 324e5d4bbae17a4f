/**
 * How much `place` weighs for `session`: evenly spread over 0 to 2^32, the same in every process. Whoever weighs most is chosen
 * (rendezvous hashing): a place that goes moves only the sessions that were its own.
 */
export function weighSpread(session: string, place: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < session.length; at++) hash = Math.imul(hash ^ session.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ 0xff, 0x01000193);
  for (let at = 0; at < place.length; at++) hash = Math.imul(hash ^ place.charCodeAt(at), 0x01000193);
  // FNV alone leaves neighbours alike; this is the end of MurmurHash3.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
