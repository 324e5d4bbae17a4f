import { afterAll, beforeAll, expect, test } from "bun:test";
import { turnEventLoop } from "../support/event-loop.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { startVendor, type Vendor } from "../support/vendors/vendor.ts";

const FIRST = Buffer.from([0xff, 0xf3, 0x44, 0xc4, 0x00]);
const SECOND = Buffer.from([0x0a, 0x80, 0x90, 0xe2, 0x82]);

let vendor: Vendor;
let clock: TestClock;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = startVendor();
  clock = createTestClock();
  gateway = await startTestGateway({
    clock,
    yaml: `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models: [{id: acme/speak, name: up, output: speech, prices: {prompt: "0", completion: "0", character: "0.000015"}}]
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

test.each(["audio/mpeg", "audio/wav", "application/octet-stream"])(
  "audio of the type %s that pauses for most of a minute arrives byte for byte, without keep-alives in it",
  async (type) => {
    vendor.perform(async (call) => {
      await call.begin(200, { "content-type": type });
      await call.piece(FIRST);
      await call.gate();
      await call.piece(SECOND);
      await call.end();
    });
    const response = await fetch(`${gateway.url}/v1/audio/speech`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/speak", input: "Hello", voice: "alloy" }),
    });
    const call = await vendor.call(0);
    await call.atGate;
    for (let second = 0; second < 50; second++) {
      clock.advance(1_000);
      await turnEventLoop(2);
    }
    call.openGate();
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.concat([FIRST, SECOND]));
  },
);
