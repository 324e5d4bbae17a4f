import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { FIXED_ROUTES, GATEWAY_ROUTES } from "../../../src/http/server/route-table.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type RecordingVendor,
  startRecordingVendor,
  yamlFor,
} from "../../support/vendors/recording-vendor.ts";

const PREFIXES = ["/api/gateway", "/api/gateway/v1", "/api/v1", "/v1", "/api/openrouter", "/deep/er/v9"];

const GETS = [
  "",
  "/",
  "/models",
  "/models/sandbox/echo",
  "/models/sandbox%2Fecho",
  "/models/sandbox/echo:free",
  "/models/sandbox/echo/endpoints",
  "/providers",
];

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: `
server:
  extra_prefixes: [/api/openrouter, /deep/er/v9]
  header_aliases: { api-key: x-api-key, x-kilocode-mode: x-gateway-mode }
  model_prefix_aliases: { "other/": "sandbox/", "kilo/sandbox/": "sandbox/" }
`,
  });
});
afterAll(() => gateway.stop());

function call(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(gateway.url + path, init);
}

function withKey(init: RequestInit = {}): RequestInit {
  return { ...init, headers: { ...init.headers, authorization: `Bearer ${gateway.key}` } };
}

const CHAT = JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }] });

async function errorOf(response: Response): Promise<{ message: string; code: number; type: string }> {
  const body = (await response.json()) as {
    error: { message: string; code: number; type: string };
    error_type: string;
  };
  expect(body.error.code).toBe(response.status);
  expect(body.error_type).toBe(body.error.type);
  expect(body.error.message).toBeString();
  return body.error;
}

describe.each(PREFIXES)("under %s", (prefix) => {
  test("a chat completion is answered", async () => {
    const response = await call(`${prefix}/chat/completions`, withKey({ method: "POST", body: CHAT }));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ object: "chat.completion", model: "sandbox/echo" });
  });

  test("every list and record is public and the same as under the first prefix", async () => {
    for (const path of GETS) {
      const response = await call(prefix + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get("content-type")).toStartWith("application/json");
      expect(await response.text()).toBe(await (await call(`/api/gateway${path}`)).text());
    }
  });

  test.each(["Bearer gw_wrong", "Bearer", "Basic eDp5", "nonsense"])(
    "the public lists ignore the invalid key %j",
    async (authorization) => {
      for (const path of GETS) {
        const response = await call(prefix + path, { headers: { authorization, "x-api-key": "wrong" } });
        expect([path, response.status]).toEqual([path, 200]);
      }
    },
  );

  test("a generation is found by its id", async () => {
    const asked = await call(`${prefix}/chat/completions`, withKey({ method: "POST", body: CHAT }));
    const id = asked.headers.get("x-gateway-generation-id");
    const found = await call(`${prefix}/generation?id=${id}`, withKey());
    expect(found.status).toBe(200);
    expect(await found.json()).toMatchObject({ data: { id } });
  });

  test("HEAD has the status and headers of GET, and no body", async () => {
    for (const path of GETS) {
      const head = await call(prefix + path, { method: "HEAD" });
      expect([path, head.status, await head.text()]).toEqual([path, 200, ""]);
      expect(head.headers.get("content-type")).toStartWith("application/json");
      expect(head.headers.get("x-request-id")).toStartWith("req_");
      const get = await call(prefix + path);
      expect(head.headers.get("content-length")).toBe(String((await get.arrayBuffer()).byteLength));
    }
  });

  test("HEAD on the base answers at once, and its connection serves the next request", async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.on("data", (piece) => {
      text += piece;
    });
    /** Sends a HEAD request, and returns how many GET requests on other connections were answered before it. */
    const countGetsBefore = async (): Promise<number> => {
      text = "";
      socket.write(`HEAD ${prefix} HTTP/1.1\r\nHost: x\r\n\r\n`);
      let gets = 0;
      while (!text.endsWith("\r\n\r\n")) {
        await (await call(prefix)).text();
        gets++;
      }
      expect(text).toStartWith("HTTP/1.1 200 OK\r\n");
      expect(text).not.toContain('"object"');
      return gets;
    };
    let fewestGets = Number.POSITIVE_INFINITY;
    for (let asked = 0; asked < 20; asked++) fewestGets = Math.min(fewestGets, await countGetsBefore());
    // A head that the server holds back arrives tens of milliseconds later than a body would.
    expect(fewestGets).toBeLessThan(10);
    socket.destroy();
  });
});

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The methods that a route allows. */
function allowedBy(methods: object): string[] {
  return Object.hasOwn(methods, "GET") ? [...Object.keys(methods), "HEAD"] : Object.keys(methods);
}

