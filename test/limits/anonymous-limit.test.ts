import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway | null;

beforeEach(() => {
  vendor = startVendor(healthy("Alpha"));
  clock = createTestClock();
  gateway = null;
});
afterEach(async () => {
  await gateway?.stop();
  vendor.stop();
});

interface Setup {
  readonly perHour?: number;
  readonly trustedProxies?: readonly string[];
  /** A stopped gateway whose data directory is used again. */
  readonly after?: TestGateway;
}

async function start({ perHour, trustedProxies = [], after }: Setup = {}): Promise<TestGateway> {
  gateway = await startTestGateway({
    clock,
    ...(after ? { dataDir: after.dataDir, key: after.key } : {}),
    yaml: `
server: {trusted_proxies: ${JSON.stringify(trustedProxies)}}
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models: [{id: "acme/gift:free"}, {id: acme/paid, prices: {prompt: "0.000001", completion: "0.000002"}}]
${perHour === undefined ? "" : `limits: {anonymous_requests_per_hour: ${perHour}}`}`,
  });
  return gateway;
}

/** Sends a chat completion without a key. `forwardedFor` is the value of `x-forwarded-for`. */
function ask(target: TestGateway, forwardedFor?: string, model = "acme/gift:free"): Promise<Response> {
  return fetch(`${target.base}/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }),
    },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }] }),
  });
}

async function askTimes(target: TestGateway, times: number): Promise<void> {
  for (let i = 0; i < times; i++) expect((await ask(target)).status).toBe(200);
}

function limitStatus(response: Response) {
  const { headers } = response;
  return {
    status: response.status,
    limit: headers.get("x-ratelimit-limit-requests"),
    remaining: headers.get("x-ratelimit-remaining-requests"),
    reset: headers.get("x-ratelimit-reset-requests"),
    retryAfter: headers.get("retry-after"),
  };
}

const HOUR_MS = 3_600_000;

describe("a client address without a key", () => {
  test("has 200 requests per hour, and responses say how many remain and when to retry", async () => {
    const target = await start();
    expect(limitStatus(await ask(target))).toEqual({
      status: 200,
      limit: "200",
      remaining: "199",
      reset: "3600s",
      retryAfter: null,
    });
    await askTimes(target, 99);
    clock.leap(HOUR_MS / 2);
    await askTimes(target, 100);
    const rejected = await ask(target);
    expect(limitStatus(rejected)).toEqual({
      status: 429,
      limit: "200",
      remaining: "0",
      reset: "3600s",
      retryAfter: "1800",
    });
    expect(await rejected.json()).toMatchObject({
      error: {
        code: 429,
        type: "rate_limit_exceeded",
        message: expect.stringContaining("1800 s"),
        metadata: { limit_source: "anonymous" },
      },
    });
    // The first hundred requests have left the sliding window, the second hundred have not.
    clock.leap(HOUR_MS / 2 - 1);
    expect((await ask(target)).status).toBe(429);
    clock.advance(1);
    await askTimes(target, 100);
    expect(limitStatus(await ask(target))).toMatchObject({ status: 429, retryAfter: "1800" });
    expect(vendor.calls).toHaveLength(300);
  });

  test("is not charged for rejected requests, and every response has the status of its limit", async () => {
    const target = await start({ perHour: 2 });
    const paid = await ask(target, undefined, "acme/paid");
    expect(limitStatus(paid)).toMatchObject({ status: 401, limit: "2", remaining: "2" });
    expect(paid.headers.get("www-authenticate")).toBe("Bearer");
    expect(limitStatus(await ask(target, undefined, "acme/unknown:free"))).toMatchObject({
      status: 400,
      remaining: "2",
    });
    expect(limitStatus(await ask(target))).toMatchObject({ status: 200, remaining: "1" });
    vendor.perform((call) => call.respond(500, { error: { message: "No." } }));
    expect(limitStatus(await ask(target))).toMatchObject({ status: 502, remaining: "0" });
    expect((await ask(target)).status).toBe(429);
    expect((await ask(target)).status).toBe(429);
    clock.leap(HOUR_MS);
    expect(limitStatus(await ask(target))).toMatchObject({ remaining: "1" });
  });

  test("needs a key for a paid model also once its limit is used up", async () => {
    const target = await start({ perHour: 1 });
    await askTimes(target, 1);
    expect((await ask(target)).status).toBe(429);
    const paid = await ask(target, undefined, "acme/paid");
    expect(limitStatus(paid)).toMatchObject({ status: 401, remaining: "0" });
    expect(paid.headers.get("www-authenticate")).toBe("Bearer");
    expect(vendor.calls).toHaveLength(1);
  });

  test("is rejected before a large body is read once its limit is used up, and the rejection does not count", async () => {
    const target = await start({ perHour: 1 });
    await askTimes(target, 1);
    const { hostname, port } = new URL(target.url);
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.on("data", (piece) => {
      text += piece;
    });
    // The body is never sent: a gateway that waited for it would not answer.
    socket.write("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    await eventually("the rejection", () => text.includes('"rate_limit_exceeded"'));
    socket.destroy();
    expect(text).toStartWith("HTTP/1.1 429 ");
    expect(text).toMatch(/\r\nretry-after: 3600\r\n/i);
    clock.leap(HOUR_MS);
    await askTimes(target, 1);
  });

  test("gets an authentication error instead of a rate limit error if anonymous requests are not allowed", async () => {
    const target = await start({ perHour: 0 });
    for (const model of ["acme/gift:free", "acme/paid"]) {
      expect(limitStatus(await ask(target, undefined, model))).toMatchObject({
        status: 401,
        limit: "0",
        retryAfter: null,
      });
    }
  });

  test("keeps its count after a restart, for an hour", async () => {
    const first = await start({ perHour: 3 });
    await askTimes(first, 2);
    clock.advance(60_000);
    await askTimes(first, 1);
    await first.stop({ keepData: true });
    const second = await start({ perHour: 3, after: first });
    expect(limitStatus(await ask(second))).toMatchObject({ status: 429, retryAfter: String(3_600 - 60) });
    clock.leap(HOUR_MS - 60_000);
    await askTimes(second, 2);
    expect(limitStatus(await ask(second))).toMatchObject({ status: 429, retryAfter: "60" });
  });

  test("does not share its limit with callers that have a key", async () => {
    const target = await start({ perHour: 1 });
    await askTimes(target, 1);
    expect((await ask(target)).status).toBe(429);
    const response = await fetch(`${target.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${target.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/gift:free", messages: [{ role: "user", content: "Hello!" }] }),
    });
    expect(response.status).toBe(200);
    // The account's limit on free models, for which this is the first request.
    expect(response.headers.get("x-ratelimit-remaining-requests")).toBe("199");
  });

  test("does not appear in the log or the records", async () => {
    const target = await start({ trustedProxies: ["127.0.0.1"] });
    await ask(target, "203.0.113.77");
    expect(JSON.stringify(target.log)).not.toContain("203.0.113");
  });
});

