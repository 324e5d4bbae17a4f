import { fail } from "../../base/errors.ts";
import type { IdempotencyName, StoredResponseStore } from "../../core/idempotency/stored-response-store.ts";

/** How long a request's name stands for its answer. Milliseconds. */
const KEEP_MS = 24 * 3_600_000;
/** Names that one key may have in that time. */
const MAX_NAMES = 10_000;
/** A larger answer is not kept. Characters. */
const MAX_BODY_CHARS = 65_536;
const NAME = /^[\x21-\x7e]{1,255}$/;

/** A request that may come twice: its name (`Idempotency-Key`), whose it is, and what it asks. */
export interface RepeatableRequest {
  readonly name: string;
  readonly keyId: string;
  /** Tells requests apart that differ in anything: address and body. */
  readonly content: string;
  /** The answer shows a secret, which is kept nowhere. */
  readonly answersSecret: boolean;
}

/** What answering once takes. */
export interface AnswerKeeper {
  readonly answers: StoredResponseStore;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** An answer, given for the first time or again. */
export interface OnceAnswer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly isRepeated: boolean;
}

/**
 * Does a request's work once, however often the request comes within a day, and gives the same answer each time. Work that
 * was refused changed nothing and may be tried again.
 * @throws GatewayError `conflict` for a name that stands for another request, for one that is still running, and where the
 * answer was not kept; `invalid_request` for a name that is none; `rate_limit_exceeded` for too many names.
 */
export async function answerOnce(
  { answers, now }: AnswerKeeper,
  request: RepeatableRequest,
  work: () => Promise<{ readonly status: number; readonly body: unknown }>,
): Promise<OnceAnswer> {
  if (!NAME.test(request.name)) {
    fail("invalid_request", "Idempotency-Key must be 1 to 255 visible ASCII characters.", {
      metadata: { field: "Idempotency-Key" },
    });
  }
  const name: IdempotencyName = { scope: request.keyId, name: request.name };
  const fingerprint = Bun.SHA256.hash(request.content, "hex");
  const at = now();
  const claim = await answers.claimKey(name, {
    fingerprint,
    at,
    expiredAt: at - KEEP_MS,
    maxNames: MAX_NAMES,
  });
  if (claim.kind === "full") return refuseMore();
  if (claim.kind === "repeated") {
    if (claim.fingerprint !== fingerprint) return fail("conflict", ANOTHER);
    const { status, body } = claim.answer ?? fail("conflict", UNKNOWN_END);
    return { status, body: body ?? fail("conflict", NOT_KEPT), isRepeated: true };
  }
  const done = await work().catch(async (error) => {
    await answers.releaseName(name);
    throw error;
  });
  const { status } = done;
  const body = JSON.stringify(done.body);
  const mayKeep = !request.answersSecret && body.length <= MAX_BODY_CHARS;
  await answers.keepAnswer(name, { status, body: mayKeep ? body : null });
  return { status, body, isRepeated: false };
}

const ANOTHER =
  "This Idempotency-Key was sent with another request in the last 24 hours. Send a new one for a new request.";
const UNKNOWN_END =
  "The request with this Idempotency-Key is under way, or was broken off. Look whether it was done, then send it with a new one.";
const NOT_KEPT =
  "The request with this Idempotency-Key was done. Its answer showed a secret or was too long, and was not kept: list what it made, and revoke it if you do not have its secret.";

function refuseMore(): never {
  return fail(
    "rate_limit_exceeded",
    `A key may send ${MAX_NAMES} requests with an Idempotency-Key in 24 hours.`,
    { metadata: { limit_source: "key" }, retryAfterS: 3_600 },
  );
}
