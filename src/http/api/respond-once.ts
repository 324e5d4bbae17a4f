import { fail, GatewayError } from "../../base/failures/errors.ts";
import { DAY_MS } from "../../base/time/time.ts";
import {
  describeBadName,
  describeTooManyNames,
  isIdempotencyName,
  MAX_NAMES,
  OTHER_REQUEST,
} from "../../core/idempotency/idempotency-name.ts";
import type { IdempotencyKey, StoredResponseStore } from "../../core/idempotency/stored-response-store.ts";

/** How long a response is stored. Milliseconds. */
const RETENTION_MS = DAY_MS;
/** The longest body that is stored. Characters. */
const MAX_BODY_CHARS = 65_536;

/** A request with an `Idempotency-Key`. */
interface IdempotentRequest {
  /** The value of the header. */
  readonly name: string;
  /** The id of the credentials that sent the request. */
  readonly keyId: string;
  /** Everything in which two requests can differ: method, path and body. */
  readonly content: string;
  /** The response contains a secret, which is not stored. */
  readonly respondsWithSecret: boolean;
}

/** The dependencies of `respondOnce`. */
interface ResponseStorage {
  readonly responses: StoredResponseStore;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A new or a stored response. */
interface IdempotentResponse {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly isRepeated: boolean;
}

/**
 * Runs a request's work once per idempotency key and day, and returns the same response every time. A request that was
 * rejected has changed nothing and may be repeated.
 * @throws GatewayError `conflict` if the key was used for another request, if its request is still running, or if its response
 * was not stored; `invalid_request` for a malformed key; `rate_limit_exceeded` for too many keys.
 */
export async function respondOnce(
  { responses, now }: ResponseStorage,
  request: IdempotentRequest,
  work: () => Promise<{ readonly status: number; readonly body: unknown }>,
): Promise<IdempotentResponse> {
  if (!isIdempotencyName(request.name)) throw new GatewayError(describeBadName());
  const key: IdempotencyKey = { scope: request.keyId, name: request.name };
  const fingerprint = Bun.SHA256.hash(request.content, "hex");
  const at = now();
  const expiredAt = at - RETENTION_MS;
  const claim = await responses.claimKey(key, { fingerprint, at, expiredAt, maxNames: MAX_NAMES });
  if (claim.kind === "full") throw new GatewayError(describeTooManyNames());
  if (claim.kind === "repeated") {
    if (claim.fingerprint !== fingerprint) return fail("conflict", OTHER_REQUEST);
    const { status, body } = claim.answer ?? fail("conflict", UNKNOWN_OUTCOME);
    return { status, body: body ?? fail("conflict", NOT_STORED), isRepeated: true };
  }
  const done = await work().catch(async (error) => {
    await responses.releaseKey(key);
    throw error;
  });
  const { status } = done;
  const body = JSON.stringify(done.body);
  const mayStore = !request.respondsWithSecret && body.length <= MAX_BODY_CHARS;
  await responses.storeResponse(key, { status, body: mayStore ? body : null });
  return { status, body, isRepeated: false };
}

const UNKNOWN_OUTCOME =
  "The request with this Idempotency-Key is still running, or was interrupted. Check whether it took effect before you repeat it with a new key.";
const NOT_STORED =
  "The request with this Idempotency-Key succeeded, but its response contains a secret or is too long and was not stored. List what it created, and revoke any key whose secret you do not have.";
