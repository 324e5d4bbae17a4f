import type { Failure } from "../../base/errors.ts";
import type { VendorError } from "../../wire/conversation/vendor-error.ts";
import type { TransportError } from "../deployments/transport.ts";
import type { AuthorizeError } from "../deployments/upstream-address.ts";
import type { AttemptReport } from "../routing/health.ts";
import type { Candidate } from "../routing/plan.ts";
import { contextOverflow } from "../routing/window.ts";
import type { CancelReason, ClientCancelReason } from "./cancellation.ts";
import { redact, redactSecrets, withoutBilling } from "./redact.ts";

/** What a failed attempt means for the request. */
export interface FailureClassification {
  /** What the client is told, should nobody else answer. */
  readonly failure: Failure;
  /** Whether another candidate may try. Not when the request itself is at fault; `larger`: one with a larger window. */
  readonly mayTryNext: boolean | "larger";
  /** What it says of the provider's and the key's health. */
  readonly health: AttemptReport;
  /** What it says of the key: that the provider took it, does not take it, or nothing. */
  readonly keyIs: "accepted" | "refused" | "unknown";
}

/** How long a key without credit is left alone. Seconds. */
const NO_CREDIT_S = 60;
/** Said where the upstream did not say when to come back. Seconds. */
const RETRY_AFTER_S = 5;
const RATE_LIMIT_RETRY_AFTER_S = 1;
const MAX_RETRY_AFTER_S = 3_600;

/** What is known of the request where a vendor's words leave gaps. Tokens. */
export interface PromptSize {
  /** What the prompt may have at the candidate. */
  readonly promptLimit: number;
  /** The model's window, as lists say it. Looked for when asked for. */
  listedWindow(): number;
}

/**
 * Judges what a vendor answered in place of an answer (docs/api/errors.md). `retryAfterS` is what
 * its header says, which wins over its words.
 */
export function classifyVendorError(
  error: VendorError,
  candidate: Candidate,
  size: PromptSize,
  retryAfterS: number | null,
): FailureClassification {
  const name = candidate.provider.record.name;
  const raw = cleanWords(error, candidate);
  const metadata = { ...describe(candidate, error.status, raw), ...nameWords(error, candidate) };
  const waitS = retryAfterS ?? error.retryAfterS;
  switch (error.meaning) {
    case "bad_request":
      return callersFault({ code: "invalid_request", message: calm(raw), metadata });
    case "content_filter":
      return callersFault({
        code: "invalid_request",
        message: calm(raw),
        metadata: { ...metadata, reason: "content_filter" },
      });
    case "context_overflow":
      return { ...callersFault(judgeOverflow(error, size, metadata)), mayTryNext: "larger" };
    case "rate_limited":
      return another(
        {
          code: "rate_limit_exceeded",
          message: `${name} is limiting requests${isOwn(candidate) ? " of the account's own key" : ""}. Wait and repeat the request, or name another model.`,
          metadata: { ...metadata, limit_source: "upstream" },
          retryAfterS: boundRetry(waitS ?? RATE_LIMIT_RETRY_AFTER_S),
        },
        { kind: "rate_limited", retryAfterMs: toMs(waitS) },
      );
    case "out_of_credit":
      return {
        ...another(outOfCredit(candidate, error.status), { kind: "out_of_credit" }),
        keyIs: "refused",
      };
    case "overloaded":
      return another(
        {
          code: "unavailable",
          message: `${name} is overloaded. Repeat the request later, or name another model.`,
          metadata,
          retryAfterS: boundRetry(waitS ?? RETRY_AFTER_S),
        },
        { kind: "overloaded", retryAfterMs: toMs(waitS) },
      );
    case "key_refused":
      // With 403 many say that this model is not for this key.
      return refused(keyRefused(candidate, error.status, raw), error.status === 403 ? "model" : "key");
    case "failed":
      return another(
        {
          code: "upstream_error",
          message: `${name} failed: ${raw.replace(/[.!\s]+$/, "")}. Repeat the request, or name another model.`,
          metadata,
        },
        // A model that is not there for an account's own key may be there for others.
        isOwn(candidate) && error.status >= 400 && error.status < 500 ? NEUTRAL : FAILED,
      );
  }
}

