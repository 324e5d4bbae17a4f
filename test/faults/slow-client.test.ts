import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { postRawChat, type RawClient } from "../support/clients/raw-client.ts";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import { closing, opening, type Play, textOf, type VendorCall } from "../support/vendors/vendor.ts";
import { fetchRecord, PROMPT, startTwoVendors, type TwoVendors } from "./two-vendors.ts";

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors();
});
afterAll(() => vendors.stop());
beforeEach(() => {
  vendors.reset();
  vendors.gateway.log.length = 0;
});

const MIB = 1024 * 1024;
const EVENTS = 4_096;
const EVENT_TEXT = "x".repeat(16 * 1024);
/** The size of the vendor's answer: 64 MiB. */
const ANSWER_BYTES = EVENTS * EVENT_TEXT.length;
/**
 * The maximum in flight while the client does not read: the vendor's own buffer and the gateway's bounded
 * buffers.
 */
const HELD_BYTES = 6 * MIB;
/** The silence deadline of a client. Milliseconds. */
const SILENCE_MS = 60_000;

const sendLargeAnswer: Play = async (call) => {
  await call.begin();
  await call.events(...opening("Alpha"));
  await call.gate();
  for (let i = 0; i < EVENTS; i++) await call.events(textOf(EVENT_TEXT));
  await call.events(...closing());
  await call.end();
};

/**
 * Opens a client that reads the first text and stops reading, while the vendor sends until backpressure stops
 * it.
 */
async function stall(): Promise<{ client: RawClient; call: VendorCall }> {
  const { a, gateway } = vendors;
  a.perform(sendLargeAnswer);
  const body = { model: "acme/both", stream: true, messages: [{ role: "user", content: PROMPT }] };
  const client = await postRawChat(gateway, body);
  await client.waitForText("Alpha");
  client.pause();
  const call = await a.call(0);
  call.openGate();
  await untilQuiet(() => call.connection.bytesSent);
  return { client, call };
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

function outcomeOf(): string | null {
  const line = vendors.gateway.log.find(({ fields }) => fields["outcome"] !== undefined);
  return line === undefined ? null : String(line.fields["outcome"]);
}

describe("a client that reads slowly", () => {
  test("applies backpressure to the upstream, and gets its complete answer in the end", async () => {
    const { client, call } = await stall();
    expect(call.connection.bytesSent).toBeLessThan(HELD_BYTES);
    // As long as the upstream itself may be silent.
    vendors.clock.advance(SILENCE_MS - 1);
    await turnEventLoop();
    expect(outcomeOf()).toBeNull();
    client.resume();
    await waitFor(() => outcomeOf());
    expect(outcomeOf()).toBe("completed");
    await waitFor(() => (client.received.endsWith("data: [DONE]\n\n\r\n0\r\n\r\n") ? true : null));
    expect(client.receivedBytes).toBeGreaterThan(ANSWER_BYTES);
    expect(client.received).not.toContain("keep-alive");
    client.disconnect();
  });

  test("and reads a little every minute keeps its connection", async () => {
    const { client } = await stall();
    for (let minute = 0; minute < 5; minute++) {
      vendors.clock.advance(SILENCE_MS - 1);
      const wanted = client.receivedBytes + MIB;
      client.resume();
      await waitFor(() => (client.receivedBytes > wanted ? true : null));
      client.pause();
      await turnEventLoop();
    }
    expect(outcomeOf()).toBeNull();
    client.disconnect();
    await waitFor(() => outcomeOf());
  });

  test("and reads nothing for a minute is disconnected and charged for the output so far", async () => {
    const { client, call } = await stall();
    vendors.clock.advance(SILENCE_MS);
    await call.connection.closed;
    const line = await waitFor(
      () => vendors.gateway.log.find(({ fields }) => fields["outcome"] !== undefined) ?? null,
    );
    const record = await fetchRecord(vendors.gateway, String(line.fields["generation_id"]));
    expect(record).toMatchObject({ outcome: "cancelled", error_type: "client_timeout", estimated: true });
    expect(record["tokens_completion"]).toBeGreaterThan(1_000);
    expect(record["total_cost"]).toBeGreaterThan(0);
    client.resume();
    await client.closed;
    expect(client.received).not.toContain("[DONE]");
  });

  test("and disconnects ends the upstream call", async () => {
    const { client, call } = await stall();
    client.disconnect();
    await call.connection.closed;
    await waitFor(() => outcomeOf());
    expect(outcomeOf()).toBe("cancelled");
  });
});
