import type { Failure } from "../../../base/failures/errors.ts";
import type { AttemptReport } from "../../routing/health/health.ts";
import type { Candidate } from "../../routing/plan/plan.ts";

/** The consequences of a failed attempt for the request, its candidates and their health. */
export interface FailureClassification {
  /** The failure that the client receives if no other candidate answers. */
  readonly failure: Failure;
  /**
   * Whether another candidate may be tried; `larger`: only one with a larger context window, `elsewhere`: only one of another endpoint.
   * False if the request itself is at fault.
   */
  readonly mayTryNext: boolean | "larger" | "elsewhere";
  /** The report for the health of the provider and its key. */
  readonly health: AttemptReport;
  /** Whether the failure shows that the provider accepts or rejects the key. */
  readonly keyIs: "accepted" | "rejected" | "unknown";
}

/** The `Retry-After` of failures for which the upstream names none. Seconds. */
export const RETRY_AFTER_S = 5;

export const FAILED: AttemptReport = { kind: "failed" };
export const NEUTRAL: AttemptReport = { kind: "neutral" };

/** Classifies a failure that another candidate may not have. */
export function tryNext(failure: Failure, health: AttemptReport = FAILED): FailureClassification {
  return { failure, mayTryNext: true, health, keyIs: "unknown" };
}

/** Classifies a failure that the request has caused. Every candidate would have it. */
export function requestAtFault(failure: Failure): FailureClassification {
  return { failure, mayTryNext: false, health: NEUTRAL, keyIs: "accepted" };
}

/** Classifies the rejection of a provider key; `scope`: for everything, or for this model. */
export function keyRejected(
  candidate: Candidate,
  { status, internal, scope }: KeyRejection,
): FailureClassification {
  const { name } = candidate.provider.record;
  const message = isByok(candidate)
    ? `${name} rejected the account's BYOK key. Ask a manager of the account to replace or disable that key, or choose another model.`
    : `${name} rejected the gateway's key. Tell the operator of this gateway, or choose another model.`;
  const metadata = describeUpstream(candidate, status, "the key was refused");
  const failure: Failure = { code: "upstream_error", message, metadata, internal };
  return { ...tryNext(failure, { kind: "key_refused", scope }), keyIs: "rejected" };
}

interface KeyRejection {
  /** The HTTP status; null if the provider itself was not asked. */
  readonly status: number | null;
  /** The upstream's message, for the log only. */
  readonly internal: string;
  readonly scope: "key" | "model";
}

/** Returns whether a candidate is called with a BYOK key. The caller can solve the problems of such a key. */
export function isByok({ key }: Candidate): boolean {
  return key.byokId !== null;
}

/** Returns the metadata of every failure of an upstream. `raw` is the upstream's message, or a description of what happened. */
export function describeUpstream(
  candidate: Candidate,
  upstreamStatus: number | null,
  raw: string,
): Readonly<Record<string, unknown>> {
  const { slug } = candidate.provider.record;
  const facts = { provider: slug, upstream_status: upstreamStatus, raw };
  return isByok(candidate) ? { ...facts, is_byok: true } : facts;
}
