import { expect, test } from "bun:test";
import { turnEventLoop } from "../support/event-loop.ts";
import { startTestGateway } from "../support/gateway/gateway.ts";
import { createTestClock } from "../support/test-clock.ts";
import { startVendor } from "../support/vendors/vendor.ts";

const IMAGE = { type: "image_generation.completed", b64_json: "aGk=" };

test("the second of two streamed images arrives and is charged, though the provider is silent for half a minute before it", async () => {
  const vendor = startVendor(async (call) => {
    await call.begin();
    await call.events(IMAGE);
    await call.gate();
    await call.events(IMAGE);
    await call.end();
  });
  const clock = createTestClock();
  const gateway = await startTestGateway({
    clock,
    yaml: `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models: [{id: acme/draw, name: up, output: image, prices: {prompt: "0", completion: "0", generated_image: "0.04"}}]
`,
  });
  try {
    const asked = fetch(`${gateway.url}/v1/images/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/draw", prompt: "A boat.", n: 2, stream: true }),
    });
    const call = await vendor.call(0);
    await call.atGate;
    for (let second = 0; second < 30; second++) {
      clock.advance(1_000);
      await turnEventLoop(2);
    }
    call.openGate();
    const text = await (await asked).text();
    expect(text.match(/image_generation\.completed/g)).toHaveLength(2);
    expect(text).toContain('"cost":0.08');
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
