import { afterEach, describe, expect, test } from "bun:test";
import { postRawChat, type RawClient } from "../support/clients/raw-client.ts";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import { shareOf } from "../support/long-run.ts";
import { closing, documentOf, opening, type Play, textOf } from "../support/vendors/vendor.ts";
import { PROMPT, startTwoVendors, type TwoVendors } from "./two-vendors.ts";

/** On other systems the socket buffers are not bounded, and hold everything that these vendors send. */
const BOUNDS_BUFFERS = process.platform === "linux";
const SILENCE_MS = 60_000;
const KIB = 1024;
const EVENT_TEXT = "x".repeat(64 * KIB);
const MANY = shareOf(200, 1 / 4);

let vendors: TwoVendors;

afterEach(() => vendors.stop());

const messages = [{ role: "user", content: PROMPT }];
const STREAM = { model: "acme/both", stream: true, messages };

/** Sends more than the buffers of both ends hold, then waits for the test. */
const sendLargeAnswer: Play = async (call) => {
  await call.begin();
  await call.events(...opening("Alpha"));
  for (let i = 0; i < 16; i++) await call.events(textOf(EVENT_TEXT));
  await call.gate();
  await call.events(...closing());
  await call.end();
};

async function stallMany(count: number): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  for (let i = 0; i < count; i++) {
    const client = await postRawChat(vendors.gateway, STREAM);
    client.pause();
    clients.push(client);
  }
  await vendors.a.call(count - 1);
  await Promise.all(vendors.a.calls.map((call) => call.atGate));
  await turnEventLoop(200);
  return clients;
}

/** The outcomes of the generations that have ended, with their recorded errors. */
function endings(): string[] {
  const ended = vendors.gateway.log.filter(({ fields }) => fields["outcome"] !== undefined);
  return ended.map(({ fields }) => `${fields["outcome"]} ${fields["error"]}`);
}

describe.skipIf(!BOUNDS_BUFFERS)("clients that stop reading", () => {
  test("are all disconnected after a minute, and one that reads gets its answer", async () => {
    vendors = await startTwoVendors();
    vendors.a.perform(sendLargeAnswer);
    const clients = await stallMany(MANY);
    expect(endings()).toEqual([]);
    vendors.clock.advance(SILENCE_MS - 1);
    const reader = await postRawChat(vendors.gateway, STREAM);
    (await vendors.a.call(MANY)).openGate();
    await reader.waitForText("[DONE]");
    vendors.clock.advance(1);
    await waitFor(() => (endings().length === MANY + 1 ? true : null));
    expect(endings().filter((ending) => ending === "cancelled client_timeout")).toHaveLength(MANY);
    expect(endings().filter((ending) => ending === "completed null")).toHaveLength(1);
    for (const client of clients) client.resume();
    await Promise.all(clients.map((client) => client.closed));
    reader.disconnect();
  });

  test("are disconnected earlier, the longest silent first, when the unread answers exceed their maximum", async () => {
    vendors = await startTwoVendors("limits: {total_unread_bytes: 1048576}");
    vendors.a.perform(sendLargeAnswer);
    const clients = await stallMany(20);
    const closed = endings().length;
    expect(closed).toBeGreaterThan(5);
    expect(closed).toBeLessThan(20);
    expect(new Set(endings())).toEqual(new Set(["cancelled client_timeout"]));
    const [first, last] = [clients[0]!, clients.at(-1)!];
    first.resume();
    await first.closed;
    expect(first.received).not.toContain("[DONE]");
    last.resume();
    (await vendors.a.call(19)).openGate();
    await last.waitForText("[DONE]");
    for (const client of clients) client.disconnect();
    await waitFor(() => (endings().length === 20 ? true : null));
  });

  test("are disconnected in the middle of an answer that is not streamed", async () => {
    vendors = await startTwoVendors();
    const text = "x".repeat(4_096 * KIB);
    vendors.a.perform((call) => call.respond(200, documentOf(text)));
    const client = await postRawChat(vendors.gateway, { ...STREAM, stream: false });
    await client.waitForText("HTTP/1.1 200");
    client.pause();
    await waitFor(() => (endings().length === 1 ? true : null));
    await turnEventLoop(200);
    vendors.clock.advance(SILENCE_MS);
    client.resume();
    await client.closed;
    expect(client.receivedBytes).toBeLessThan(text.length);
    expect(endings()).toEqual(["completed null"]);
  });
});
