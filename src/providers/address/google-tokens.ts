import type { Clock } from "../../base/time/clock.ts";
import { type Transport, TransportError, type UpstreamResponse } from "../../core/deployments/transport.ts";
import { AuthorizeError } from "../../core/deployments/upstream-address.ts";
import { type ServiceAccount, signAssertion } from "./service-account.ts";

/** The dependencies of a token source. */
interface TokenDeps {
  readonly clock: Clock;
  readonly transport: Transport;
  /** The token endpoint. The one in a key file is ignored, because a file must not decide which host is called. */
  readonly tokenUrl: URL;
}

/** Provides the access tokens of a service account. */
export interface TokenSource {
  /** Returns a token that is valid for at least some more minutes; not as a promise if it is cached. Rejects with an `AuthorizeError`. */
  token(): string | Promise<string>;
}

export const GOOGLE_TOKEN_URL = "https://oauth2.googleapis.com/token";

const TIMEOUT_MS = 10_000;
/** A token is used until this long before its end. Milliseconds. */
const MARGIN_MS = 300_000;
/** How long a rejection is repeated without a further exchange. Milliseconds. */
const REJECTION_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Creates a token source that makes one exchange at a time and caches the token until shortly before it expires. */
export function createTokenSource(account: ServiceAccount, deps: TokenDeps): TokenSource {
  const { clock } = deps;
  let cached: { readonly token: string; readonly validUntil: number } | null = null;
  let rejection: { readonly error: AuthorizeError; readonly until: number } | null = null;
  let pending: Promise<string> | null = null;

  async function fetchToken(): Promise<string> {
    try {
      const { token, lifeMs } = await exchangeAssertion(account, deps);
      cached = { token, validUntil: clock.now() + lifeMs - MARGIN_MS };
      return token;
    } catch (error) {
      if (error instanceof AuthorizeError && error.kind === "refused")
        rejection = { error, until: clock.now() + REJECTION_MS };
      throw error;
    } finally {
      pending = null;
    }
  }

  return {
    token() {
      const now = clock.now();
      if (cached !== null && now < cached.validUntil) return cached.token;
      if (rejection !== null && now < rejection.until) return Promise.reject(rejection.error);
      pending ??= fetchToken();
      return pending;
    },
  };
}

interface Token {
  readonly token: string;
  readonly lifeMs: number;
}

/** Exchanges a signed assertion for a token (RFC 7523). Rejects with an `AuthorizeError`. */
async function exchangeAssertion(account: ServiceAccount, deps: TokenDeps): Promise<Token> {
  const assertion = signAssertion(account, deps.tokenUrl.href, deps.clock.now());
  const exchange = deps.transport.open({
    url: deps.tokenUrl,
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: Buffer.from(new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString()),
    connectTimeoutMs: TIMEOUT_MS,
  });
  const timer = deps.clock.after(TIMEOUT_MS, () => exchange.cancel());
  try {
    const response = await exchange.response;
    return readToken(response.status, await readJson(response));
  } catch (error) {
    throw error instanceof TransportError
      ? new AuthorizeError("unavailable", `${deps.tokenUrl.host} returned no token: ${error.message}`)
      : error;
  } finally {
    timer.cancel();
    exchange.cancel();
  }
}

/** Reads a JSON object. Returns null if the body is not an object or too large. */
async function readJson(response: UpstreamResponse): Promise<Record<string, unknown> | null> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let piece = await response.read(); piece !== null; piece = await response.read()) {
    pieces.push(piece);
    size += piece.length;
    if (size > MAX_ANSWER_BYTES) return null;
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function readToken(status: number, body: Record<string, unknown> | null): Token {
  const token = body?.["access_token"];
  const life = body?.["expires_in"];
  if (status === 200 && typeof token === "string" && token !== "")
    return { token, lifeMs: typeof life === "number" ? life * 1000 : MARGIN_MS };
  const kind = status >= 400 && status < 500 && status !== 429 ? "refused" : "unavailable";
  const words = [body?.["error"], body?.["error_description"]].filter((word) => typeof word === "string");
  throw new AuthorizeError(kind, `no token (HTTP ${status}): ${words.join(", ").slice(0, 200)}`);
}
