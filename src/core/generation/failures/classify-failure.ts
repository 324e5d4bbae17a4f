import type { Failure } from "../../../base/failures/errors.ts";
import type { TransportError } from "../../deployments/transport.ts";
import type { AuthorizeError } from "../../deployments/upstream-address.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import type { CancelReason, ClientCancelReason } from "../call/cancellation.ts";
import { redact } from "../memory/redact.ts";
import {
  describeUpstream,
  FAILED,
  type FailureClassification,
  keyRejected,
  NEUTRAL,
  RETRY_AFTER_S,
  tryNext,
} from "./failure-classification.ts";

/** Classifies an access token that could not be obtained: the provider itself was not called. */
export function classifyAuthorizeError(error: AuthorizeError, candidate: Candidate): FailureClassification {
  const internal = redact(error.message, candidate.key.secret);
  if (error.kind === "refused") return keyRejected(candidate, { status: null, internal, scope: "key" });
  return tryNext(createUnreachable(candidate, "no access token", internal));
}

/** Classifies a connection that failed before there was an answer. `upstreamStatus` is null if no response head had arrived. */
export function classifyTransportError(
  error: TransportError,
  candidate: Candidate,
  upstreamStatus: number | null,
): FailureClassification {
  const { name } = candidate.provider.record;
  switch (error.kind) {
    case "connect_failed":
    case "connect_timeout":
    case "tls_failed":
      return tryNext(createUnreachable(candidate, TRANSPORT_WORDS[error.kind], error.message));
    case "encoding": {
      const raw = redact(error.message, candidate.key.secret);
      return tryNext({
        code: "upstream_error",
        message: `${name} sent ${raw}. Try again, or choose another model.`,
        metadata: describeUpstream(candidate, upstreamStatus, raw),
      });
    }
    default:
      return tryNext({
        code: "upstream_error",
        message: `${name} broke off before it had answered. Try again, or choose another model.`,
        metadata: describeUpstream(candidate, upstreamStatus, TRANSPORT_WORDS[error.kind]),
        internal: error.message,
      });
  }
}

function createUnreachable(candidate: Candidate, raw: string, internal: string): Failure {
  return {
    code: "unavailable",
    message: `${candidate.provider.record.name} cannot be reached. Try again later, or choose another model.`,
    metadata: describeUpstream(candidate, null, raw),
    retryAfterS: RETRY_AFTER_S,
    internal,
  };
}

const TRANSPORT_WORDS = {
  connect_failed: "connection failed",
  connect_timeout: "connecting took too long",
  tls_failed: "the TLS handshake failed",
  reset: "connection reset",
  truncated: "the answer broke off",
  protocol: "the answer is not HTTP, or too large",
  cancelled: "cancelled",
} as const;

/** Classifies a timeout or a shutdown. A client that leaves is not classified, because that is not a failure. */
export function classifyCancellation(
  reason: Exclude<CancelReason, ClientCancelReason>,
  candidate: Candidate,
): FailureClassification {
  const { name } = candidate.provider.record;
  const metadata = describeUpstream(candidate, null, CANCEL_WORDS[reason]);
  const message =
    reason === "shutdown"
      ? "The gateway is restarting. Try again."
      : `${name} took too long: ${CANCEL_WORDS[reason]}. Try again later, or choose another model.`;
  const failure: Failure = { code: "unavailable", message, metadata, retryAfterS: RETRY_AFTER_S };
  return {
    ...tryNext(failure, reason === "shutdown" ? NEUTRAL : FAILED),
    mayTryNext: reason === "first_token",
  };
}

const CANCEL_WORDS = {
  first_token: "no token came in time",
  silence: "the answer fell silent",
  total: "the whole request took longer than is allowed",
  shutdown: "the gateway is shutting down",
} as const;

/**
 * Chooses the failure that the client receives after several failed attempts. In order of precedence: a prompt that is too long for every
 * candidate, the rate limit with the shortest wait, the last failure.
 */
export function chooseFailure(failures: readonly Failure[]): Failure {
  const last = failures.at(-1) as Failure;
  if (last.code === "context_length_exceeded") return last;
  const limits = failures.filter((failure) => failure.code === "rate_limit_exceeded");
  if (limits.length > 0)
    return limits.reduce((a, b) => ((b.retryAfterS ?? 0) < (a.retryAfterS ?? 0) ? b : a));
  return last;
}