/** What is about the request is the caller's to read whole; of the rest, what concerns our account there is left out. */
function cleanWords({ meaning, message, status }: VendorError, candidate: Candidate): string {
  const words = redact(message, candidate.key.secret);
  if (meaning === "bad_request" || meaning === "context_overflow" || meaning === "content_filter")
    return words;
  return withoutBilling(words) ?? `HTTP ${status}`;
}

/** What else a vendor says that its clients act on: its own code, and what its model wrote in vain. */
function nameWords({ code, failedGeneration }: VendorError, candidate: Candidate): Record<string, unknown> {
  const { secret } = candidate.key;
  return {
    ...(code === null ? {} : { upstream_code: redactSecrets(code, secret) }),
    ...(failedGeneration === null ? {} : { failed_generation: redactSecrets(failedGeneration, secret) }),
  };
}

function judgeOverflow(said: VendorError, size: PromptSize, metadata: Failure["metadata"]): Failure {
  const promptLimit = said.contextLimit ?? size.promptLimit;
  const requested = said.contextRequested ?? promptLimit + 1;
  const listed = size.listedWindow();
  const limit = isSameWindow(promptLimit, listed) || said.contextLimit === null ? listed : promptLimit;
  const isExact = said.contextRequested !== null;
  return contextOverflow({ limit, promptLimit, requested, isExact }, metadata ?? {});
}

/** Vendors round their windows differently from lists; one that is far off knows its own better than the list. */
function isSameWindow(said: number, listed: number): boolean {
  return Math.abs(said - listed) <= listed / 10;
}

/** Judges a token that could not be had: nothing was sent to the provider itself. */
export function classifyAuthorizeError(error: AuthorizeError, candidate: Candidate): FailureClassification {
  const internal = redact(error.message, candidate.key.secret);
  if (error.kind === "refused") return refused(keyRefused(candidate, null, internal), "key");
  const { name } = candidate.provider.record;
  return another({
    code: "unavailable",
    message: `${name} is out of reach. Repeat the request later, or name another model.`,
    metadata: describe(candidate, null, "no access token"),
    retryAfterS: RETRY_AFTER_S,
    internal,
  });
}

function keyRefused(candidate: Candidate, upstreamStatus: number | null, internal: string): Failure {
  const { name } = candidate.provider.record;
  return {
    code: "upstream_error",
    message: isOwn(candidate)
      ? `${name} refused the account's own key for it. Whoever manages the account can replace or disable that key; or name another model.`
      : `${name} refused the gateway's key. Tell whoever runs this gateway, or name another model.`,
    metadata: describe(candidate, upstreamStatus, "the key was refused"),
    internal,
  };
}

/** Whether it is the account's own key, whose troubles are the caller's to mend. */
function isOwn({ key }: Candidate): boolean {
  return key.byokId !== null;
}

/** What every failure of an upstream says of it. */
function describe(
  candidate: Candidate,
  upstreamStatus: number | null,
  raw: string,
): Readonly<Record<string, unknown>> {
  const { slug } = candidate.provider.record;
  const facts = { provider: slug, upstream_status: upstreamStatus, raw };
  return isOwn(candidate) ? { ...facts, is_byok: true } : facts;
}

/** Judges a connection that failed before there was an answer. `upstreamStatus` is null where no head had come. */
export function classifyTransportError(
  error: TransportError,
  candidate: Candidate,
  upstreamStatus: number | null,
): FailureClassification {
  const { name } = candidate.provider.record;
  const outOfReach =
    error.kind === "connect_failed" || error.kind === "connect_timeout" || error.kind === "tls_failed";
  if (outOfReach) {
    return another({
      code: "unavailable",
      message: `${name} is out of reach. Repeat the request later, or name another model.`,
      metadata: describe(candidate, null, TRANSPORT_WORDS[error.kind]),
      retryAfterS: RETRY_AFTER_S,
      internal: error.message,
    });
  }
  if (error.kind === "encoding") {
    const words = redact(error.message, candidate.key.secret);
    return another({
      code: "upstream_error",
      message: `${name} sent ${words}. Repeat the request, or name another model.`,
      metadata: describe(candidate, upstreamStatus, words),
    });
  }
  return another({
    code: "upstream_error",
    message: `${name} broke off before it had answered. Repeat the request, or name another model.`,
    metadata: describe(candidate, upstreamStatus, TRANSPORT_WORDS[error.kind]),
    internal: error.message,
  });
}

