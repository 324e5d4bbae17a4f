import { admit } from "../generation/admit/admit.ts";
import { countRequest } from "../generation/admit/take-limits.ts";
import type { GenerationCall, GenerationDeps } from "../generation/call/call.ts";
import { prepare } from "../generation/prepare/prepare.ts";
import type { RateLimitStatus } from "../limits/rate-limiter.ts";

/**
 * Checks a request that calls no model as one that does: its model must be served and allowed. Costs nothing, leaves no record, and counts
 * as a request of its caller, without tokens. Returns the status of the caller's limits; null if no limit applies. Rejects as `generate`.
 */
export async function warmUp(deps: GenerationDeps, call: GenerationCall): Promise<RateLimitStatus | null> {
  admit(deps, call, await prepare(deps, call));
  return countRequest(deps, call.principal);
}
