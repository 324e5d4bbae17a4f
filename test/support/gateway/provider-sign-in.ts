import type { TestOidcProvider } from "../servers/oidc-provider.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./gateway.ts";

/** Where a provider sends a browser back to, and the cookie of the sign-in. */
interface BegunSignIn {
  readonly back: URL;
  readonly cookie: string;
}

/** What a browser gets that comes back from a provider. */
export interface ReturnedBrowser {
  readonly status: number;
  readonly location: string | null;
  readonly page: string;
  /** The session's cookie; empty without a session. */
  readonly cookie: string;
}

/** Starts a gateway again with a provider, whose rules may name what the first start has made. */
export async function restartWithProvider(
  first: TestGateway,
  { issuer }: Pick<TestOidcProvider, "issuer">,
  oidc: object,
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  await first.stop({ keepData: true });
  const known = { issuer, client_id: "gateway", client_secret: "secret" };
  return startTestGateway({
    ...options,
    dataDir: first.dataDir,
    key: first.key,
    yaml: JSON.stringify({ console: { oidc: { ...known, ...oidc } } }),
  });
}

/** Begins a sign-in through a provider, which grants it at once. */
export async function beginProviderSignIn(
  { url }: Pick<TestGateway, "url">,
  provider: TestOidcProvider,
  { query = "", cookie = "" }: { readonly query?: string; readonly cookie?: string } = {},
): Promise<BegunSignIn> {
  const started = await fetch(`${url}/api/console/oidc/start${query}`, {
    redirect: "manual",
    headers: { cookie },
  });
  if (started.status !== 303) throw new Error(`The sign-in has not begun: ${await started.text()}`);
  const [sent = ""] = started.headers.getSetCookie();
  return {
    back: provider.authorize(started.headers.get("location") ?? ""),
    cookie: sent.split(";")[0] ?? "",
  };
}

/** Comes back from a provider with a cookie, as a browser does. */
export async function returnFromProvider({ back, cookie }: BegunSignIn): Promise<ReturnedBrowser> {
  const response = await fetch(back, { redirect: "manual", headers: { cookie } });
  const cookies = response.headers.getSetCookie().map((one) => one.split(";")[0] as string);
  return {
    status: response.status,
    location: response.headers.get("location"),
    page: await response.text(),
    cookie: cookies.find((one) => one.startsWith("gateway_session=")) ?? "",
  };
}

/** Signs a person in through a provider. */
export async function signInThroughProvider(
  gateway: Pick<TestGateway, "url">,
  provider: TestOidcProvider,
  person: TestOidcProvider["person"],
): Promise<ReturnedBrowser> {
  provider.person = person;
  return returnFromProvider(await beginProviderSignIn(gateway, provider));
}