describe("the client address of a rate limit", () => {
  const sameLimit: readonly (readonly [string, string, string])[] = [
    ["two addresses of one IPv6 /64", "2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
    ["one IPv6 address in two spellings", "2001:DB8:0:2::1", "2001:db8::2:0:0:0:1"],
    ["an IPv4 address and its form on an IPv6 socket", "203.0.113.7", "::ffff:203.0.113.7"],
    ["an address behind two trusted proxies and behind one", "203.0.113.7, 10.1.2.3", "203.0.113.7"],
    ["an IPv4 address with a port and without one", "203.0.113.7:4711", "203.0.113.7"],
    [
      "an IPv4 address with two ports, behind a proxy with one",
      "203.0.113.7:1, 10.1.2.3:80",
      "203.0.113.7:2",
    ],
    [
      "an IPv6 address in brackets with a port and without brackets",
      "[2001:db8:1:2::1]:443",
      "2001:db8:1:2::1",
    ],
    [
      "an IPv6 address in brackets without a port and without brackets",
      "[2001:db8:1:2::1]",
      "2001:db8:1:2::1",
    ],
    [
      "an address, even if the client sends another one before it",
      "203.0.113.7",
      "198.51.100.1, 203.0.113.7",
    ],
  ];
  for (const [what, one, other] of sameLimit) {
    test(`is the same for ${what}`, async () => {
      const target = await start({ perHour: 1, trustedProxies: ["127.0.0.1", "10.0.0.0/8"] });
      expect((await ask(target, one)).status).toBe(200);
      expect((await ask(target, other)).status).toBe(429);
    });
  }

  const ownLimits: readonly (readonly [string, string, string])[] = [
    ["two IPv4 addresses", "203.0.113.7", "203.0.113.8"],
    ["two IPv4 addresses with ports", "203.0.113.7:4711", "203.0.113.8:4711"],
    ["two IPv6 /64", "2001:db8:1:2::1", "2001:db8:1:3::1"],
    ["an IPv6 address and the IPv4 address at its end", "2001:db8::203.0.113.7", "203.0.113.7"],
  ];
  for (const [what, one, other] of ownLimits) {
    test(`differs for ${what}`, async () => {
      const target = await start({ perHour: 1, trustedProxies: ["127.0.0.1"] });
      expect((await ask(target, one)).status).toBe(200);
      expect((await ask(target, other)).status).toBe(200);
    });
  }

  test("is the peer's if no proxy is trusted, even with x-forwarded-for", async () => {
    const target = await start({ perHour: 1 });
    expect((await ask(target, "203.0.113.7")).status).toBe(200);
    expect((await ask(target, "203.0.113.8")).status).toBe(429);
  });

  test("is the peer's if only other proxies are trusted", async () => {
    const target = await start({ perHour: 1, trustedProxies: ["10.0.0.0/8"] });
    expect((await ask(target, "203.0.113.7")).status).toBe(200);
    expect((await ask(target, "203.0.113.8")).status).toBe(429);
  });

  test("is the last valid one if x-forwarded-for contains invalid addresses", async () => {
    const target = await start({ perHour: 1, trustedProxies: ["127.0.0.1"] });
    expect((await ask(target, "203.0.113.7, nonsense")).status).toBe(200);
    expect((await ask(target, "203.0.113.8, unknown")).status).toBe(429);
  });
});
