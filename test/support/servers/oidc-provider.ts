import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** A local OpenID Connect provider. Each sign-in is granted at once, to the person that the test has set. */
export interface TestOidcProvider {
  readonly issuer: string;
  /** The claims of the next ID tokens, besides those of the protocol. */
  person: { readonly sub: string; readonly [claim: string]: unknown };
  /** What the userinfo endpoint says besides the subject; null if it fails. */
  userInfo: Readonly<Record<string, unknown>> | null;
  /** When the person last signed in at the provider. Milliseconds since the epoch. */
  signedInAt: number;
  /** Whether the provider asks a person again who must sign in again. */
  asksAgain: boolean;
  /** The parameters of the last authorization request. */
  asked: URLSearchParams;
  /** Replaces claims of the next ID tokens, to make them invalid. */
  forged: Readonly<Record<string, unknown>>;
  /** Whether the next ID tokens are signed with a key that the provider does not publish. */
  signsWithOtherKey: boolean;
  /** The number of browsers that have signed out at the provider. */
  signOuts: number;
  /** Follows an authorization request as a browser does. Returns the address that the browser is sent back to. */
  authorize(url: string): URL;
  /** Signs a logout token. */
  logoutToken(claims: Readonly<Record<string, unknown>>): Promise<string>;
  stop(): void;
}

const CLIENT_ID = "gateway";

interface Grant {
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectUri: string;
  /** Set if the request has a maximum age. Seconds. */
  readonly authTime: number | null;
}

/** Starts a provider with one client, `gateway`, whose secret is `secret`. */
export async function startOidcProvider(): Promise<TestOidcProvider> {
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const other = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "key", alg: "RS256", use: "sig" };
  const grants = new Map<string, Grant>();
  const sign = (claims: Readonly<Record<string, unknown>>) =>
    new SignJWT({ iss: issuer, aud: CLIENT_ID, exp: Math.floor(Date.now() / 1000) + 300, ...claims })
      .setProtectedHeader({ alg: "RS256", kid: "key" })
      .setIssuedAt()
      .sign(provider.signsWithOtherKey ? other.privateKey : privateKey);

  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/.well-known/openid-configuration": () =>
        Response.json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/jwks`,
          end_session_endpoint: `${issuer}/logout`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"],
          code_challenge_methods_supported: ["S256"],
        }),
      "/authorize": ({ url }) => Response.redirect(provider.authorize(url).href),
      "/logout": ({ url }) => {
        provider.signOuts += 1;
        return Response.redirect(new URL(url).searchParams.get("post_logout_redirect_uri") ?? issuer);
      },
      "/userinfo": (request) => {
        const isKnown = request.headers.get("authorization") === "Bearer token";
        if (!isKnown || provider.userInfo === null) return new Response("failed", { status: 500 });
        return Response.json({ sub: provider.person.sub, ...provider.userInfo });
      },
      "/jwks": () => Response.json({ keys: [jwk] }),
      "/token": {
        POST: async (request) => {
          const form = new URLSearchParams(await request.text());
          const grant = grants.get(form.get("code") ?? "");
          const verifier = new Bun.CryptoHasher("sha256").update(form.get("code_verifier") ?? "");
          const isValid =
            grant?.challenge === verifier.digest("base64url") &&
            grant.redirectUri === form.get("redirect_uri") &&
            form.get("client_secret") === "secret";
          if (!isValid) return Response.json({ error: "invalid_grant" }, { status: 400 });
          grants.delete(form.get("code") ?? "");
          const authTime = grant.authTime === null ? {} : { auth_time: grant.authTime };
          const id_token = await sign({
            ...provider.person,
            ...authTime,
            nonce: grant.nonce,
            ...provider.forged,
          });
          return Response.json({ access_token: "token", token_type: "Bearer", id_token });
        },
      },
    },
    fetch: () => new Response("not found", { status: 404 }),
  });
  const issuer = `http://127.0.0.1:${server.port}`;
  const provider: TestOidcProvider = {
    issuer,
    person: { sub: "1" },
    forged: {},
    userInfo: {},
    signedInAt: Date.now(),
    asksAgain: true,
    signsWithOtherKey: false,
    asked: new URLSearchParams(),
    signOuts: 0,
    authorize(address) {
      const { searchParams } = new URL(address);
      provider.asked = searchParams;
      if (searchParams.get("prompt") === "login" && provider.asksAgain) provider.signedInAt = Date.now();
      const code = crypto.randomUUID();
      const text = (name: string): string => searchParams.get(name) ?? "";
      const redirectUri = text("redirect_uri");
      const authTime = searchParams.has("max_age") ? Math.floor(provider.signedInAt / 1000) : null;
      grants.set(code, { nonce: text("nonce"), challenge: text("code_challenge"), redirectUri, authTime });
      const back = new URL(redirectUri);
      back.searchParams.set("code", code);
      back.searchParams.set("state", text("state"));
      return back;
    },
    logoutToken: sign,
    stop: () => void server.stop(true),
  };
  return provider;
}