const TRANSPORT_WORDS = {
  connect_failed: "connection failed",
  connect_timeout: "connecting took too long",
  tls_failed: "the TLS handshake failed",
  reset: "connection reset",
  truncated: "the answer broke off",
  protocol: "the answer is not HTTP, or too large",
  encoding: "the body is not in a content coding that is known",
  cancelled: "cancelled",
} as const;

/** Judges a timer that struck, or a shutdown. What the client does is no failure. */
export function classifyCancellation(
  reason: Exclude<CancelReason, ClientCancelReason>,
  candidate: Candidate,
): FailureClassification {
  const { name } = candidate.provider.record;
  const metadata = describe(candidate, null, CUT_WORDS[reason]);
  const message =
    reason === "shutdown"
      ? "The gateway is restarting. Repeat the request."
      : `${name} took too long: ${CUT_WORDS[reason]}. Repeat the request later, or name another model.`;
  const judged = another({ code: "unavailable", message, metadata, retryAfterS: RETRY_AFTER_S });
  return {
    ...judged,
    mayTryNext: reason === "first_token",
    health: reason === "shutdown" ? NEUTRAL : FAILED,
  };
}

const CUT_WORDS = {
  first_token: "no token came in time",
  silence: "the answer fell silent",
  total: "the whole request took longer than is allowed",
  shutdown: "the gateway is shutting down",
} as const;

/** Of several failed attempts, what the client is told: that its prompt is too long if nobody with a larger window was left, a limit with the shortest wait, else the last. */
export function chooseFailure(failures: readonly Failure[]): Failure {
  const last = failures.at(-1) as Failure;
  if (last.code === "context_length_exceeded") return last;
  const limits = failures.filter((failure) => failure.code === "rate_limit_exceeded");
  if (limits.length > 0)
    return limits.reduce((a, b) => ((b.retryAfterS ?? 0) < (a.retryAfterS ?? 0) ? b : a));
  return last;
}

/** The gateway's account is ours to mend: nothing of it reaches a client (specification 7, rule 1). The caller's own is theirs. */
function outOfCredit(candidate: Candidate, upstreamStatus: number): Failure {
  const { name } = candidate.provider.record;
  const common = {
    code: "unavailable",
    retryAfterS: NO_CREDIT_S,
    internal: `out of credit (HTTP ${upstreamStatus})`,
  } as const;
  if (isOwn(candidate)) {
    return {
      ...common,
      message: `The account's own key for ${name} is out of credit there. Add credit at ${name}, or name another model.`,
      metadata: describe(candidate, upstreamStatus, "out of credit"),
    };
  }
  return {
    ...common,
    message: `${name} is unavailable through this gateway at the moment. Name another model.`,
    metadata: describe(candidate, null, "unavailable"),
  };
}

function callersFault(failure: Failure): FailureClassification {
  return { failure, mayTryNext: false, health: NEUTRAL, keyIs: "accepted" };
}

function another(failure: Failure, health: AttemptReport = FAILED): FailureClassification {
  return { failure, mayTryNext: true, health, keyIs: "unknown" };
}

function refused(failure: Failure, scope: "key" | "model"): FailureClassification {
  return { ...another(failure, { kind: "key_refused", scope }), keyIs: "refused" };
}

const FAILED: AttemptReport = { kind: "failed" };
const NEUTRAL: AttemptReport = { kind: "neutral" };

function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}

/** Agents repeat a request when they read these words, and a 400 stays a 400. */
function calm(message: string): string {
  return message
    .replace(/rate[ -]limit/gi, "request limit")
    .replace(/(please )?try again( later)?/gi, "change the request")
    .replace(/overloaded/gi, "busy");
}

function boundRetry(seconds: number): number {
  return Math.min(Math.max(1, Math.ceil(seconds)), MAX_RETRY_AFTER_S);
}
