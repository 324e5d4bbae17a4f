import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { signIn } from "../../support/gateway/sign-in.ts";

const APP = "https://app.example.com";
const ALLOW = "access-control-allow-origin";

let some: TestGateway;
let all: TestGateway;
let none: TestGateway;

beforeAll(async () => {
  some = await startTestGateway({ yaml: JSON.stringify({ server: { cors: { origins: [APP] } } }) });
  all = await startTestGateway({ yaml: JSON.stringify({ server: { cors: { origins: ["*"] } } }) });
  none = await startTestGateway();
});
afterAll(async () => {
  for (const gateway of [some, all, none]) await gateway.stop();
});

const CHAT = { model: "sandbox/echo", messages: [{ role: "user", content: "Hi" }] };

async function preflight(gateway: TestGateway, path: string, origin = APP): Promise<Response> {
  const response = await fetch(gateway.url + path, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,x-stainless-os",
    },
  });
  await response.arrayBuffer();
  return response;
}

describe("with server.cors.origins, a page of a listed origin", () => {
  test("gets an answer to its preflight without a key", async () => {
    const { status, headers } = await preflight(some, "/v1/chat/completions");
    expect(status).toBe(204);
    expect(Object.fromEntries(headers)).toMatchObject({
      [ALLOW]: APP,
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": "authorization,content-type,x-stainless-os",
      "access-control-max-age": "7200",
      vary: "access-control-request-headers, origin",
    });
  });

  test("may read answers, streams and errors with all their headers, but send no cookies", async () => {
    const headers = { origin: APP };
    const answers = [
      await postChat(some, CHAT, headers),
      await postChat(some, { ...CHAT, stream: true }, headers),
      await postChat(some, { model: "acme/unknown" }, headers),
      await postChat(some, CHAT, { ...headers, authorization: "Bearer gw_invalid" }),
      await fetch(`${some.base}/models`, { headers }),
      await fetch(`${some.url}/api/fim/completions`, { method: "POST", headers }),
    ];
    for (const answer of answers) await answer.arrayBuffer();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 401, 200, 401]);
    for (const { headers: got } of answers)
      expect([got.get(ALLOW), got.get("access-control-expose-headers"), got.get("vary")]).toEqual([
        APP,
        "*",
        expect.stringContaining("origin"),
      ]);
    expect(answers.some(({ headers: got }) => got.has("access-control-allow-credentials"))).toBe(false);
    expect(answers[0]?.headers.get("x-gateway-generation-id")).toMatch(/^gen_/);
  });

  test("may read that a path is not served", async () => {
    const asked = await preflight(some, "/v1/chat/completion");
    expect([asked.status, asked.headers.get(ALLOW)]).toEqual([204, APP]);
    const headers = { origin: APP, "content-type": "application/json" };
    const answer = await fetch(`${some.url}/v1/chat/completion`, { method: "POST", headers, body: "{}" });
    expect([answer.status, answer.headers.get(ALLOW)]).toEqual([404, APP]);
    expect(await answer.text()).toContain("POST /v1/chat/completions");
  });

  test("may not call the management API, the console or its sign-in, and reads none of their answers", async () => {
    const session = await signIn(some, { key: some.adminKey });
    for (const path of ["/api/admin/users", "/api/console/session", "/console", "/metrics"]) {
      const asked = await preflight(some, path);
      expect([path, asked.status, asked.headers.get(ALLOW)]).toEqual([path, 405, null]);
      const headers = { origin: APP, cookie: session.cookie, "sec-fetch-site": "cross-site" };
      const read = await fetch(some.url + path, { headers });
      await read.arrayBuffer();
      expect([path, read.headers.get(ALLOW)]).toEqual([path, null]);
    }
  });
});

test.each(["https://evil.example", "http://app.example.com", "https://app.example.com.evil.example", "null"])(
  "a page of the origin %p, which is not listed, is rejected and reads nothing",
  async (origin) => {
    const asked = await preflight(some, "/v1/chat/completions", origin);
    expect([asked.status, asked.headers.get(ALLOW), asked.headers.get("vary")]).toEqual([
      403,
      null,
      "origin",
    ]);
    const answer = await postChat(some, CHAT, { origin });
    await answer.arrayBuffer();
    expect([answer.headers.get(ALLOW), answer.headers.get("vary")]).toEqual([null, "origin"]);
  },
);

test("with the origin * every page may call models", async () => {
  const asked = await preflight(all, "/api/gateway/chat/completions", "https://anyone.example");
  expect([asked.status, asked.headers.get(ALLOW)]).toEqual([204, "*"]);
  const answer = await postChat(all, CHAT, { origin: "https://anyone.example" });
  await answer.arrayBuffer();
  expect([answer.status, answer.headers.get(ALLOW)]).toEqual([200, "*"]);
});

test("without server.cors.origins no page of another origin may, and answers have no header about it", async () => {
  expect((await preflight(none, "/v1/chat/completions")).status).toBe(405);
  const answer = await postChat(none, CHAT, { origin: APP });
  await answer.arrayBuffer();
  expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
});

test("a list of headers that is none is not repeated to the browser", async () => {
  const headers = {
    origin: APP,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization; drop",
  };
  const response = await fetch(`${some.base}/models`, { method: "OPTIONS", headers });
  expect([response.status, response.headers.get("access-control-allow-headers")]).toEqual([204, null]);
});

test.each([
  "app.example.com",
  "https://app.example.com/",
  "https://*.example.com/x",
  "ftp://app.example.com",
])("the configuration rejects %p as an origin", async (origin) => {
  const yaml = JSON.stringify({ server: { cors: { origins: [origin] } } });
  await expect(startTestGateway({ yaml })).rejects.toThrow("must be an origin such as");
});

describe("GET /", () => {
  test("shows a browser a page without scripts, with links", async () => {
    const response = await fetch(none.url, { headers: { accept: "text/html,application/xhtml+xml" } });
    const page = await response.text();
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("vary")).toBe("accept");
    // Relative, so that they hold below a path of a proxy too.
    for (const path of ["console", "docs", "openapi.json", "healthz", "readyz"])
      expect(page).toContain(`<a href="${path}">`);
    expect(page).not.toContain("<script");
  });

  test("gives other clients the same links as JSON, and each of them answers", async () => {
    const { object, base_path, ...links } = (await (await fetch(none.url)).json()) as Record<string, string>;
    expect([object, base_path]).toEqual(["gateway", "/api/gateway"]);
    expect(Object.keys(links)).toEqual([
      "console",
      "docs",
      "reference",
      "openapi",
      "models",
      "health",
      "readiness",
    ]);
    const statuses = await Promise.all(
      ["docs", "reference", "openapi", "models", "health", "readiness"].map(
        async (name) => (await fetch(none.url + links[name])).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
  });

  test("has no link to a console that is disabled", async () => {
    const without = await startTestGateway({ yaml: "console: {enabled: false}" });
    const page = await (await fetch(without.url, { headers: { accept: "text/html" } })).text();
    await without.stop();
    expect(page).not.toContain("/console");
  });
});
