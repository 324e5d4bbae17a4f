import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { fetchRecord, startTwoVendors, type TwoVendors } from "../../faults/two-vendors.ts";
import { ABORT_WATCH_DELAY_MS, type RawClient } from "../../support/clients/raw-client.ts";
import {
  encodeFrame,
  type Frame,
  openRawSocket,
  openSocket,
  UPGRADE,
} from "../../support/clients/socket-client.ts";
import { turnEventLoop, waitFor } from "../../support/event-loop.ts";
import { startTestGateway } from "../../support/gateway/gateway.ts";
import { scrape } from "../../support/servers/scrape.ts";
import { createTestClock } from "../../support/test-clock.ts";
import {
  closing,
  healthy,
  opening,
  type Play,
  textOf,
  type VendorCall,
} from "../../support/vendors/vendor.ts";

const ASK = { model: "acme/alone", input: "Hi" };
const CREATE = { type: "response.create", ...ASK };
const ACKNOWLEDGE = { type: "response.processed", response_id: "gen_1" };
const MINUTE_MS = 60_000;
const PING_MS = 30_000;
const DRAIN_MS = 20_000;
const MIB = 1024 * 1024;

let vendors: TwoVendors;
let isStopped: boolean;

beforeEach(async () => {
  vendors = await startTwoVendors(`server: {drain_ms: ${DRAIN_MS}}`);
  isStopped = false;
});
afterEach(async () => {
  if (!isStopped) await vendors.stop();
  vendors.a.stop();
  vendors.b.stop();
  vendors.mute.stop();
});

const speakLate: Play = async (call) => {
  await call.begin();
  await call.events(...opening("Alpha one"), textOf(" two"));
  await call.gate();
  await call.events(textOf(" three"), ...closing());
  await call.end();
};

const receivedFrames = async () =>
  (await scrape(vendors.gateway)).value("gateway_websocket_frames_total", { direction: "received" }) ?? 0;

const openSockets = async () => (await scrape(vendors.gateway)).value("gateway_websockets");

/** Returns the record of the only generation of this test, once it has ended. */
async function settledRecord(): Promise<Frame> {
  const { gateway } = vendors;
  const find = () => gateway.log.find(({ fields }) => fields["outcome"] !== undefined) ?? null;
  const line = await waitFor(find);
  return fetchRecord(gateway, String(line.fields["generation_id"]));
}

describe("a client that leaves", () => {
  test("in the middle of an answer ends the call of the vendor, and is charged for what was produced", async () => {
    vendors.a.perform(speakLate);
    const client = await openRawSocket(vendors.gateway);
    client.sendBytes(encodeFrame(CREATE));
    await client.waitForText(" two");
    const call = await vendors.a.call(0);
    client.disconnect();
    await call.connection.closed;
    const record = await settledRecord();
    expect(record).toMatchObject({ outcome: "cancelled", estimated: true, streamed: true });
    expect(record["total_cost"]).toBeGreaterThan(0);
    expect(await waitFor(async () => ((await openSockets()) === 0 ? true : null))).toBe(true);
  });

  test("before its first token ends the call as well", async () => {
    vendors.a.perform((call) => call.gate());
    const client = await openSocket(vendors.gateway);
    client.send(CREATE);
    const call = await vendors.a.call(0);
    await call.atGate;
    vendors.clock.advance(ABORT_WATCH_DELAY_MS);
    await client.close();
    await call.connection.closed;
    expect((await settledRecord())["outcome"]).toBe("cancelled");
  });

  test("leaves nothing of its waiting requests", async () => {
    vendors.a.perform(speakLate);
    const client = await openSocket(vendors.gateway);
    for (let at = 0; at < 5; at++) client.send(CREATE);
    const call = await vendors.a.call(0);
    await client.close();
    await call.connection.closed;
    await settledRecord();
    expect((await scrape(vendors.gateway)).value("gateway_body_memory_bytes")).toBe(0);
    expect(vendors.a.calls).toHaveLength(1);
  });
});

