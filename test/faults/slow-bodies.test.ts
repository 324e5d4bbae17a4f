import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { dialRaw, encodeChatHead } from "../support/clients/raw-client.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { postChat } from "../support/gateway/gateway.ts";
import { PROMPT, startTwoVendors, type TwoVendors } from "./two-vendors.ts";

const SILENCE_MS = 60_000;
const KIB = 1024;

let vendors: TwoVendors;

beforeAll(async () => {
  vendors = await startTwoVendors("limits: {body_bytes: 2000000, total_body_bytes: 2000000}");
});
afterAll(() => vendors.stop());
beforeEach(() => vendors.reset());

/** Returns a request of about this many bytes. */
function requestOf(bytes: number): string {
  const content = `${PROMPT} ${"x".repeat(bytes)}`;
  return JSON.stringify({ model: "acme/alone", messages: [{ role: "user", content }] });
}

describe("a request body that arrives slowly", () => {
  test.each([
    ["small and of a known length", 1_000, (bytes: number) => `content-length: ${bytes}`],
    ["large and of a known length", 900 * KIB, (bytes: number) => `content-length: ${bytes}`],
    ["of unknown length", 1_000, () => "transfer-encoding: chunked"],
  ])(
    "that is %s is rejected with 408 after a minute of silence, and its connection is closed",
    async (_, bytes, framing) => {
      const { clock, gateway } = vendors;
      const client = await dialRaw(gateway);
      client.send(encodeChatHead(gateway, framing(bytes)));
      await turnEventLoop();
      for (let second = 1; second < SILENCE_MS / 1_000; second++) {
        clock.advance(1_000);
        client.send(framing(0).startsWith("transfer") ? "1\r\n \r\n" : " ");
        await turnEventLoop(2);
      }
      expect(client.received).toBe("");
      clock.advance(1_000);
      await client.closed;
      expect(client.received).toStartWith("HTTP/1.1 408 ");
      expect(client.received).toContain('"type":"client_timeout"');
      expect(client.received).toContain("timers.client_silence_ms");
    },
  );

  test("has a minute for each 256 KiB, and is answered once it is complete", async () => {
    const { clock, gateway } = vendors;
    const body = requestOf(900 * KIB);
    const client = await dialRaw(gateway);
    client.send(encodeChatHead(gateway, `content-length: ${body.length}`));
    for (let at = 0; at < body.length; at += 300 * KIB) {
      client.send(body.slice(at, at + 300 * KIB));
      await turnEventLoop(500);
      clock.advance(SILENCE_MS - 1);
    }
    await client.waitForText("HTTP/1.1 ");
    expect(client.received).not.toStartWith("HTTP/1.1 408 ");
    client.disconnect();
  });

  test("that is rejected releases its share of the memory for request bodies", async () => {
    const { clock, gateway } = vendors;
    const client = await dialRaw(gateway);
    client.send(encodeChatHead(gateway, "transfer-encoding: chunked"));
    const half = "x".repeat(1_000 * KIB);
    client.send(`${half.length.toString(16)}\r\n${half}`);
    await turnEventLoop(200);
    expect((await postChat(gateway, requestOf(1_100 * KIB))).status).toBe(503);
    clock.advance(SILENCE_MS);
    await client.closed;
    const response = await postChat(gateway, requestOf(1_100 * KIB));
    expect(response.status).not.toBe(503);
  });
});
