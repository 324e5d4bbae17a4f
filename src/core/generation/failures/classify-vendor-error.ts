import type { Failure } from "../../../base/failures/errors.ts";
import type { VendorError } from "../../../wire/conversation/errors/vendor-error.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import { contextOverflow } from "../../routing/plan/window.ts";
import { redact, redactSecrets, withoutBilling } from "../memory/redact.ts";
import {
  describeUpstream,
  FAILED,
  type FailureClassification,
  isByok,
  keyRejected,
  NEUTRAL,
  RETRY_AFTER_S,
  requestAtFault,
  tryNext,
} from "./failure-classification.ts";

/** The `Retry-After` of a provider without credit. The provider is not called in that time. Seconds. */
const NO_CREDIT_S = 60;
/** The `Retry-After` of a rate limit for which the vendor names none. Seconds. */
const RATE_LIMIT_RETRY_AFTER_S = 1;
const MAX_RETRY_AFTER_S = 3_600;

/** The size of a prompt, for vendors' errors that do not name it. Tokens. */
export interface PromptSize {
  /** The maximum tokens of a prompt at the candidate. */
  readonly promptLimit: number;
  /** Returns the model's context window, as model lists show it. Computed only when needed. */
  listedWindow(): number;
}

/** A vendor's error, with the message that the client may see. */
interface PresentableError {
  readonly error: VendorError;
  readonly candidate: Candidate;
  /** The vendor's message without secrets. */
  readonly message: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Classifies an error that a vendor sent instead of an answer (docs/api/errors.md). */
export function classifyVendorError(
  error: VendorError,
  candidate: Candidate,
  size: PromptSize,
): FailureClassification {
  const message = cleanMessage(error, candidate);
  const metadata = {
    ...describeUpstream(candidate, error.status, message),
    ...describeDetails(error, candidate),
  };
  const presentable: PresentableError = { error, candidate, message, metadata };
  switch (error.meaning) {
    case "bad_request":
      return {
        ...requestAtFault({ code: "invalid_request", message: avoidRetryWords(message), metadata }),
        mayTryNext: error.lacksFeature ? "elsewhere" : false,
      };
    case "content_filter":
      return requestAtFault({
        code: "invalid_request",
        message: avoidRetryWords(message),
        metadata: { ...metadata, reason: "content_filter" },
      });
    case "context_overflow":
      return { ...requestAtFault(overflowFailure(presentable, size)), mayTryNext: "larger" };
    case "rate_limited":
      return classifyRateLimit(presentable);
    case "out_of_credit":
      return { ...tryNext(creditFailure(presentable), { kind: "out_of_credit" }), keyIs: "rejected" };
    case "overloaded":
      return classifyOverload(presentable);
    case "key_refused": {
      const { status } = error;
      // Many vendors use 403 if the key may not use this model.
      return keyRejected(candidate, { status, internal: message, scope: status === 403 ? "model" : "key" });
    }
    case "failed":
      return classifyFailed(presentable);
  }
}

/** Removes secrets from a message. Unless the message is about the request, also removes what concerns the account at the vendor. */
function cleanMessage({ meaning, message, status }: VendorError, candidate: Candidate): string {
  const clean = redact(message, candidate.key.secret);
  if (meaning === "bad_request" || meaning === "context_overflow" || meaning === "content_filter")
    return clean;
  return withoutBilling(clean) ?? `HTTP ${status}`;
}

/** Returns the details of an error that clients act on: the vendor's code, and output that it could not parse as a tool call. */
function describeDetails(
  { code, failedGeneration }: VendorError,
  candidate: Candidate,
): Record<string, unknown> {
  const { secret } = candidate.key;
  return {
    ...(code === null ? {} : { upstream_code: redactSecrets(code, secret) }),
    ...(failedGeneration === null ? {} : { failed_generation: redactSecrets(failedGeneration, secret) }),
  };
}

function overflowFailure({ error, metadata }: PresentableError, size: PromptSize): Failure {
  const promptLimit = error.contextLimit ?? size.promptLimit;
  const requested = error.contextRequested ?? promptLimit + 1;
  const listed = size.listedWindow();
  const limit = isSameWindow(promptLimit, listed) || error.contextLimit === null ? listed : promptLimit;
  const isExact = error.contextRequested !== null;
  return contextOverflow({ limit, promptLimit, requested, isExact }, metadata);
}

/**
 * Allows for rounding: vendors round context windows differently from model lists. If the difference is larger, the vendor's value is the
 * correct one.
 */
function isSameWindow(reported: number, listed: number): boolean {
  return Math.abs(reported - listed) <= listed / 10;
}

function classifyRateLimit({ error, candidate, metadata }: PresentableError): FailureClassification {
  const { retryAfterS } = error;
  const { name } = candidate.provider.record;
  const failure: Failure = {
    code: "rate_limit_exceeded",
    message: `${name} is limiting requests${isByok(candidate) ? " of the account's BYOK key" : ""}. Wait and try again, or choose another model.`,
    metadata: { ...metadata, limit_source: "upstream" },
    retryAfterS: boundRetry(retryAfterS ?? RATE_LIMIT_RETRY_AFTER_S),
  };
  return tryNext(failure, { kind: "rate_limited", retryAfterMs: toMs(retryAfterS) });
}

function classifyOverload({ error, candidate, metadata }: PresentableError): FailureClassification {
  const { retryAfterS } = error;
  const failure: Failure = {
    code: "unavailable",
    message: `${candidate.provider.record.name} is overloaded. Try again later, or choose another model.`,
    metadata,
    retryAfterS: boundRetry(retryAfterS ?? RETRY_AFTER_S),
  };
  return tryNext(failure, { kind: "overloaded", retryAfterMs: toMs(retryAfterS) });
}

function classifyFailed({ error, candidate, message, metadata }: PresentableError): FailureClassification {
  const { name } = candidate.provider.record;
  const failure: Failure = {
    code: "upstream_error",
    message: `${name} failed: ${message.replace(/[.!\s]+$/, "")}. Try again, or choose another model.`,
    metadata,
  };
  const { status } = error;
  // A model that is missing for a BYOK key may exist for other keys.
  return tryNext(failure, isByok(candidate) && status >= 400 && status < 500 ? NEUTRAL : FAILED);
}

/**
 * Returns the failure of a provider account without credit. It names the cause only for a BYOK key: clients learn nothing about the
 * gateway's accounts.
 */
function creditFailure({ error, candidate }: PresentableError): Failure {
  const { name } = candidate.provider.record;
  const common = {
    code: "unavailable",
    retryAfterS: NO_CREDIT_S,
    // The vendor's message is not even logged, because it may contain amounts, keys and names of people.
    internal: `out of credit (HTTP ${error.status})`,
  } as const;
  if (isByok(candidate)) {
    return {
      ...common,
      message: `The account's BYOK key for ${name} is out of credit there. Add credit at ${name}, or choose another model.`,
      metadata: describeUpstream(candidate, error.status, "out of credit"),
    };
  }
  return {
    ...common,
    message: `${name} is unavailable through this gateway at the moment. Choose another model.`,
    metadata: describeUpstream(candidate, null, "unavailable"),
  };
}

/** Replaces words that make agents retry a request that would be rejected again. */
function avoidRetryWords(message: string): string {
  return message
    .replace(/rate[ -]limit/gi, "request limit")
    .replace(/(please )?try again( later)?/gi, "change the request")
    .replace(/overloaded/gi, "busy");
}

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}

function boundRetry(seconds: number): number {
  return Math.min(Math.max(1, Math.ceil(seconds)), MAX_RETRY_AFTER_S);
}
