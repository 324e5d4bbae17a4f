import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { FIXED_ROUTES, GATEWAY_ROUTES } from "../../../src/http/server/route-table.ts";
import { dialRaw } from "../../support/clients/raw-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { scrape } from "../../support/servers/scrape.ts";

const BODY_BYTES = 200_000;
const BODY = JSON.stringify({ model: "sandbox/echo", padding: "x".repeat(BODY_BYTES) });

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.log.length = 0;
});

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly host: string;
  readonly key?: string;
}

/** Sends a request with a body, and returns all that is answered. */
async function send({ method = "POST", path, host, key }: Sent): Promise<string> {
  const client = await dialRaw(gateway);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${host}`,
    "connection: close",
    "content-type: application/json",
    `content-length: ${BODY.length}`,
    ...(key === undefined ? [] : [`authorization: Bearer ${key}`]),
  ];
  client.send(`${lines.join("\r\n")}\r\n\r\n${BODY}`);
  await client.closed;
  return client.received;
}

function bodyOf(answer: string): Readonly<Record<string, unknown>> {
  return JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));
}

async function expectNoMemoryHeld(): Promise<void> {
  const isReleased = eventually(
    "the memory of all bodies is released",
    async () => (await scrape(gateway)).value("gateway_body_memory_bytes") === 0,
    5_000,
  );
  expect(await isReleased).toBe(true);
}

const HOSTS = ["a:b", "%", "[", "a:99999", "1.2.3.4.5", "xn--a"];
const FURTHER_HOSTS = [
  "]",
  ":80",
  "a%20b",
  "[::1",
  "a<b",
  "256.256.256.256",
  "a:-1",
  "a:80:80",
  "[::1]x",
  "a|b",
];

/** Every path that is served, as a client would write it, and some that are not. */
const PATHS = [
  ...Object.keys(FIXED_ROUTES),
  ...Object.keys(GATEWAY_ROUTES).map((path) => `/v1${path}`),
  "/nothing",
  "/v1/nothing",
  "/v1/responses/resp_1/cancel",
  "/v1/messages/batches",
  "/v1beta/models/gemini:generateContent",
  "//x:99999/v1/chat/completions",
].map((path) => path.replace(/:\w+/g, "name").replace("*", "name"));

describe("a host that is none", () => {
  test.each(HOSTS)("is answered with 400 and an error object at every path: %s", async (host) => {
    for (const path of PATHS) {
      for (const key of [gateway.adminKey, undefined]) {
        const answer = await send(key === undefined ? { path, host } : { path, host, key });
        expect([path, answer.slice(0, 13)]).toEqual([path, "HTTP/1.1 400 "]);
        expect([path, Object.hasOwn(bodyOf(answer), "error")]).toEqual([path, true]);
      }
    }
    await expectNoMemoryHeld();
    expect(gateway.log.filter(({ level }) => level === "error")).toEqual([]);
  });
});

test.each(FURTHER_HOSTS)("the host %s is answered with 400", async (host) => {
  const answer = await send({ path: "/v1/nothing", host, key: gateway.key });
  expect(answer).toStartWith("HTTP/1.1 400 ");
});

test.each(["a", "a.example:443", "A_B", "[::1]:8080", "127.0.0.1:65535", "gateway:"])(
  "the host %s is served",
  async (host) => {
    expect(await send({ path: "/v1/nothing", host })).toStartWith("HTTP/1.1 404 ");
  },
);

describe("a request target that is no usual path", () => {
  const TARGETS = [
    "//x:99999/v1/models",
    "///",
    "/v1/models/%",
    "/v1/models/%ff%fe",
    "/v1/models/%E0%A4%A?all=true",
    "/v1/models?all=%E0%A4%A",
    "/%00",
    "/v1/generation?id=%ff",
    "http://a:b/v1/models?all=true",
    "http://[/v1/models?all=true",
  ];

  test.each(TARGETS)("is answered with an error object or a result: %s", async (path) => {
    for (const method of ["GET", "POST", "DELETE"]) {
      const answer = await send({ method, path, host: "127.0.0.1", key: gateway.key });
      expect(answer).toMatch(/^HTTP\/1\.1 (200|400|404|405|414|431) /);
    }
    await expectNoMemoryHeld();
    expect(gateway.log.filter(({ level }) => level === "error")).toEqual([]);
  });
});

test("a request target of many characters is answered with an error object", async () => {
  for (const path of [`/${"a".repeat(8_000)}`, `/?${"&a[".repeat(2_000)}`])
    expect(await send({ path, host: "127.0.0.1" })).toMatch(/^HTTP\/1\.1 (404|405) /);
});

test("the memory of bodies does not fill up with requests that are rejected at any path", async () => {
  for (const path of PATHS) {
    for (const host of ["127.0.0.1", "a:b"]) await send({ path, host, key: gateway.key });
    await expectNoMemoryHeld();
  }
});
