import { crc32 } from "../../base/secrets/hash.ts";
import type { LiveGateways } from "../gateways/gateway-registry.ts";
import type { LimitScope } from "./rate-limiter.ts";

/**
 * Returns the live gateways; null while others may not have counted this one yet. Until then it has no share, so that the shares in use
 * never add up to more than a limit.
 */
export type FindLiveGateways = () => LiveGateways | null;

/** The minimum share of tokens: a smaller one would be too small for most prompts, so that fewer gateways get one instead. */
const MIN_TOKENS = 10_000;

/**
 * Returns a scope with this gateway's shares of the limits. The shares of all gateways add up to exactly the limit. The remainder of a
 * division goes to other gateways in each scope, so that no gateway is left without a share everywhere.
 */
export function shareOf(scope: LimitScope, live: LiveGateways | null): LimitScope {
  const shareOfLimit = createShare(scope, live);
  const { requestsPerMinute, tokensPerMinute, concurrent } = scope.limit;
  return {
    source: scope.source,
    id: scope.id,
    limit: {
      requestsPerMinute: shareOfLimit(requestsPerMinute, 1),
      tokensPerMinute: shareOfLimit(tokensPerMinute, MIN_TOKENS),
      concurrent: shareOfLimit(concurrent, 1),
    },
    ...(scope.requestsPerHour === undefined
      ? {}
      : { requestsPerHour: shareOfLimit(scope.requestsPerHour, 1) }),
  };
}

/** Returns a scope whose limits are counted but reject nothing. */
export function withoutBounds({ source, id, limit, requestsPerHour }: LimitScope): LimitScope {
  const none = (bound: number | null): number | null => (bound === null ? null : Number.POSITIVE_INFINITY);
  return {
    source,
    id,
    limit: {
      requestsPerMinute: none(limit.requestsPerMinute),
      tokensPerMinute: none(limit.tokensPerMinute),
      concurrent: none(limit.concurrent),
    },
    ...(requestsPerHour === undefined ? {} : { requestsPerHour: Number.POSITIVE_INFINITY }),
  };
}

/** A function that returns a share of at least `least`, or 0. A limit of less than twice `least` belongs to one gateway. */
type Share = <Limit extends number | null>(limit: Limit, least: number) => Limit;

function createShare({ source, id }: LimitScope, live: LiveGateways | null): Share {
  if (live === null) return (limit) => (limit === null ? limit : 0) as typeof limit;
  const { count, rank } = live;
  const position = (rank + crc32(`${source} ${id}`)) % count;
  return (limit, least) =>
    (limit === null ? null : divide(limit, { count, position, least })) as typeof limit;
}

interface Division {
  readonly count: number;
  readonly position: number;
  readonly least: number;
}

function divide(limit: number, { count, position, least }: Division): number {
  const parts = Math.min(count, Math.max(1, Math.floor(limit / least)));
  if (position >= parts) return 0;
  return Math.floor(limit / parts) + (position < limit % parts ? 1 : 0);
}
