import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const CHAT = JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hi" }] });

function post(
  path: string,
  body: string | ReadableStream | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
    body,
  });
}

describe("a slash at the end of a path", () => {
  test.each(["/v1/chat/completions/", "/api/gateway/chat/completions/", "/api/gateway/v1/chat/completions/"])(
    "is accepted: %s",
    async (path) => {
      expect((await post(path, CHAT)).status).toBe(200);
    },
  );

  test("is accepted in paths with parameters, and in those of the management API", async () => {
    const model = await fetch(`${gateway.url}/v1/models/sandbox/echo/`);
    expect([model.status, ((await model.json()) as { id: string }).id]).toEqual([200, "sandbox/echo"]);
    expect((await fetch(`${gateway.url}/v1/models/`)).status).toBe(200);
    const headers = { authorization: `Bearer ${gateway.adminKey}` };
    expect((await fetch(`${gateway.url}/api/admin/users/`, { headers })).status).toBe(200);
  });
});

describe("a byte order mark before a body", () => {
  const MARKED = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(CHAT)]);

  test("is accepted in every client API", async () => {
    const messages = [{ role: "user", content: "Hi" }];
    const bodies = {
      "/v1/chat/completions": { messages },
      "/v1/responses": { input: "Hi" },
      "/v1/messages": { max_tokens: 5, messages },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const text = `\ufeff${JSON.stringify({ model: "sandbox/echo", ...body })}`;
      expect([path, (await post(path, text)).status]).toEqual([path, 200]);
    }
  });

  test("is accepted in a body that arrives in pieces, and in a compressed one", async () => {
    const pieces = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(MARKED.subarray(0, 2)));
        controller.enqueue(new Uint8Array(MARKED.subarray(2)));
        controller.close();
      },
    });
    expect((await post("/v1/chat/completions", pieces)).status).toBe(200);
    const packed = new Uint8Array(gzipSync(MARKED));
    expect((await post("/v1/chat/completions", packed, { "content-encoding": "gzip" })).status).toBe(200);
  });
});

test.each(["/v1/completions", "/v1/chat/completions", "/api/gateway/messages"])(
  "an upgrade of %s to a WebSocket gets 426",
  async (path) => {
    const response = await fetch(gateway.url + path, {
      headers: {
        authorization: `Bearer ${gateway.key}`,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      },
    });
    expect([response.status, response.headers.get("upgrade")]).toEqual([426, "HTTP/1.1"]);
    expect(await response.text()).toContain("over HTTP");
  },
);

describe("GET models of a client that names a version of Anthropic's API", () => {
  const headers = { "anthropic-version": "2023-06-01" };
  type Page = { data: { id: string }[]; first_id: string; last_id: string; has_more: boolean };

  async function list(query = ""): Promise<Page> {
    const response = await fetch(`${gateway.url}/v1/models${query}`, { headers });
    expect(response.status).toBe(200);
    return (await response.json()) as Page;
  }

  test("answers in the shape of that API", async () => {
    const page = await list();
    expect(Object.keys(page).toSorted()).toEqual(["data", "first_id", "has_more", "last_id"]);
    expect(page.data.find(({ id }) => id === "sandbox/echo")).toEqual(
      expect.objectContaining({
        type: "model",
        id: "sandbox/echo",
        display_name: expect.any(String),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      }),
    );
    expect([page.first_id, page.last_id, page.has_more]).toEqual([
      page.data[0]?.id as string,
      page.data.at(-1)?.id as string,
      false,
    ]);
  });

  test("has pages", async () => {
    const all = (await list()).data.map(({ id }) => id);
    const first = await list("?limit=1");
    expect([first.data.map(({ id }) => id), first.has_more]).toEqual([[all[0] as string], all.length > 1]);
    const rest = await list(`?limit=1000&after_id=${encodeURIComponent(all[0] as string)}`);
    expect(rest.data.map(({ id }) => id)).toEqual(all.slice(1));
    const before = await list(`?limit=1&before_id=${encodeURIComponent(all[1] as string)}`);
    expect([before.data.map(({ id }) => id), before.has_more]).toEqual([[all[0] as string], false]);
    for (const query of ["?limit=0", "?limit=x", "?after_id=no/model"])
      expect((await fetch(`${gateway.url}/v1/models${query}`, { headers })).status).toBe(400);
  });

  test("answers for one model too", async () => {
    const response = await fetch(`${gateway.url}/v1/models/sandbox/echo`, { headers });
    expect(await response.json()).toMatchObject({ type: "model", id: "sandbox/echo" });
  });

  test("is the usual list without that header", async () => {
    const response = await fetch(`${gateway.url}/v1/models`);
    expect(await response.json()).toMatchObject({ object: "list" });
  });
});