describe.each(["", ...PREFIXES])("every endpoint under the prefix '%s'", (prefix) => {
  const routes = Object.entries(prefix === "" ? FIXED_ROUTES : GATEWAY_ROUTES);
  test.each(routes)(
    "%s answers its own methods, and other methods with 405 and an `allow` header",
    async (route, methods) => {
      const path = prefix + route.replace(":author/:model", "sandbox/echo").replace(":id", "sandbox%2Fecho");
      const allowed = allowedBy(methods);
      for (const method of METHODS) {
        const response = await call(path, { method });
        if (allowed.includes(method)) {
          expect([method, response.status]).not.toEqual([method, 405]);
          expect(await response.text()).not.toContain("There is no endpoint at this path");
          continue;
        }
        expect([method, response.status]).toEqual([method, 405]);
        expect(response.headers.get("allow")?.split(", ").sort()).toEqual(allowed.toSorted());
        if (method === "HEAD") continue;
        expect(await response.json()).toMatchObject({ error_type: "method_not_allowed" });
      }
    },
  );
});

describe("a path that does not exist, below an API with its own error format,", () => {
  test.each([
    ["/responses/gen_1/other", "GET", 404, "not_found"],
    ["/responses", "GET", 405, "method_not_allowed"],
  ])(
    "is answered with OpenAI's string code and the numeric status: %s",
    async (path, method, status, code) => {
      const response = await call(`/v1${path}`, { method });
      expect([response.status, await response.json()]).toEqual([
        status,
        {
          error: { message: expect.any(String), type: "invalid_request_error", code, param: null, status },
          error_type: code,
        },
      ]);
    },
  );

  test("is answered with Anthropic's error object below /messages", async () => {
    const response = await call("/v1/messages/batches", { method: "POST" });
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { type: "error", error: { type: "not_found_error", code: 404 }, request_id: expect.any(String) },
    ]);
  });
});

describe("header aliases", () => {
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await call("/api/gateway/chat/completions", { method: "POST", body: CHAT, headers })).status;

  test("an alias is read as the header that it stands for", async () => {
    expect(await status({})).toBe(401);
    expect(await status({ "Api-Key": gateway.key })).toBe(200);
  });

  test("a header under its own name takes precedence over an alias", async () => {
    expect(await status({ "api-key": gateway.key, "x-api-key": "gw_wrong" })).toBe(401);
    expect(await status({ "api-key": "gw_wrong", "x-api-key": gateway.key })).toBe(200);
  });
});

describe("model prefix aliases", () => {
  test.each([
    ["other/echo", "sandbox/echo"],
    ["other/echo:free", "sandbox/echo:free"],
    ["kilo/sandbox/echo", "sandbox/echo"],
    ["sandbox/echo", "sandbox/echo"],
  ])("the model id %s is read as %s, and the response names the latter", async (asked, answered) => {
    const messages = [{ role: "user", content: "x" }];
    const response = await postChat(gateway, { model: asked, messages });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ model: answered });
    expect(response.headers.get("x-gateway-model")).toBe(answered);
  });

  test("an alias is resolved in the list of fallback models too", async () => {
    const messages = [{ role: "user", content: "x" }];
    const response = await postChat(gateway, { model: "other/echo", models: ["other/echo:free"], messages });
    expect(response.status).toBe(200);
  });

  test("an alias of a paid model is rejected without a key", async () => {
    const messages = [{ role: "user", content: "x" }];
    const response = await postChat(gateway, { model: "other/echo", messages }, { authorization: "" });
    expect(response.status).toBe(401);
  });
});

