import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createAccountTools } from "../../support/gateway/management.ts";
import { callWithSession, type SignedIn, signIn } from "../../support/gateway/sign-in.ts";

let gateway: TestGateway;
let operator: SignedIn;

beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: "console: { hosts: [console.example] }\nserver: { trusted_proxies: [127.0.0.1] }",
  });
  operator = await signIn(gateway, { key: gateway.adminKey });
});
afterAll(() => gateway.stop());

/** Sends a request with the session and exactly these headers. */
async function send(
  method: string,
  headers: Readonly<Record<string, string>>,
  path = "/api/admin/users",
): Promise<number> {
  const body = method === "POST" ? JSON.stringify({ name: "Eve" }) : null;
  const response = await fetch(gateway.url + path, {
    method,
    headers: { cookie: operator.cookie, ...headers },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}

const JSON_TYPE = { "content-type": "application/json" };
const ORIGIN = (): string => gateway.url;

describe("a changing request with a console session (cross-site request forgery)", () => {
  test("is accepted from the console's own origin", async () => {
    expect(await send("POST", { ...JSON_TYPE, "sec-fetch-site": "same-origin" })).toBe(201);
    expect(await send("POST", { ...JSON_TYPE, origin: ORIGIN() })).toBe(201);
  });

  test.each(["cross-site", "same-site", "none", ""])(
    "is rejected with Sec-Fetch-Site %p, also with a matching Origin",
    async (site) => {
      expect(await send("POST", { ...JSON_TYPE, "sec-fetch-site": site, origin: ORIGIN() })).toBe(403);
    },
  );

  test.each(["https://evil.example", "null", "http://127.0.0.1:1", ""])(
    "is rejected with the Origin %p",
    async (origin) => {
      expect(await send("POST", { ...JSON_TYPE, origin })).toBe(403);
    },
  );

  test("is rejected if it names neither site nor origin", async () => {
    expect(await send("POST", JSON_TYPE)).toBe(403);
    expect(await send("DELETE", {}, "/api/admin/sessions/sess_none")).toBe(403);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/json-seq",
  ])("is rejected with the content type %s, which a form could send or which is not JSON", async (type) => {
    expect(await send("POST", { "content-type": type, "sec-fetch-site": "same-origin" })).toBe(415);
  });

  test("has changed nothing where it was rejected", async () => {
    await send("POST", { ...JSON_TYPE, "sec-fetch-site": "cross-site" });
    const { body } = await callWithSession(gateway, operator, { path: "/api/admin/users?limit=100" });
    // Two were accepted above.
    expect((body["data"] as { name: string }[]).filter(({ name }) => name === "Eve")).toHaveLength(2);
  });
});

describe("a reading request with a console session", () => {
  test.each([{}, { "sec-fetch-site": "none" }, { "sec-fetch-site": "same-origin" }])(
    "is accepted with %j",
    async (headers) => {
      expect(await send("GET", headers)).toBe(200);
    },
  );

  test.each(["cross-site", "same-site"])("is rejected with Sec-Fetch-Site %s", async (site) => {
    expect(await send("GET", { "sec-fetch-site": site })).toBe(403);
  });
});

describe("the host of a request with a console session (DNS rebinding)", () => {
  test.each([
    "localhost",
    "gateway.localhost:8080",
    "127.0.0.1:1",
    "[::1]:8080",
    "10.0.0.7",
    "console.example:443",
  ])("is accepted: %s", async (host) => {
    expect(await send("GET", { host })).toBe(200);
  });

  test.each(["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "xconsole.example", ""])(
    "is rejected: %p",
    async (host) => {
      expect(await send("GET", { host })).toBe(403);
      expect((await signIn(gateway, { key: gateway.adminKey }, { host })).status).toBe(403);
    },
  );

  test("is named by the error, with what to configure", async () => {
    const { body } = await callWithSession(gateway, operator, {
      path: "/api/admin/users",
      headers: { host: "evil.example" },
    });
    expect(body).toMatchObject({
      error: {
        message: expect.stringMatching(/"evil\.example".*console\.hosts.*console\.url/),
        metadata: { host: "evil.example" },
      },
    });
  });

  test("is checked for the page of the console, which says what to configure and escapes the host", async () => {
    const page = await fetch(`${gateway.url}/console`, { headers: { host: "evil.example" } });
    expect(page.status).toBe(403);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await page.text()).toMatch(/&quot;evil\.example&quot;.*console\.hosts/);
  });

  test("does not matter to a request with an API key", async () => {
    const response = await fetch(`${gateway.url}/api/admin/users`, {
      headers: { host: "evil.example", authorization: `Bearer ${gateway.adminKey}` },
    });
    expect(response.status).toBe(200);
  });
});

describe("a sign-in", () => {
  test.each([{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }])(
    "is rejected from another site: %j",
    async (headers) => {
      expect((await signIn(gateway, { key: gateway.adminKey }, headers)).status).toBe(403);
    },
  );

  test("is accepted from a script, which is no browser", async () => {
    const response = await fetch(`${gateway.url}/api/console/session`, {
      method: "POST",
      headers: JSON_TYPE,
      body: JSON.stringify({ key: gateway.adminKey }),
    });
    expect(response.status).toBe(201);
  });

  test("through a trusted proxy with TLS sets a cookie for TLS and the host only", async () => {
    const tls = { "x-forwarded-proto": "https", host: "console.example" };
    const signedIn = await signIn(gateway, { key: gateway.adminKey }, tls);
    expect(signedIn.headers.get("set-cookie")).toMatch(
      /^__Host-gateway_session=.*; Path=\/; HttpOnly; SameSite=Strict; .*; Secure$/,
    );
    expect(signedIn.body["base_url"]).toBe("https://console.example");
    const path = "/api/console/session";
    expect((await callWithSession(gateway, signedIn, { path, headers: tls })).status).toBe(200);
    // The name without prefix, which a neighbouring subdomain could have set.
    const plain = { cookie: signedIn.cookie.replace("__Host-", "") };
    expect((await callWithSession(gateway, plain, { path, headers: tls })).status).toBe(401);
  });
});

describe("failed sign-ins", () => {
  test("of one address are limited, and neither a valid key of it nor another address has to wait", async () => {
    const fresh = await startTestGateway({ yaml: "server: { trusted_proxies: [127.0.0.1] }" });
    try {
      const from = (address: string, key: string) => signIn(fresh, { key }, { "x-forwarded-for": address });
      for (let failed = 0; failed < 10; failed++)
        expect((await from("203.0.113.7", "gw_unknown")).status).toBe(401);
      const limited = await from("203.0.113.7", "gw_unknown");
      expect([limited.status, Number(limited.headers.get("retry-after")) > 0]).toEqual([429, true]);
      expect((await from("203.0.113.7", fresh.adminKey)).status).toBe(201);
      expect((await from("203.0.113.7", "gw_unknown")).status).toBe(429);
      expect((await from("203.0.113.8", "gw_unknown")).status).toBe(401);
    } finally {
      await fresh.stop();
    }
  });

  test("are not counted when they succeed", async () => {
    for (let count = 0; count < 12; count++)
      expect((await signIn(gateway, { key: gateway.adminKey })).status).toBe(201);
  });
});

describe("the configuration of the console", () => {
  test("with enabled: false there are no sessions, and a cookie is ignored", async () => {
    const closed = await startTestGateway({ yaml: "console: { enabled: false }" });
    try {
      expect((await signIn(closed, { key: closed.adminKey })).status).toBe(404);
      const path = "/api/console/session";
      expect((await callWithSession(closed, operator, { path })).status).toBe(401);
      expect(await createAccountTools(closed).user()).toStartWith("user_");
    } finally {
      await closed.stop();
    }
  });

  test("with a url accepts its host and its origin behind a proxy that changes the host, and uses TLS", async () => {
    const proxied = await startTestGateway({ yaml: "console: { url: https://gateway.example }" });
    try {
      const host = "gateway.example";
      const direct = await signIn(proxied, { key: proxied.adminKey }, { host });
      expect(direct.headers.get("set-cookie")).toStartWith("__Host-");
      expect(direct.body["base_url"]).toBe("https://gateway.example");
      const behind = await signIn(proxied, { key: proxied.adminKey });
      const answer = await fetch(`${proxied.url}/api/admin/users`, {
        method: "POST",
        headers: { cookie: behind.cookie, origin: "https://gateway.example", ...JSON_TYPE },
        body: JSON.stringify({ name: "Ada" }),
      });
      expect(answer.status).toBe(201);
    } finally {
      await proxied.stop();
    }
  });
});
