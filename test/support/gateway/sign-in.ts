import type { TestGateway } from "./gateway.ts";

/** A browser that has signed in to the console. */
export interface SignedIn {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  /** The cookie as a browser sends it: name and value. Empty if the sign-in failed. */
  readonly cookie: string;
}

/** Signs in to the console with a key or a code, as its page does. */
export async function signIn(
  gateway: Pick<TestGateway, "url">,
  credentials: { readonly key: string } | { readonly code: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<SignedIn> {
  const response = await fetch(`${gateway.url}/api/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin", ...headers },
    body: JSON.stringify(credentials),
  });
  const { status } = response;
  const body = (await response.json()) as SignedIn["body"];
  const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { status, headers: response.headers, body, cookie };
}

/** An answer to a request with a session. */
export interface SessionAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a request with a session's cookie, as the console's page does. `path` begins with `/api`. */
export async function callWithSession(
  gateway: Pick<TestGateway, "url">,
  { cookie }: Pick<SignedIn, "cookie">,
  {
    method = "GET",
    path,
    body,
    headers = {},
  }: {
    readonly method?: string;
    readonly path: string;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<SessionAnswer> {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      cookie,
      "sec-fetch-site": "same-origin",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { status } = response;
  return { status, headers: response.headers, body: (await response.json()) as SessionAnswer["body"] };
}

/** Returns the id of the session of a browser. */
export async function findSessionId(
  gateway: Pick<TestGateway, "url">,
  signedIn: Pick<SignedIn, "cookie">,
): Promise<string> {
  const { body } = await callWithSession(gateway, signedIn, { path: "/api/admin/sessions" });
  const sessions = body["data"] as { readonly id: string; readonly is_current: boolean }[];
  return sessions.find(({ is_current }) => is_current)?.id ?? "";
}
