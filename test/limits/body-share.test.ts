import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually } from "../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

/** One caller may hold half: five and a half bodies of the maximum size while they are received. A received body counts three times. */
const LARGEST = 200_000;
const TOTAL = 2_200_000;

let vendor: Vendor;
let gateway: TestGateway;
let other: string;

beforeAll(async () => {
  vendor = startVendor(healthy("Alpha"));
  gateway = await startTestGateway({
    yaml: `
server: {trusted_proxies: ["127.0.0.1"]}
limits: {body_bytes: ${LARGEST}, total_body_bytes: ${TOTAL}, anonymous_requests_per_hour: 100000}
providers:
  vendor:
    base_url: "${vendor.baseUrl}"
    models: [{id: "acme/gift:free", context_length: 1000000}]`,
  });
  other = (await callAdmin(gateway, gateway.adminKey, "POST", "/keys", { name: "other" })).body[
    "key"
  ] as string;
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

const authorize = (secret: string) => `Authorization: Bearer ${secret}`;
const comeFrom = (address: string) => `X-Forwarded-For: ${address}`;

/** Sends a body of the maximum size without its last byte. */
function uploadSlowly(who: string): { readonly socket: Socket; readonly text: () => string } {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (piece) => {
    text += piece;
  });
  socket.on("error", () => {});
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n${who}\r\nContent-Length: ${LARGEST}\r\n\r\n${" ".repeat(LARGEST - 1)}`,
  );
  return { socket, text: () => text };
}

/** Begins so many uploads, of which the gateway rejects one with `status` and holds the others. */
async function takeAll(who: string, uploads: number, status: number): Promise<readonly Socket[]> {
  const begun = Array.from({ length: uploads }, () => uploadSlowly(who));
  await eventually("the rejection of one", () =>
    begun.some(({ text }) => text().startsWith(`HTTP/1.1 ${status} `)),
  );
  return begun.map(({ socket }) => socket);
}

/** Sends a request of so many bytes at once. */
function ask(who: string, bytes: number): Promise<Response> {
  const [name = "", value = ""] = who.split(": ");
  const empty = JSON.stringify({ model: "acme/gift:free", messages: [{ role: "user", content: "" }] });
  return postChat(gateway, empty.replace('"content":""', `"content":"${"x".repeat(bytes - empty.length)}"`), {
    authorization: "",
    [name.toLowerCase()]: value,
  });
}

const statusOf = async (who: string, bytes: number): Promise<number> => {
  const response = await ask(who, bytes);
  await response.text();
  return response.status;
};

describe("a caller with many slow uploads", () => {
  test.each<[string, () => [who: string, same: string, others: string], string]>([
    ["a key", () => [authorize(gateway.key), authorize(gateway.key), authorize(other)], "key"],
    [
      "an address without a key, an IPv6 /64",
      () => [comeFrom("2001:db8:1:2::1"), comeFrom("2001:db8:1:2::ffff"), comeFrom("2001:db8:1:3::1")],
      "anonymous",
    ],
  ])("takes at most half of the memory for bodies if it is %s", async (_name, callers, source) => {
    const [who, same, others] = callers();
    const sockets = await takeAll(who, 6, 429);
    const rejected = await ask(same, 150_000);
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "5"]);
    expect(await rejected.json()).toMatchObject({
      error: {
        type: "rate_limit_exceeded",
        metadata: { limit_source: source, limit_kind: "body_bytes" },
      },
    });
    expect(await statusOf(same, 30_000)).toBe(200);
    // Other callers can send bodies of every size meanwhile.
    expect(await Promise.all([LARGEST, LARGEST / 2].map((bytes) => statusOf(others, bytes)))).toEqual([
      200, 200,
    ]);
    for (const socket of sockets) socket.destroy();
    await eventually("the room to be free", async () => (await statusOf(same, LARGEST)) === 200);
  });

  test("is bounded together with others by the total memory", async () => {
    const callers = [authorize(gateway.key), authorize(other)];
    const sockets = (await Promise.all(callers.map((who) => takeAll(who, 6, 429)))).flat();
    const third = comeFrom("203.0.113.7");
    sockets.push(...(await takeAll(third, 2, 503)));
    expect(await statusOf(comeFrom("203.0.113.8"), 10_000)).toBe(503);
    for (const socket of sockets) socket.destroy();
    await eventually("the room to be free", async () => (await statusOf(third, LARGEST)) === 200);
  });
});
