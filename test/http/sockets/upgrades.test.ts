import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Frame,
  openSocket,
  type SocketClient,
  type SocketOptions,
  UPGRADE,
} from "../../support/clients/socket-client.ts";
import { waitFor } from "../../support/event-loop.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { scrape } from "../../support/servers/scrape.ts";

const ASK = { model: "sandbox/echo", input: "Hi" };
const FREE = { model: "sandbox/echo:free", input: "Hi" };

let gateway: TestGateway;
const open: SocketClient[] = [];

beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: `
server: {extra_prefixes: [/other/v9], cors: {origins: ["https://app.example.com"]}}
limits: {websockets: 5, websockets_per_key: 3, websockets_per_address: 2}`,
  });
});
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await gateway.stop();
});

async function connect(options?: SocketOptions): Promise<SocketClient> {
  const client = await openSocket(gateway, options);
  open.push(client);
  return client;
}

/** Resolves once the gateway has noticed that this many are left. */
const untilOpen = (count: number) =>
  waitFor(async () => ((await scrape(gateway)).value("gateway_websockets") === count ? true : null));

/** Asks for an upgrade that is rejected, and returns the response. */
async function upgrade(
  headers: Readonly<Record<string, string>> = {},
  path = "/v1/responses",
  from = gateway,
) {
  const response = await fetch(from.url + path, { headers: { ...UPGRADE, ...headers } });
  const body = (await response.json()) as { error: Frame };
  return { status: response.status, headers: response.headers, error: body.error };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe("an upgrade to a WebSocket", () => {
  test.each([
    "/api/gateway/responses",
    "/api/gateway/v1/responses",
    "/api/v1/responses",
    "/v1/responses/",
    "/other/v9/responses",
  ])("at %s opens a connection that answers", async (path) => {
    const client = await openSocket(gateway, { path });
    expect((await client.ask(ASK))["response"]).toMatchObject({ status: "completed" });
    await client.close();
    await untilOpen(0);
  });

  test("with an invalid key gets a 401 in OpenAI's format, which is recorded", async () => {
    const { status, headers, error } = await upgrade(bearer("gw_unknown"));
    expect([status, headers.get("www-authenticate"), error]).toEqual([
      401,
      "Bearer",
      expect.objectContaining({ type: "authentication_error", code: "invalid_api_key" }),
    ]);
    const id = headers.get("x-request-id");
    const { data } = await callAdmin(gateway, gateway.adminKey, "GET", `/rejections/${id}`);
    expect(data).toMatchObject({ api: "responses", method: "GET", path: "/v1/responses", status: 401 });
  });

  test("with a management key gets a 403", async () => {
    expect((await upgrade(bearer(gateway.adminKey))).status).toBe(403);
  });

  test("does not accept the cookie of a console session in place of a key", async () => {
    const signIn = await fetch(`${gateway.url}/api/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ key: gateway.adminKey }),
    });
    const cookie = signIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    expect(cookie).toContain("=");
    const client = await openSocket(gateway, { key: null, headers: { cookie } });
    // Without a key, only free models answer.
    expect(await client.ask(ASK)).toMatchObject({ type: "error", status: 401 });
    expect((await client.ask(FREE))["response"]).toMatchObject({ status: "completed" });
    await client.close();
    await untilOpen(0);
  });

  test("needs a key if the gateway serves no client without one", async () => {
    const closed = await startTestGateway({ yaml: "limits: {anonymous_requests_per_hour: 0}" });
    expect((await upgrade({}, "/v1/responses", closed)).status).toBe(401);
    await closed.stop();
  });

  test("of a page of another origin gets a 403, unless the origin is allowed", async () => {
    const { status, error } = await upgrade({ ...bearer(gateway.key), origin: "https://evil.example.com" });
    expect([status, error["message"]]).toEqual([403, expect.stringContaining("server.cors.origins")]);
    expect((await upgrade({ ...bearer(gateway.key), origin: "null" })).status).toBe(403);
    for (const origin of ["https://app.example.com", gateway.url]) {
      const client = await openSocket(gateway, { headers: { origin } });
      await client.close();
    }
    await untilOpen(0);
  });

  test("without the headers of a handshake gets a 400", async () => {
    const response = await fetch(`${gateway.url}/v1/responses`, {
      headers: { ...bearer(gateway.key), upgrade: "websocket" },
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("RFC 6455")]);
  });

  test("is logged with its status, and has the id of its request", async () => {
    gateway.log.length = 0;
    const client = await openSocket(gateway);
    await client.close();
    await untilOpen(0);
    const line = gateway.log.find(({ event }) => event === "request");
    expect(line?.fields).toMatchObject({ route: "/responses", status: 101, transport: "websocket" });
    const end = gateway.log.find(({ event }) => event === "websocket closed");
    expect(end?.fields["request_id"]).toBe(line?.fields["request_id"]);
  });
});

test("a GET without an upgrade still says which method the path has", async () => {
  const response = await fetch(`${gateway.url}/v1/responses`, { headers: bearer(gateway.key) });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  await response.text();
});

test.each(["/v1/chat/completions", "/api/gateway/messages", "/v1/embeddings"])(
  "an upgrade at %s, which has no WebSockets, gets a 426",
  async (path) => {
    const { status, headers } = await upgrade(bearer(gateway.key), path);
    expect([status, headers.get("upgrade")]).toEqual([426, "HTTP/1.1"]);
  },
);

test("an upgrade gets a 426 if a proxy has removed the header that asks for it", async () => {
  const { upgrade: _, connection: __, ...headers } = UPGRADE;
  const response = await fetch(`${gateway.url}/v1/responses`, {
    headers: { ...bearer(gateway.key), ...headers },
  });
  expect([response.status, await response.text()]).toEqual([426, expect.stringContaining("proxy")]);
});

test("an upgrade gets a 426 if the operator allows no WebSockets, so that clients use HTTP at once", async () => {
  const without = await startTestGateway({ yaml: "limits: {websockets: 0}" });
  const { status, headers } = await upgrade(bearer(without.key), "/v1/responses", without);
  expect([status, headers.get("upgrade")]).toEqual([426, "HTTP/1.1"]);
  await without.stop();
});

describe("the number of open WebSockets is limited", () => {
  test("for each key, and each that closes makes room for another", async () => {
    const clients = [await connect(), await connect(), await connect()];
    const { status, headers, error } = await upgrade(bearer(gateway.key));
    expect([status, headers.get("retry-after"), error["metadata"]]).toEqual([
      429,
      "10",
      { limit_source: "key", limit_kind: "websockets", limit: 3 },
    ]);
    await clients[0]?.close();
    await untilOpen(2);
    const another = await connect();
    await Promise.all([another, ...clients.slice(1)].map((client) => client.close()));
    await untilOpen(0);
  });

  test("for each client address without a key", async () => {
    const clients = [await connect({ key: null }), await connect({ key: "anonymous" })];
    const { status, error } = await upgrade();
    expect([status, error["metadata"]]).toEqual([
      429,
      { limit_source: "anonymous", limit_kind: "websockets", limit: 2 },
    ]);
    const withKey = await connect();
    await Promise.all([withKey, ...clients].map((client) => client.close()));
    await untilOpen(0);
  });

  test("for all together", async () => {
    const tools = createAccountTools(gateway);
    const key = await tools.key(await tools.user());
    const keys = [gateway.key, gateway.key, gateway.key, key, key];
    const clients = await Promise.all(keys.map((secret) => connect({ key: secret })));
    const { status, headers, error } = await upgrade(bearer(key));
    expect([status, headers.get("retry-after"), error["code"]]).toEqual([503, "10", "server_error"]);
    await Promise.all(clients.map((client) => client.close()));
    await untilOpen(0);
  });
});