const EVENTS = 1_024;
const EVENT_TEXT = "x".repeat(16 * 1024);
/** The most in flight while the client does not read: the buffers of the vendor, of both connections and of the gateway. */
const HELD_BYTES = 6 * MIB;

const sendLargeAnswer: Play = async (call) => {
  await call.begin();
  await call.events(...opening("Alpha"));
  await call.gate();
  for (let at = 0; at < EVENTS; at++) await call.events(textOf(EVENT_TEXT));
  await call.events(...closing());
  await call.end();
};

/** Opens a client that stops reading, while the vendor sends until backpressure stops it. */
async function stall(): Promise<{ readonly client: RawClient; readonly call: VendorCall }> {
  vendors.a.perform(sendLargeAnswer);
  const client = await openRawSocket(vendors.gateway);
  client.sendBytes(encodeFrame(CREATE));
  await client.waitForText("Alpha");
  client.pause();
  const call = await vendors.a.call(0);
  call.openGate();
  for (let before = -1; before !== call.connection.bytesSent; ) {
    before = call.connection.bytesSent;
    await turnEventLoop(2_000);
  }
  return { client, call };
}

describe("a client that does not read", () => {
  test("stops its own vendor, and gets its whole answer once it reads", async () => {
    const { client, call } = await stall();
    expect(call.connection.bytesSent).toBeLessThan(HELD_BYTES);
    vendors.clock.advance(MINUTE_MS - 1);
    // Others are answered meanwhile.
    vendors.a.perform(healthy("Beta"));
    const other = await openSocket(vendors.gateway);
    expect(await other.ask(ASK)).toMatchObject({ type: "response.completed" });
    await other.close();
    client.resume();
    // Each text is in its delta, and all of them in four events at the end.
    await waitFor(() => (client.receivedBytes > 5 * EVENTS * EVENT_TEXT.length ? true : null));
    await waitFor(() => (client.received.endsWith('"user":null}}') ? true : null));
    client.disconnect();
  });

  test("for a minute is disconnected, and charged for the answer so far", async () => {
    const { client, call } = await stall();
    vendors.clock.advance(MINUTE_MS);
    await call.connection.closed;
    const record = await settledRecord();
    expect(record).toMatchObject({ outcome: "cancelled", error_type: "client_timeout", estimated: true });
    expect(record["tokens_completion"]).toBeGreaterThan(1_000);
    client.resume();
    await client.closed;
    expect(client.received).not.toContain("response.completed");
  });

  test("and sends one wrong frame after the other is disconnected", async () => {
    const { client } = await stall();
    client.sendBytes(Buffer.concat(Array.from({ length: 20_000 }, () => encodeFrame({ type: "unknown" }))));
    client.resume();
    await client.closed;
    expect((await settledRecord())["error_type"]).toBe("client_timeout");
  });
});

describe("a client that is gone without a word", () => {
  test("is noticed by a ping that it does not answer", async () => {
    const client = await openRawSocket(vendors.gateway);
    vendors.clock.advance(PING_MS);
    await turnEventLoop(100);
    expect(await openSockets()).toBe(1);
    vendors.clock.advance(PING_MS);
    await client.closed;
    expect(await openSockets()).toBe(0);
  });

  test("is told from one that is idle, and answers pings", async () => {
    const client = await openSocket(vendors.gateway);
    for (let at = 0; at < 5; at++) {
      vendors.clock.advance(PING_MS);
      // The answer of the client to the ping arrives before this frame.
      const before = await receivedFrames();
      client.send(ACKNOWLEDGE);
      await waitFor(async () => ((await receivedFrames()) > before ? true : null));
    }
    expect(await client.ask(ASK)).toMatchObject({ type: "response.completed" });
    await client.close();
  });
});

