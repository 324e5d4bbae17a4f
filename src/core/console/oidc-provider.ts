/** The values that a sign-in keeps in the browser until it returns from the provider. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  /** The verifier of PKCE. */
  readonly verifier: string;
}

/** The claims of an ID token whose signature, issuer, audience, times and nonce are valid. */
export interface OidcClaims {
  readonly iss: string;
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** How a person is to sign in at the provider. */
export interface OidcSignIn {
  /** The address that the browser comes back to. */
  readonly redirectUri: string;
  /** Whether the person must sign in again, although the provider knows them. */
  readonly again: boolean;
}

/** A connection to an OpenID Connect provider. */
export interface OidcProvider {
  /** Begins a sign-in: returns the address to send the browser to, and what to check when it comes back. */
  begin(signIn: OidcSignIn): Promise<{ readonly url: string; readonly checks: OidcChecks }>;
  /**
   * Completes a sign-in. Claims that the rules need and the ID token lacks are read from the userinfo endpoint. `currentUrl` is the address
   * that the browser was redirected to, with its query.
   * @throws OidcError if the provider refuses, cannot be reached, or sends an invalid answer.
   */
  complete(currentUrl: URL, checks: OidcChecks): Promise<OidcClaims>;
  /**
   * Returns the address to which to send a browser that signs out, so that the provider signs it out too; null if the provider has no such
   * address.
   */
  signOutUrl(returnTo: string): Promise<string | null>;
  /**
   * Returns the issuer and subject of a logout token of the provider (OpenID Connect Back-Channel Logout 1.0).
   * @throws OidcError if the token is not valid, or names no subject.
   */
  readLogoutToken(token: string): Promise<Pick<OidcClaims, "iss" | "sub">>;
}

/**
 * Returns the time of a person's last sign-in at the provider, in milliseconds since the epoch; 0 if the provider does not state it. `now`
 * bounds it, because the clock of the provider may be ahead.
 */
export function authenticatedAtOf(claims: OidcClaims, now: number): number {
  const seconds = claims["auth_time"];
  return typeof seconds === "number" && seconds > 0 ? Math.min(seconds * 1000, now) : 0;
}

/** A sign-in through an OpenID Connect provider has failed. The message is public. */
export class OidcError extends Error {
  constructor(
    message: string,
    /** Details for the log. */
    readonly internal: string,
  ) {
    super(message);
    this.name = "OidcError";
  }
}

/**
 * Rejects a sign-in that a provider completed without asking the person, so that the browser is not redirected back and forth. `maxMs` is
 * how long a sign-in suffices; null if forever. `now` is in milliseconds since the epoch.
 * @throws OidcError
 */
export function requireSignedInAgain(authenticatedAt: number, maxMs: number | null, now: number): void {
  if (maxMs === null || now - authenticatedAt <= maxMs) return;
  throw new OidcError(
    authenticatedAt === 0
      ? "The provider does not say when you signed in (auth_time), so this cannot be done with its sign-in. Ask the operator to set console.oidc.reauthenticate_ms: null, or use a management key."
      : "The provider did not ask you to sign in again. Sign out there, and try again.",
    `auth_time is ${new Date(authenticatedAt).toISOString()}`,
  );
}