describe("a path or method that does not exist", () => {
  test.each([
    "/api",
    "/api/gateway/nothing",
    "/v1/chat",
    "/v1/chat/completions//",
    "/v1/chat/completions/x",
    "/v2/models",
    "/api/admin",
    "/api/admin/nothing",
    "/%00",
    "/api/gateway/..%2f..%2fetc%2fpasswd",
    "/__proto__",
  ])("%s is a 404 error object for every method", async (path) => {
    for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
      const response = await call(path, { method });
      expect([method, response.status]).toEqual([method, 404]);
      expect((await errorOf(response)).type).toBe("not_found");
      expect(response.headers.get("x-request-id")).toStartWith("req_");
    }
  });

  test.each([
    ["POST", "/v1/models", "GET, HEAD"],
    ["DELETE", "/v1/models/sandbox/echo", "GET, HEAD"],
    ["PUT", "/v1/models/sandbox/echo/endpoints", "GET, HEAD"],
    ["PATCH", "/api/gateway/providers", "GET, HEAD"],
    ["POST", "/api/gateway/generation", "GET, HEAD"],
    ["GET", "/v1/chat/completions", "POST"],
    ["HEAD", "/v1/chat/completions", "POST"],
    ["DELETE", "/api/openrouter/chat/completions", "POST"],
    ["OPTIONS", "/v1/chat/completions", "POST"],
    ["POST", "/api/gateway", "GET, HEAD"],
    ["POST", "/healthz", "GET, HEAD"],
    ["PUT", "/api/admin/keys", "GET, POST, HEAD"],
    ["PUT", "/api/admin/keys/key_1", "GET, PATCH, DELETE, HEAD"],
  ])("%s %s is a 405 with an `allow` header", async (method, path, allow) => {
    const response = await call(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe(allow);
    expect(response.headers.get("x-request-id")).toStartWith("req_");
    if (method !== "HEAD") expect((await errorOf(response)).type).toBe("method_not_allowed");
  });
});