describe("a connection that is 60 minutes old", () => {
  /** Lets the time pass up to a moment before the greatest age. */
  async function grow(client: Awaited<ReturnType<typeof openSocket>>): Promise<void> {
    for (let at = 1; at < 120; at++) {
      vendors.clock.advance(PING_MS);
      const before = await receivedFrames();
      client.send(ACKNOWLEDGE);
      await waitFor(async () => ((await receivedFrames()) > before ? true : null));
    }
  }
  const LIMIT = { type: "error", status: 400, error: { code: "websocket_connection_limit_reached" } };

  test("is told so, and closed", async () => {
    const client = await openSocket(vendors.gateway);
    await grow(client);
    vendors.clock.advance(PING_MS);
    expect(await client.next()).toMatchObject(LIMIT);
    expect(await client.closed).toEqual({ code: 1001, reason: "connection limit reached" });
  });

  test("ends its running answer before, and takes no more requests", async () => {
    vendors.a.perform(speakLate);
    const client = await openSocket(vendors.gateway);
    await grow(client);
    client.send(CREATE);
    const call = await vendors.a.call(0);
    client.send(CREATE);
    await waitFor(async () => ((await receivedFrames()) === 121 ? true : null));
    vendors.clock.advance(PING_MS);
    let frame = await client.next();
    while (frame["type"] !== "error") frame = await client.next();
    expect(frame).toMatchObject(LIMIT);
    client.send(CREATE);
    expect(await client.next()).toMatchObject(LIMIT);
    call.openGate();
    const frames = await client.readTurn();
    expect(frames.at(-1)).toMatchObject({ type: "response.completed" });
    expect(await client.next()).toMatchObject(LIMIT);
    expect((await client.closed).code).toBe(1001);
    expect(vendors.a.calls).toHaveLength(1);
  });
});

describe("a gateway that stops", () => {
  const STOPPING = { type: "error", status: 503, headers: { "retry-after": "1" } };

  test("closes idle connections at once, and others once their answer has ended", async () => {
    vendors.a.perform(speakLate);
    const [idle, busy] = [await openSocket(vendors.gateway), await openSocket(vendors.gateway)];
    busy.send(CREATE);
    const call = await vendors.a.call(0);
    await call.atGate;
    isStopped = true;
    const stopped = vendors.gateway.stop();
    expect(await idle.closed).toEqual({ code: 1012, reason: "service restart" });
    busy.send(CREATE);
    let frame = await busy.next();
    while (frame["type"] !== "error") frame = await busy.next();
    expect(frame).toMatchObject(STOPPING);
    call.openGate();
    expect((await busy.readTurn()).at(-1)).toMatchObject({ type: "response.completed" });
    expect((await busy.closed).code).toBe(1012);
    await stopped;
    expect(vendors.a.calls).toHaveLength(1);
  });

  test("answers waiting requests with an error, and cancels an answer that takes too long", async () => {
    vendors.a.perform(speakLate);
    const client = await openSocket(vendors.gateway);
    client.send(CREATE);
    client.send(CREATE);
    const call = await vendors.a.call(0);
    await call.atGate;
    await waitFor(async () => ((await receivedFrames()) === 2 ? true : null));
    isStopped = true;
    const stopped = vendors.gateway.stop();
    const types: string[] = [];
    await waitFor(() => (client.frames.some(({ type }) => type === "error") ? true : null));
    vendors.clock.advance(DRAIN_MS);
    await client.closed;
    await stopped;
    for (const { type } of client.frames) types.push(type);
    expect(types.filter((type) => type === "error")).toHaveLength(1);
    expect(types.at(-1)).toBe("response.failed");
  });

  test("opens no more connections while it still answers over HTTP", async () => {
    const clock = createTestClock();
    const gateway = await startTestGateway({ clock, drainNoticeMs: 5_000 });
    const stopped = gateway.stop();
    const headers = { authorization: `Bearer ${gateway.key}` };
    const upgrade = await fetch(`${gateway.url}/v1/responses`, { headers: { ...headers, ...UPGRADE } });
    expect([upgrade.status, upgrade.headers.get("retry-after")]).toEqual([503, "1"]);
    await upgrade.text();
    const models = await fetch(`${gateway.url}/v1/models`, { headers });
    expect(models.status).toBe(200);
    await models.text();
    let isOver = false;
    void stopped.then(() => {
      isOver = true;
    });
    await waitFor(() => {
      clock.advance(500);
      return isOver ? true : null;
    });
  });
});
