import type { Configuration, CustomFetch } from "openid-client";
import type { Clock } from "../../base/time/clock.ts";
import { addClaims, findUnknown } from "../../core/console/find-claim.ts";
import {
  type OidcChecks,
  type OidcClaims,
  OidcError,
  type OidcProvider,
  type OidcSignIn,
} from "../../core/console/oidc-provider.ts";

/** How to reach an OpenID Connect provider. */
interface OpenIdOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Returns the secret of the client. Read again with the provider's addresses, because it may be in a file that has changed. */
  readonly clientSecret: () => string;
  readonly scopes: readonly string[];
  /** The names of the claims that rules depend on. */
  readonly neededClaims: readonly string[];
  /** The maximum time since the person's last sign-in at the provider, after which the provider asks again. Null: no limit. Milliseconds. */
  readonly maxAgeMs: number | null;
  readonly clock: Clock;
}

/** After this time the provider's addresses are read again. Milliseconds. */
const REFRESH_MS = 3_600_000;
/** The longest wait for a response of the provider. */
const TIMEOUT_S = 10;
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** The library is loaded at the first sign-in, because most gateways do not need it. */
const loadClient = () => import("openid-client");

/** A provider by the certified client library. */
export class OpenIdClient implements OidcProvider {
  private known: { readonly config: Configuration; readonly readAt: number } | null = null;

  constructor(private readonly options: OpenIdOptions) {}

  async begin({ redirectUri, again }: OidcSignIn) {
    const client = await loadClient();
    const config = await this.discover();
    const checks: OidcChecks = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: this.options.scopes.join(" "),
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: "S256",
      ...this.ageParameters(again),
    });
    return { url: url.href, checks };
  }

  async complete(currentUrl: URL, { state, nonce, verifier }: OidcChecks): Promise<OidcClaims> {
    const client = await loadClient();
    const config = await this.discover();
    try {
      const tokens = await client.authorizationCodeGrant(config, currentUrl, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error("the response has no ID token");
      return await this.addUserInfo(claims as OidcClaims, config, tokens.access_token);
    } catch (error) {
      throw new OidcError(
        "The sign-in at the provider did not succeed. Try again; if it fails again, the gateway's log says why.",
        describe(error),
      );
    }
  }

  /** With a maximum age, a provider must state when the person signed in (`auth_time`). */
  private ageParameters(again: boolean): Readonly<Record<string, string>> {
    if (again) return { prompt: "login", max_age: "0" };
    const { maxAgeMs } = this.options;
    return maxAgeMs === null ? {} : { max_age: String(Math.floor(maxAgeMs / 1000)) };
  }

  /**
   * Asks the userinfo endpoint if a claim is missing. If that fails and a rule needs the claim, the sign-in fails too. Without an e-mail
   * the sign-in continues.
   */
  private async addUserInfo(
    claims: OidcClaims,
    config: Configuration,
    accessToken: string,
  ): Promise<OidcClaims> {
    const missing = this.options.neededClaims.filter((path) => findUnknown(claims, path) !== null);
    const lacksEmail = this.options.scopes.includes("email") && claims["email_verified"] === undefined;
    const hasEndpoint = config.serverMetadata().userinfo_endpoint !== undefined;
    if (!hasEndpoint || (missing.length === 0 && !lacksEmail)) return claims;
    try {
      const client = await loadClient();
      const info = await client.fetchUserInfo(config, accessToken, claims.sub);
      return { ...addClaims(claims, missing, info), ...findEmail(claims, info) };
    } catch (error) {
      if (missing.length > 0) throw error;
      return claims;
    }
  }

  async signOutUrl(returnTo: string): Promise<string | null> {
    const client = await loadClient();
    const config = await this.discover();
    if (config.serverMetadata().end_session_endpoint === undefined) return null;
    return client.buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo }).href;
  }

  async readLogoutToken(token: string): Promise<Pick<OidcClaims, "iss" | "sub">> {
    const { createRemoteJWKSet, jwtVerify } = await import("jose");
    const { issuer, jwks_uri } = (await this.discover()).serverMetadata();
    try {
      const keys = createRemoteJWKSet(new URL(jwks_uri ?? ""), { timeoutDuration: TIMEOUT_S * 1000 });
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: this.options.clientId,
        maxTokenAge: "5 min",
        currentDate: new Date(this.options.clock.now()),
      });
      const events = payload["events"] as Readonly<Record<string, unknown>> | undefined;
      if (events?.[LOGOUT_EVENT] === undefined) throw new Error("it has no event of a logout");
      if (payload["nonce"] !== undefined) throw new Error("it has a nonce");
      if (payload.sub === undefined) throw new Error("it has no sub");
      return { iss: payload.iss ?? issuer, sub: payload.sub };
    } catch (error) {
      throw new OidcError("The logout token is not valid.", describe(error));
    }
  }

  /** Returns the addresses and keys of the provider. */
  private async discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret, clock } = this.options;
    const now = clock.now();
    if (this.known !== null && now - this.known.readAt < REFRESH_MS) return this.known.config;
    const client = await loadClient();
    const url = new URL(issuer);
    // Without this check, only TLS to the provider would prove that a token is genuine.
    const execute = [client.enableNonRepudiationChecks];
    if (url.protocol === "http:") execute.push(client.allowInsecureRequests);
    try {
      const config = await client.discovery(url, clientId, clientSecret(), undefined, {
        execute,
        timeout: TIMEOUT_S,
        [client.customFetch]: fetchBounded as CustomFetch,
      });
      this.known = { config, readAt: now };
      return config;
    } catch (error) {
      throw new OidcError(
        "The identity provider cannot be reached. Try again later, or sign in with a management key.",
        describe(error),
      );
    }
  }
}

/** Returns the e-mail of a person, completed by the userinfo endpoint. Whether it is verified is only used for the same address. */
function findEmail(
  { email }: OidcClaims,
  info: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (email !== undefined && email !== info["email"]) return {};
  return { email: info["email"], email_verified: info["email_verified"] };
}

/** Describes an error of the library with its cause, or with the error that the provider has sent. These say what was wrong. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? ` (${String(error.code)})` : "";
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error.message}${code}${cause}${describeResponse(error)}`;
}

/** The longest part of a provider's own error that is shown. Characters. */
const MAX_SHOWN = 300;

/** Returns the `error` and `error_description` of a response of the provider (RFC 6749, 4.1.2.1 and 5.2); empty if it sent none. */
function describeResponse(error: Error): string {
  const { error: name, error_description: text } = error as { error?: unknown; error_description?: unknown };
  const sent = [name, text].filter((part) => typeof part === "string" && part !== "");
  return sent.length === 0 ? "" : `: ${sent.join(": ").slice(0, MAX_SHOWN)}`;
}

/** The longest response of the provider. Bytes. */
const MAX_BYTES = 1_048_576;

/**
 * Fetches a response of the OpenID Connect provider with its whole body.
 * @throws Error if the body is longer than a mebibyte.
 */
async function fetchBounded(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { status, headers } = response;
  return new Response(await readBounded(response), { status, headers });
}

async function readBounded({ body }: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (body === null) return null;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    // Leaving the loop cancels the rest.
    if (bytes > MAX_BYTES) throw new Error(`the response has more than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
