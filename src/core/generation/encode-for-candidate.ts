import type { EncodedForUpstream, UpstreamTarget } from "../../wire/dialects/inference-request.ts";
import type { Candidate } from "../routing/plan.ts";
import { scopeOf } from "../routing/session-key.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import { describeTarget } from "./upstream-target.ts";

/** How this attempt differs from others with the same candidate. */
type Attempt = Pick<UpstreamTarget, "isLast" | "withReasoning" | "recallTurn" | "maxTokens">;

/**
 * The request as a candidate takes it. Its user and its session reach the vendor as keyed hashes alone.
 * @throws GatewayError as `InferenceRequest.encode`.
 */
export function encodeForCandidate(
  { hashIdentity }: Pick<GenerationDeps, "hashIdentity">,
  { caller, request }: Pick<GenerationCall, "caller" | "request">,
  candidate: Candidate,
  attempt: Attempt,
): EncodedForUpstream {
  const scope = scopeOf(caller);
  const encoded = request.encode({
    ...describeTarget(candidate),
    ...attempt,
    steer: candidate.steer ?? null,
    hashUser: (user) => hashIdentity("user", scope, user),
  });
  const { affinityHeader } = candidate.provider.record;
  if (affinityHeader === undefined || request.session === null) return encoded;
  const session = hashIdentity("session", scope, request.session);
  return { ...encoded, headers: { ...encoded.headers, [affinityHeader]: session } };
}
