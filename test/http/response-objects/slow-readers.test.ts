import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { PROMPT, startTwoVendors, type TwoVendors } from "../../faults/two-vendors.ts";
import { postRaw, type RawClient } from "../../support/clients/raw-client.ts";
import { turnEventLoop, waitFor } from "../../support/event-loop.ts";
import {
  closing,
  healthy,
  opening,
  type Play,
  textOf,
  type VendorCall,
} from "../../support/vendors/vendor.ts";

const MIB = 1024 * 1024;
const EVENT_TEXT = "x".repeat(16 * 1024);
/** More than the buffers of both ends hold: 16 MiB. */
const EVENTS = 1_024;
/** Few enough for the buffers to hold them, so that the answer ends while its client does not read. Its last events repeat their texts. */
const LATE_EVENTS = 4;
/** How long a client may read nothing. Milliseconds. */
const SILENCE_MS = 60_000;
const KEEP_ALIVE_MS = 10_000;

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors();
});
afterAll(() => vendors.stop());
beforeEach(() => {
  vendors.reset();
  vendors.gateway.log.length = 0;
});

/** Waits for the test after its first text, before as many more events with text. */
const sendAnswer =
  (events: number, text = EVENT_TEXT): Play =>
  async (call) => {
    await call.begin();
    await call.events(...opening("Alpha"));
    await call.gate();
    for (let i = 0; i < events; i++) await call.events(textOf(text));
    await call.events(...closing());
    await call.end();
  };

const STREAM = { model: "acme/alone", input: PROMPT, stream: true };

async function call(path: string, body?: object): Promise<{ status: number; body: { id: string } }> {
  const { base, key } = vendors.gateway;
  const response = await fetch(base + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as { id: string } };
}

/** Opens a client that reads the first text and stops reading, while the vendor sends until backpressure stops it. */
async function stall(
  fields: object,
  play = sendAnswer(EVENTS),
): Promise<{ client: RawClient; call: VendorCall }> {
  const { a, gateway } = vendors;
  a.perform(play);
  const client = await postRaw(gateway, "/responses", { ...STREAM, ...fields });
  await client.waitForText("Alpha");
  client.pause();
  const asked = await a.call(0);
  asked.openGate();
  await untilQuiet(() => asked.connection.bytesSent);
  return { client, call: asked };
}

/** Waits until a count has not changed for many turns of the event loop. */
async function untilQuiet(count: () => number): Promise<void> {
  const STILL_TURNS = 2_000;
  let before = -1;
  while (count() !== before) {
    before = count();
    await turnEventLoop(STILL_TURNS);
  }
}

const findEnd = () => vendors.gateway.log.find(({ fields }) => fields["outcome"] !== undefined) ?? null;

// On other systems the socket buffers are not bounded, and hold everything that the vendor sends.
describe.skipIf(process.platform !== "linux")("the client of a stream that is kept", () => {
  test("is disconnected if it reads nothing for a minute, and its conversation is free before it reads again", async () => {
    const { id } = (await call("/conversations", {})).body;
    const { client, call: asked } = await stall({ conversation: id });
    expect((await call("/responses", { ...STREAM, stream: false, conversation: id })).status).toBe(409);
    vendors.clock.advance(SILENCE_MS);
    await asked.connection.closed;
    expect((await waitFor(findEnd)).fields).toMatchObject({ outcome: "cancelled", error: "client_timeout" });
    vendors.a.perform(healthy("Beta"));
    const again = { ...STREAM, stream: false, conversation: id };
    await waitFor(async () => ((await call("/responses", again)).status === 200 ? true : null));
    client.resume();
    await client.closed;
    expect(client.received.includes("[DONE]")).toBe(false);
  });

  test.each([false, true])(
    "keeps its connection if it reads a little of a large event every minute, with store: %p",
    async (store) => {
      const { client } = await stall({ store }, sendAnswer(4, "x".repeat(8 * MIB)));
      for (let minute = 0; minute < 5; minute++) {
        vendors.clock.advance(SILENCE_MS - 1);
        const wanted = client.receivedBytes + MIB / 4;
        client.resume();
        await waitFor(() => (client.receivedBytes > wanted ? true : null));
        client.pause();
        await turnEventLoop();
      }
      expect(findEnd()).toBeNull();
      client.disconnect();
      await waitFor(findEnd);
    },
  );

  test("gets the whole answer however late it reads, and the response is stored before its end", async () => {
    vendors.a.perform(sendAnswer(LATE_EVENTS));
    const client = await postRaw(vendors.gateway, "/responses", { ...STREAM, store: true });
    await client.waitForText("Alpha");
    client.pause();
    const asked = await vendors.a.call(0);
    asked.openGate();
    const line = await waitFor(findEnd);
    const path = `/responses/${line.fields["generation_id"]}`;
    await waitFor(async () => ((await call(path)).status === 200 ? true : null));
    client.resume();
    await client.waitForText("data: [DONE]");
    expect(client.received.includes('"store":true')).toBe(true);
    expect(client.receivedBytes).toBeGreaterThan(4 * LATE_EVENTS * EVENT_TEXT.length);
    client.disconnect();
  });

  test("gets keep-alives while the answer becomes a compaction, of which there is nothing to send yet", async () => {
    const ending = Promise.withResolvers<void>();
    vendors.a.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Alpha"));
      await call.gate();
      await call.events(textOf("one"));
      await ending.promise;
      await call.events(...closing());
      await call.end();
    });
    const input = [{ role: "user", content: PROMPT }, { type: "compaction_trigger" }];
    const client = await postRaw(vendors.gateway, "/responses", { ...STREAM, input });
    await client.waitForText("response.in_progress");
    vendors.clock.advance(KEEP_ALIVE_MS / 2);
    (await vendors.a.call(0)).openGate();
    await turnEventLoop(200);
    vendors.clock.advance(KEEP_ALIVE_MS / 2 - 1);
    await turnEventLoop();
    expect(client.received.includes("keep-alive")).toBe(false);
    vendors.clock.advance(1);
    await client.waitForText(": keep-alive");
    ending.resolve();
    await client.waitForText("data: [DONE]");
    client.disconnect();
  });
});
