import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import type { Failure } from "../../../base/failures/errors.ts";
import type { AttemptReport } from "../../routing/health/health.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import { redact } from "./redact.ts";

/** A failed attempt at a provider, for its operator. */
export interface RecentFailure {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly model: string;
  readonly upstreamModel: string;
  /** Error code of the gateway, such as `upstream_error`. */
  readonly errorType: string;
  /** HTTP status of the provider; null if none was received. */
  readonly status: number | null;
  /** The provider's message or the error of the connection, without secrets. */
  readonly message: string;
  readonly generationId: string;
  readonly isByok: boolean;
}

/** A failure and its attempt. */
export interface FailedCall {
  readonly generationId: string;
  readonly candidate: Candidate;
  readonly failure: Failure;
  /** The report for the health of the provider. Failures that the request has caused are not listed. */
  readonly health: AttemptReport;
  /** HTTP status; null if none was received. */
  readonly status: number | null;
  readonly at: number;
  /** Whether nothing of the request may be stored, which the provider's message may quote. */
  readonly zeroRetention: boolean;
}

/** Receives each failure that is recorded. */
type FailureListener = (call: FailedCall, failure: RecentFailure) => void;

/** The last failures of each provider, in memory. Only failed attempts are recorded. */
export interface RecentFailures {
  record(call: FailedCall): void;
  /** Lists the last failures of a provider, newest first. */
  list(provider: string): readonly RecentFailure[];
}

const PER_PROVIDER = 20;
const MAX_PROVIDERS = 1_000;
const MESSAGE_CHARS = 1_000;

/** Creates an empty list of failures: at most 20 for each of 1,000 providers. */
export function createRecentFailures(onFailure: FailureListener): RecentFailures {
  const byProvider = new BoundedMap<string, readonly RecentFailure[]>({ max: MAX_PROVIDERS });
  return {
    record(call) {
      const { slug, failsOnDemand } = call.candidate.provider.record;
      if (call.health.kind === "neutral" || failsOnDemand) return;
      const earlier = byProvider.get(slug) ?? [];
      const failure = toRecentFailure(call);
      byProvider.set(slug, [failure, ...earlier.slice(0, PER_PROVIDER - 1)]);
      onFailure(call, failure);
    },
    list: (provider) => byProvider.get(provider) ?? [],
  };
}

function toRecentFailure({ generationId, candidate, failure, status, at }: FailedCall): RecentFailure {
  return {
    at,
    model: candidate.model.id,
    upstreamModel: candidate.endpoint.name,
    errorType: failure.code,
    status,
    message: redact(readProviderMessage(failure).slice(0, MESSAGE_CHARS), candidate.key.secret),
    generationId,
    isByok: candidate.key.byokId !== null,
  };
}

/**
 * Returns the provider's message. If it is about the gateway's account at the provider, it is the internal message; otherwise, the message
 * for clients.
 */
export function readProviderMessage({ internal, metadata, message }: Failure): string {
  const raw = metadata?.["raw"];
  // The first line of a thrown error is its message; the stack follows.
  const [cause] = internal?.split("\n", 1) ?? [];
  return cause ?? (typeof raw === "string" ? raw : message);
}
