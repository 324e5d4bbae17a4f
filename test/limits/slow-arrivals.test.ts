import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { dialRaw, encodeChatHead, type RawClient } from "../support/clients/raw-client.ts";
import { ON_POSTGRES } from "../support/databases/test-databases.ts";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import { eventually } from "../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { scrape } from "../support/servers/scrape.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

const KB = 1_000;
const TOTAL = 4_000 * KB;
/** How long a body may take before it gives way. Milliseconds. */
const SLOW_MS = 1_000;

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;
let clients: RawClient[] = [];

beforeEach(async () => {
  vendor = startVendor(healthy("Alpha"));
  clock = createTestClock();
  gateway = await startTestGateway({
    clock,
    yaml: `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models: [{id: acme/model, context_length: 2000000}, {id: "acme/gift:free", context_length: 2000000}]
limits: {body_bytes: ${TOTAL}, total_body_bytes: ${TOTAL}}
`,
  });
  clients = [];
});
afterEach(async () => {
  for (const client of clients) client.disconnect();
  await gateway.stop();
  vendor.stop();
});

/** Sends a head that announces a body, and the first bytes of it. */
async function begin(announced: number, sent: number, { anonymous = false } = {}): Promise<RawClient> {
  const client = await dialRaw(gateway);
  const head = encodeChatHead(gateway, `content-length: ${announced}`);
  client.send((anonymous ? head.replace(/authorization: [^\r]*\r\n/, "") : head) + " ".repeat(sent));
  clients.push(client);
  return client;
}

/** Sends a request of about this many bytes, and returns its status. */
async function ask(bytes: number, model = "acme/model", key = gateway.key): Promise<number> {
  const body = { model, messages: [{ role: "user", content: "x".repeat(bytes) }] };
  const response = await postChat(gateway, body, { authorization: key === "" ? "" : `Bearer ${key}` });
  await response.text();
  return response.status;
}

async function heldBytes(): Promise<number> {
  return (await scrape(gateway)).value("gateway_body_memory_bytes") ?? Number.NaN;
}

describe("bodies that are announced and do not arrive", () => {
  test.each([
    ["small", 15 * KB],
    ["of the size that agents send", 250 * KB],
    ["large", TOTAL / 2],
  ])("keep no memory from the same callers or from others if they are %s", async (_, announced) => {
    for (let at = 0; at < 400; at++) await begin(announced, 1, { anonymous: at % 2 === 0 });
    await turnEventLoop(50);
    expect(await heldBytes()).toBeLessThan(1 * KB);
    expect(await ask(500 * KB)).toBe(200);
    expect(await ask(10 * KB)).toBe(200);
    expect(await ask(500 * KB, "acme/gift:free", "")).toBe(200);
    expect(clients.every(({ received }) => received === "")).toBe(true);
  });
});

describe("bodies that arrive slowly while memory is short", () => {
  /** Begins four bodies, of which nearly all has arrived, and which fill the memory. */
  async function fill(): Promise<readonly RawClient[]> {
    const slow: RawClient[] = [];
    for (let at = 0; at < 4; at++) {
      slow.push(await begin(TOTAL / 4, TOTAL / 4 - 1));
      await eventually("the body has arrived", async () => (await heldBytes()) >= ((at + 1) * TOTAL) / 4 - 4);
      clock.advance(10);
    }
    return slow;
  }

  test("give way to others, the slowest first, and are told so before their connection is closed", async () => {
    const slow = await fill();
    expect(await ask(500 * KB)).toBe(503);
    expect(slow.every(({ received }) => received === "")).toBe(true);
    clock.advance(SLOW_MS);
    expect(await ask(100 * KB)).toBe(200);
    const [first, ...others] = slow as [RawClient, ...RawClient[]];
    await first.closed;
    expect(first.received).toStartWith("HTTP/1.1 503 ");
    expect(first.received).toContain("arrived slowly");
    await turnEventLoop(50);
    expect(others.every(({ received }) => received === "")).toBe(true);
  });

  test("keep what they hold if they are not slow", async () => {
    const slow = await fill();
    clock.advance(SLOW_MS / 2);
    expect(await ask(100 * KB)).toBe(503);
    expect(slow.every(({ received }) => received === "")).toBe(true);
  });

  // On PostgreSQL the key is looked up for longer than a number of turns of the event loop.
  test.skipIf(ON_POSTGRES)(
    "are answered if no other request needs their memory, however slow they are",
    async () => {
      const body = JSON.stringify({
        model: "acme/model",
        messages: [{ role: "user", content: "x".repeat(50 * KB) }],
      });
      const client = await dialRaw(gateway);
      clients.push(client);
      client.send(encodeChatHead(gateway, `content-length: ${body.length}`) + body.slice(0, 30 * KB));
      await turnEventLoop(50);
      clock.leap(20 * SLOW_MS);
      expect(await ask(100 * KB)).toBe(200);
      client.send(body.slice(30 * KB));
      await client.waitForText("Alpha one two");
    },
  );
});

test("bodies of which a part has arrived count for the share of their caller, and release it when their client leaves", async () => {
  const body = 900 * KB;
  for (let at = 0; at < 4; at++) await begin(body, body - 1);
  await eventually("all have arrived", async () => (await heldBytes()) >= 4 * (body - 1));
  for (const client of clients) client.disconnect();
  await waitFor(async () => ((await heldBytes()) === 0 ? true : null));
  expect(await ask(1_000 * KB)).toBe(200);
});
