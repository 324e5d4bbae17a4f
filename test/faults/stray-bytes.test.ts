import { afterAll, describe, expect, test } from "bun:test";
import { turnEventLoop } from "../support/event-loop.ts";
import { postChat, startTestGateway } from "../support/gateway/gateway.ts";
import { createTestClock } from "../support/test-clock.ts";
import {
  closing,
  documentOf,
  opening,
  type Play,
  startVendor,
  type VendorCall,
} from "../support/vendors/vendor.ts";

const CALLERS = 64;
/** With seven further answers after each one, nearly every client would get another client's answer. */
const STRAYS = 7;

const vendor = startVendor();
afterAll(() => vendor.stop());

function promptOf(call: VendorCall): string {
  return (call.body as { messages: { content: string }[] }).messages[0]!.content;
}

/** Answers, and sends more answers once the client has had time to read the first. */
const repeatDocument: Play = async (call) => {
  await call.respond(200, documentOf(promptOf(call)));
  void sendLater(() => call.respond(200, documentOf(`stray of ${promptOf(call)}`)));
};

const repeatStream: Play = async (call) => {
  const stream = async (text: string): Promise<void> => {
    await call.begin();
    await call.events(...opening(text), ...closing());
    await call.end();
  };
  await stream(promptOf(call));
  void sendLater(() => stream(`stray of ${promptOf(call)}`));
};

async function sendLater(send: () => Promise<void>): Promise<void> {
  for (let stray = 0; stray < STRAYS; stray++) {
    await turnEventLoop(40);
    await send();
  }
}

describe("a vendor that sends further answers after each of its answers", () => {
  test.each([
    ["documents", false, repeatDocument],
    ["streams", true, repeatStream],
  ] as const)(
    "gives no client another client's answer, as %s, and is logged once",
    async (_, stream, play) => {
      vendor.perform(play);
      const gateway = await startTestGateway({
        // The clock stands still, so only the stray bytes affect whether the connection is reused.
        clock: createTestClock(),
        yaml: `
upstream: {transport: http1}
providers:
  vendor: {base_url: "${vendor.baseUrl}", models: [{id: acme/one}]}`,
      });
      const wrong: string[] = [];
      for (let principal = 0; principal < CALLERS; principal++) {
        const content = `caller ${principal}`;
        const body = { model: "acme/one", stream, messages: [{ role: "user", content }] };
        const text = await (await postChat(gateway, body)).text();
        if (!text.includes(`"${content}"`)) wrong.push(`${content} got: ${text}`);
      }
      expect(wrong).toEqual([]);
      const warnings = gateway.log.filter(({ event }) => event.startsWith("an upstream sends bytes after"));
      expect(warnings.length).toBe(1);
      await gateway.stop();
    },
  );
});