describe("response headers", () => {
  test("a stream has the headers that clients and proxies need", async () => {
    const response = await postChat(gateway, { ...JSON.parse(CHAT), stream: true });
    await response.text();
    const { headers } = response;
    expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-cache");
    expect(headers.get("x-accel-buffering")).toBe("no");
    expect(headers.get("content-encoding")).toBeNull();
    expect(headers.get("x-request-id")).toStartWith("req_");
    expect(headers.get("x-gateway-generation-id")).toStartWith("gen_");
    expect(headers.get("x-gateway-model")).toBe("sandbox/echo");
    expect(headers.get("x-gateway-provider")).toBe("sandbox");
    expect(headers.get("x-gateway-attempts")).toBe("1");
  });

  test("a failed generation has an attempt count and a generation id", async () => {
    const response = await postChat(gateway, {
      model: "sandbox/echo",
      messages: [{ role: "user", content: "[sandbox:error=500] x" }],
    });
    expect(response.status).toBe(502);
    expect(response.headers.get("x-gateway-attempts")).toBe("1");
    expect(response.headers.get("x-gateway-generation-id")).toStartWith("gen_");
  });

  test("every request has its own request id", async () => {
    const ids = await Promise.all(
      ["/v1/models", "/nowhere", "/healthz", "/v1/chat/completions", "/v1/models"].map(
        async (path) => (await call(path)).headers.get("x-request-id") as string,
      ),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("anonymous responses, including errors, have the rate limit headers", async () => {
    const ask = (body: unknown) => postChat(gateway, body, { authorization: "" });
    const messages = [{ role: "user", content: "x" }];
    for (const body of [
      { model: "sandbox/echo:free", messages },
      { model: "sandbox/echo:free", messages, temperature: 9 },
      { model: "sandbox/echo", messages },
    ]) {
      const { headers } = await ask(body);
      expect(headers.get("x-ratelimit-limit-requests")).toBe("200");
      expect(headers.get("x-ratelimit-remaining-requests")).toMatch(/^\d+$/);
      expect(headers.get("x-ratelimit-reset-requests")).toMatch(/^\d+s$/);
    }
  });
});

describe("the anonymous rate limit", () => {
  test("rejects with 429, `retry-after` and the limit's name, and does not apply to requests with a key", async () => {
    const own = await startTestGateway({ yaml: "limits: { anonymous_requests_per_hour: 2 }" });
    const body = { model: "sandbox/echo:free", messages: [{ role: "user", content: "x" }] };
    const left: (string | null)[] = [];
    for (let i = 0; i < 2; i++) {
      const response = await postChat(own, body, { authorization: "" });
      expect(response.status).toBe(200);
      left.push(response.headers.get("x-ratelimit-remaining-requests"));
    }
    expect(left).toEqual(["1", "0"]);
    const refused = await postChat(own, body, {
      authorization: "",
      // Ignored, because this peer is not a trusted proxy.
      "x-forwarded-for": "203.0.113.7",
    });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(3_590, 3_601);
    expect(await refused.json()).toMatchObject({
      error: { type: "rate_limit_exceeded", metadata: { limit_source: "anonymous" } },
    });
    expect((await postChat(own, body)).status).toBe(200);
    await own.stop();
  });

  test("counts by the client address that a trusted proxy reports, and by the /64 of an IPv6 address", async () => {
    const own = await startTestGateway({
      yaml: `
limits: { anonymous_requests_per_hour: 1 }
server: { trusted_proxies: [127.0.0.0/8, 10.0.0.1] }
`,
    });
    const body = { model: "sandbox/echo:free", messages: [{ role: "user", content: "x" }] };
    const statusFor = async (forwarded: string) =>
      (await postChat(own, body, { authorization: "", "x-forwarded-for": forwarded })).status;
    expect(await statusFor("203.0.113.7")).toBe(200);
    expect(await statusFor("203.0.113.7, 10.0.0.1")).toBe(429);
    expect(await statusFor("198.51.100.1, 203.0.113.7")).toBe(429);
    expect(await statusFor("203.0.113.8")).toBe(200);
    expect(await statusFor("2001:db8:1:2::1")).toBe(200);
    expect(await statusFor("2001:db8:1:2:ffff::2")).toBe(429);
    expect(await statusFor("2001:db8:1:3::1")).toBe(200);
    await own.stop();
  });
});

describe("health checks", () => {
  test("/healthz and /readyz are answered without a key", async () => {
    expect(await (await call("/healthz")).json()).toEqual({ status: "ok" });
    expect(await (await call("/readyz")).json()).toEqual({ status: "ready" });
  });
});

describe("the upstream's response headers", () => {
  let vendor: RecordingVendor;
  let own: TestGateway;

  beforeAll(async () => {
    vendor = startRecordingVendor();
    own = await startTestGateway({ yaml: yamlFor(vendor) });
  });
  afterAll(() => Promise.all([own.stop(), vendor.stop()]));

  const VENDOR_HEADERS = {
    "set-cookie": "session=secret",
    "openai-organization": "org-secret",
    "x-request-id": "vendor-request",
    "x-ratelimit-remaining-requests": "17",
    "retry-after": "9",
    server: "vendor",
    "x-vendor-internal": "1",
  };

  test.each(["an answer", "a stream", "an error"])(
    "are not forwarded to the client with %s",
    async (kind) => {
      vendor.reset((request) => {
        const stream = request.text.includes('"stream":true');
        const body = stream
          ? `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`
          : '{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}';
        const type = stream ? "text/event-stream" : "application/json; profile=vendor";
        return new Response(body, {
          status: kind === "an error" ? 418 : 200,
          headers: { ...VENDOR_HEADERS, "content-type": type },
        });
      });
      const response = await postChat(own, {
        model: "acme/model",
        messages: [{ role: "user", content: "x" }],
        ...(kind === "a stream" ? { stream: true } : {}),
      });
      await response.text();
      expect(response.status).toBe(kind === "an error" ? 502 : 200);
      for (const [name, value] of Object.entries(VENDOR_HEADERS)) {
        expect([name, response.headers.get(name)]).not.toEqual([name, value]);
      }
      expect(response.headers.get("content-type")).not.toContain("profile");
      expect(response.headers.get("x-vendor-internal")).toBeNull();
    },
  );
});
